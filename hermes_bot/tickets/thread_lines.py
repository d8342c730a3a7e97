"""What stood in a thread before a ticket began there: kept once with the ticket, and changed as it changes in Slack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from hermes_bot.store.tables import thread_lines, tickets
from hermes_bot.tickets.rows import number_of
from hermes_bot.tickets.thread import ThreadLine, Writer
from hermes_bot.tickets.tickets import Tickets

LONGEST_EDIT = 2_000  # about what the first reading leaves of a line


class ThreadLines:
    """The lines in the store. Every method is one transaction and may be repeated."""

    def __init__(self, tickets: Tickets) -> None:
        self._database = tickets.database

    @classmethod
    def of(cls, tickets: Tickets) -> ThreadLines:
        """Return the lines of these tickets."""
        return cls(tickets)

    async def all(self, ticket_id: str) -> Sequence[ThreadLine]:
        """Return the lines of the ticket's thread from before it, the parent first, then oldest first."""
        number = number_of(ticket_id)
        return await self._database.run(lambda connection: _lines(connection, number))

    async def keep(self, ticket_id: str, lines: Sequence[ThreadLine]) -> Sequence[ThreadLine]:
        """Keep the lines, unless some are kept already; return those that are kept."""
        number = number_of(ticket_id)

        def work(connection: Connection) -> Sequence[ThreadLine]:
            known = _lines(connection, number)
            if known or not lines:
                return known
            rows = {line.ts: _row(number, line) for line in lines}
            connection.execute(insert(thread_lines), list(rows.values()))
            return _lines(connection, number)

        return await self._database.run(work)

    async def edit(self, team: str, channel: str, ts: str, text: str) -> Sequence[str]:
        """Put new words in place of the old, no words take the line away; return the ids of the tickets that show them.

        Of many words the first are kept.
        """
        return await self._changed(team, channel, ts, text[:LONGEST_EDIT])

    async def delete(self, team: str, channel: str, ts: str) -> Sequence[str]:
        """Take a line away; return the ids of the tickets that showed it."""
        return await self._changed(team, channel, ts, "")

    async def _changed(self, team: str, channel: str, ts: str, text: str) -> Sequence[str]:
        if not ts:
            return []
        there = select(tickets.c.number).where(tickets.c.team == team, tickets.c.channel == channel)
        mine = thread_lines.c.ts == ts, thread_lines.c.ticket_number.in_(there)

        def work(connection: Connection) -> Sequence[str]:
            numbers = sorted(connection.scalars(select(thread_lines.c.ticket_number).where(*mine)))
            here = thread_lines.c.ts == ts, thread_lines.c.ticket_number.in_(numbers)
            if numbers and text:
                connection.execute(update(thread_lines).where(*here).values(text=text))
            elif numbers:
                connection.execute(delete(thread_lines).where(*here))
            return [f"T-{number}" for number in numbers]

        return await self._database.run(work)


def _lines(connection: Connection, number: int) -> list[ThreadLine]:
    mine = select(thread_lines).where(thread_lines.c.ticket_number == number)
    rows = connection.execute(mine.order_by(thread_lines.c.root.desc(), thread_lines.c.ts))
    return [
        ThreadLine(ts=row.ts, user=row.user, writer=Writer(row.writer), text=row.text, root=row.root) for row in rows
    ]


def _row(number: int, line: ThreadLine) -> dict[str, Any]:
    return {
        "ticket_number": number,
        "ts": line.ts,
        "user": line.user,
        "writer": line.writer.value,
        "root": line.root,
        "text": line.text,
    }
