"""What stood in a thread before a ticket began there, for the staff's card: the parent and the last lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hermes_bot.edge.text import escape
from hermes_bot.edge.views.words import name_of, one_line
from hermes_bot.tickets.thread import ThreadLine, Writer

BEFORE = "In the thread before:"
PROGRAM, HERMES = "a program", "Hermes"
SHOWN_LINES = 6
LINE_CHARACTERS = 180
PARENT_CHARACTERS = 300


def shown_lines(thread: Sequence[ThreadLine]) -> list[ThreadLine]:
    """Return the parent and the last lines, as many as a card has room for."""
    parent = [line for line in thread if line.root]
    return [*parent, *[line for line in thread if not line.root][-SHOWN_LINES:]]


def writers(thread: Sequence[ThreadLine]) -> list[str]:
    """Return the people whose names are shown."""
    return [line.user for line in thread if line.writer in (Writer.CUSTOMER, Writer.PERSON)]


def thread_before(thread: Sequence[ThreadLine], names: Mapping[str, str]) -> str:
    """Return the lines, escaped, each on one line so that none can look like two; empty where there are none."""
    told = [f"{_who(line, names)}: {one_line(line.text, _limit(line))}" for line in thread]
    return "\n".join([BEFORE, *told]) if told else ""


def _limit(line: ThreadLine) -> int:
    return PARENT_CHARACTERS if line.root else LINE_CHARACTERS


def _who(line: ThreadLine, names: Mapping[str, str]) -> str:
    if line.writer is Writer.HERMES:
        return HERMES
    if line.writer is Writer.PROGRAM:
        return PROGRAM
    return name_of(line.user, names) if names.get(line.user) else escape(line.user)
