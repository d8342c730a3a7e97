"""The thread that a ticket began in: what stood there before the bot was called, and the port that reads it.

It is context and nothing else. What the ticket's own customer said there counts as their words; what anybody else said
opens nothing, asks for nothing, and is shown to people and models as what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from hermes_bot.messages.payloads import Inbound

FILE = "[file: "
"""Begins a line of a text that names a file."""


class Writer(StrEnum):
    """Who wrote a line, seen from the ticket."""

    CUSTOMER = "customer"  # the one whose ticket it is
    PERSON = "person"  # anybody else
    PROGRAM = "program"  # another bot, a webhook
    HERMES = "hermes"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadLine:
    """One message of the thread, decoded and cut. `root`: it is the thread's parent."""

    ts: str
    user: str
    writer: Writer
    text: str
    root: bool = False

    @property
    def own(self) -> bool:
        """Whether the ticket's customer said it."""
        return self.writer is Writer.CUSTOMER

    @property
    def words(self) -> str:
        """The text without the files' names."""
        return "\n".join(line for line in self.text.splitlines() if not line.startswith(FILE))


class ThreadReader(Protocol):
    """Reads threads in Slack; the edge implements it."""

    async def before(self, inbound: Inbound) -> Sequence[ThreadLine]:
        """Return the parent and the last replies before this one, oldest first.

        Nothing where the thread cannot be read just now: the answer does not wait for it.
        """
        ...
