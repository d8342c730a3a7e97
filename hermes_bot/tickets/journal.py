"""A ticket's journal: every change, who made it and when, and what people noted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from hermes_bot.store.tables import ticket_journal
from hermes_bot.tickets.rows import by_number, done_by, number_of, write_down
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.tickets.tickets import Tickets


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One change: `what` was `was` and is `now`. `by` is a user, or an agent by its name."""

    at: datetime
    by: str
    what: str
    was: str
    now: str
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """What the handling of one message changed in one ticket."""

    ticket: Ticket
    entries: tuple[Entry, ...]


class TicketJournal:
    """The journal in the store; nothing in it is ever changed."""

    def __init__(self, tickets: Tickets) -> None:
        self._tickets = tickets
        self._database, self._clock, self._cause = tickets.database, tickets.clock, tickets.cause

    @classmethod
    def of(cls, tickets: Tickets) -> TicketJournal:
        """Return the journal of these tickets, on behalf of the same message."""
        return cls(tickets)

    async def history(self, ticket_id: str) -> Sequence[Entry]:
        """Return everything that happened to the ticket, oldest first; raise PermanentError for an unknown id."""
        number = number_of(ticket_id)
        wanted = (
            select(ticket_journal).where(ticket_journal.c.ticket_number == number).order_by(ticket_journal.c.number)
        )

        def work(connection: Connection) -> list[Entry]:
            by_number(connection, number)
            return [_entry(row) for row in connection.execute(wanted)]

        return await self._database.run(work)

    async def note(self, ticket_id: str, what: str, text: str) -> None:
        """Write down what was noted; once for a message."""
        number = number_of(ticket_id)
        self._tickets.touched = True

        def work(connection: Connection) -> None:
            if not done_by(connection, number, self._cause, what):
                write_down(connection, number, [(what, "", text)], self._cause, self._clock())

        await self._database.run(work)

    async def doings(self) -> Sequence[Doing]:
        """Return what the handling of the message has changed, by ticket."""
        if not self._cause.message_id:
            return []
        mine = ticket_journal.c.message_id == self._cause.message_id
        wanted = select(ticket_journal).where(mine).order_by(ticket_journal.c.number)

        def work(connection: Connection) -> list[Doing]:
            entries: dict[int, list[Entry]] = {}
            for row in connection.execute(wanted):
                entries.setdefault(row.ticket_number, []).append(_entry(row))
            return [
                Doing(ticket=by_number(connection, number), entries=tuple(found))
                for number, found in sorted(entries.items())
            ]

        return await self._database.run(work)


def _entry(row: object) -> Entry:
    return Entry(**{name: getattr(row, name) for name in Entry.__dataclass_fields__})
