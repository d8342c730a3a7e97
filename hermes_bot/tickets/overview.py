"""Looks over many tickets: a person's own, and those that wait for people."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select

from hermes_bot.store.database import Database
from hermes_bot.store.tables import ticket_messages, tickets
from hermes_bot.tickets.rows import number_of, ticket_of
from hermes_bot.tickets.ticket import Owner, Ticket, TicketStatus

ENDED = tuple(status.value for status in TicketStatus if status.ended)


class Overview:
    """Reads alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def own(self, team: str, user: str, *, limit: int = 10) -> Sequence[Ticket]:
        """Return the person's tickets, open ones first, then the newest first."""
        mine = tickets.c.team == team, tickets.c.requester == user
        order = (tickets.c.status.in_(ENDED), tickets.c.number.desc())
        wanted = select(tickets).where(*mine).order_by(*order).limit(limit)
        return await self._database.run(lambda connection: [ticket_of(row) for row in connection.execute(wanted)])

    async def waiting(self, *, limit: int = 10) -> Sequence[Ticket]:
        """Return the tickets that wait for a person, the longest first."""
        wanted = select(tickets).where(tickets.c.owner == Owner.PENDING_HUMAN.value)
        wanted = wanted.order_by(tickets.c.updated_at, tickets.c.number).limit(limit)
        return await self._database.run(lambda connection: [ticket_of(row) for row in connection.execute(wanted)])

    async def count_open(self, team: str = "", user: str = "") -> int:
        """Return how many tickets have not ended, of one person or of all."""
        wanted = select(func.count()).select_from(tickets).where(tickets.c.status.not_in(ENDED))
        if user:
            wanted = wanted.where(tickets.c.team == team, tickets.c.requester == user)
        return await self._database.run(lambda connection: connection.scalar(wanted) or 0)

    async def count_waiting(self) -> int:
        """Return how many tickets wait for a person."""
        wanted = select(func.count()).select_from(tickets).where(tickets.c.owner == Owner.PENDING_HUMAN.value)
        return await self._database.run(lambda connection: connection.scalar(wanted) or 0)

    async def said_at(self, ticket_id: str) -> str:
        """Return the ts of the customer's newest message of the ticket, empty where none is known."""
        ours = ticket_messages.c.ticket_number == number_of(ticket_id)
        wanted = select(ticket_messages.c.ts).where(ours, ticket_messages.c.ts != "")
        newest = wanted.order_by(ticket_messages.c.at.desc(), ticket_messages.c.ts.desc()).limit(1)
        return await self._database.run(lambda connection: str(connection.scalar(newest) or ""))
