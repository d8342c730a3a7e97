"""What the user decides: `configs/hermes.yaml`, the environment and `.env`, checked and frozen."""

from hermes_bot.settings.agent_limits import AgentLimits
from hermes_bot.settings.loader import load
from hermes_bot.settings.models import Mode, Settings, SlackAccess

__all__ = ["AgentLimits", "Mode", "Settings", "SlackAccess", "load"]
