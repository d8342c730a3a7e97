"""Whether several processes can share the work as it is set up: said in one sentence before anything is opened."""

from __future__ import annotations

import logging
from collections.abc import Collection

from hermes_bot.errors import SettingsError
from hermes_bot.messages.payloads import EDGE
from hermes_bot.settings import Mode, Settings

logger = logging.getLogger(__name__)


def listens(staffed: Collection[str] | None) -> bool:
    """Return whether a process that runs these agents, None for all, takes what comes from Slack."""
    return staffed is None or EDGE in staffed


def check_shared(settings: Settings, staffed: Collection[str] | None, *, edge: bool) -> None:
    """Raise SettingsError where this process cannot run some of the agents alone."""
    bus = settings.bus
    if staffed is None:
        return
    if bus.backend != "redis":
        raise SettingsError(
            f"bus.backend {bus.backend} belongs to one process, which runs all agents; to run some of them in a worker"
            " set bus.backend to redis and bus.url"
        )
    if edge and settings.mode is Mode.WORKSPACE and not listens(staffed):
        raise SettingsError(
            "a worker looks people up in Slack, so it needs the bot's tokens: set SLACK_BOT_TOKEN and SLACK_APP_TOKEN"
            " (for a local workspace SLACK_API_URL as well)"
        )


def warn_of_store(settings: Settings) -> None:
    """Warn where processes on several machines would not see the same tickets."""
    if settings.bus.backend == "redis" and settings.store_url.startswith("sqlite"):
        logger.warning("the store is a SQLite file: workers on other machines need store.url on PostgreSQL")


def check_staffed(settings: Settings, known: Collection[str], staffed: Collection[str] | None) -> None:
    """Raise SettingsError for the name of an agent that nothing is bound to."""
    unknown = sorted(set(staffed or ()) - set(known))
    if unknown:
        names, choice = ", ".join(unknown), ", ".join(sorted(known))
        raise SettingsError(f"--agents: nothing is bound to {names} in {settings.source}; there are {choice}")
