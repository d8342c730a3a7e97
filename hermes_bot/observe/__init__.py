"""What Hermes tells about itself: log records with the same keys everywhere, redacted, for people and for machines."""

from hermes_bot.observe.context import bound
from hermes_bot.observe.hops import log_hop
from hermes_bot.observe.logs import configure, log_file
from hermes_bot.observe.redact import Redactor

__all__ = ["Redactor", "bound", "configure", "log_file", "log_hop"]
