"""Which tickets' cards show an older state: the durable list that the edge works off at the pace that Slack allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import case, select, update

from hermes_bot.store.database import Database
from hermes_bot.store.tables import tickets
from hermes_bot.tickets.rows import number_of
from hermes_bot.tickets.ticket import Owner


@dataclass(frozen=True, slots=True, kw_only=True)
class CardDue:
    """A ticket whose card is to be drawn, its conversation, and the version that it has by now."""

    ticket_id: str
    context_id: str
    version: int


class CardsDue:
    """Tickets that changed since their card was drawn, however often: so that a card is drawn once for many changes.

    Without `every`, tickets that people were never wanted for have no card.
    """

    def __init__(self, database: Database, *, every: bool = True) -> None:
        self._database = database
        self._every = every

    async def due(self, limit: int) -> Sequence[CardDue]:
        """Return those that people have or wait for first, then the others, the longest known first."""
        wanted = select(tickets.c.number, tickets.c.context_id, tickets.c.version).where(tickets.c.card_due)
        if not self._every:
            wanted = wanted.where((tickets.c.handoff_round > 0) | (tickets.c.owner != Owner.BOT.value))
        with_bot = case((tickets.c.owner == Owner.BOT.value, 1), else_=0)
        ordered = wanted.order_by(with_bot, tickets.c.number).limit(limit)
        rows = await self._database.run(lambda connection: connection.execute(ordered).all())
        return [CardDue(ticket_id=f"T-{row.number}", context_id=row.context_id, version=row.version) for row in rows]

    async def drawn(self, ticket_id: str, version: int) -> None:
        """Take the ticket off the list, unless it has changed meanwhile."""
        mine = (tickets.c.number == number_of(ticket_id), tickets.c.version == version)
        statement = update(tickets).where(*mine).values(card_due=False)
        await self._database.run(lambda connection: connection.execute(statement))
