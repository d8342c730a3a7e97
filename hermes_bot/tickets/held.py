"""Replies that may not be said yet, or not at all: a person has the ticket, or is about to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from hermes_bot.messages.payloads import Audience
from hermes_bot.store.database import Database
from hermes_bot.store.tables import held_replies
from hermes_bot.tickets.rows import number_of

NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A reply that waits: the data of its `reply.ready`."""

    message_id: str
    reply: Mapping[str, Any]


class HeldReplies:
    """Replies by the ticket they wait in. Every method is one transaction and may be repeated."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def keep(self, message_id: str, ticket_id: str, reply: Mapping[str, Any]) -> None:
        """Keep a reply instead of posting it."""
        number = number_of(ticket_id)

        def work(connection: Connection) -> None:
            known = select(held_replies.c.message_id).where(held_replies.c.message_id == message_id)
            if connection.execute(known).first() is None:
                row = {"message_id": message_id, "ticket_number": number, "reply": dict(reply), "released_by": ""}
                connection.execute(insert(held_replies).values(**row, at=self._clock()))

        await self._database.run(work)

    async def release(self, ticket_id: str, by: str) -> Sequence[Held]:
        """Return what waits in the ticket, once: nobody else gets it; a repeat of the message `by` gets it again."""
        ours = held_replies.c.ticket_number == number_of(ticket_id)

        def work(connection: Connection) -> list[Held]:
            waiting = update(held_replies).where(ours, held_replies.c.released_by == "")
            connection.execute(waiting.values(released_by=by))
            mine = select(held_replies).where(ours, held_replies.c.released_by == by).order_by(held_replies.c.at)
            return [Held(message_id=row.message_id, reply=row.reply) for row in connection.execute(mine)]

        return await self._database.run(work)

    async def drop(self, ticket_id: str) -> None:
        """Let nothing of what waits in the ticket be said any more."""
        ours = held_replies.c.ticket_number == number_of(ticket_id)
        statement = update(held_replies).where(ours, held_replies.c.released_by == "").values(released_by=NEVER)
        await self._database.run(lambda connection: connection.execute(statement))

    async def latest(self, ticket_id: str) -> Held | None:
        """Return the last reply that was not said and that staff may read; None where there is none.

        What was for the customer alone stays with them.
        """
        unsaid = held_replies.c.released_by.in_(["", NEVER])
        wanted = select(held_replies).where(held_replies.c.ticket_number == number_of(ticket_id), unsaid)

        def work(connection: Connection) -> Held | None:
            rows = connection.execute(wanted.order_by(held_replies.c.at.desc())).all()
            shown = (row for row in rows if row.reply.get("audience", Audience.THREAD) == Audience.THREAD)
            return next((Held(message_id=row.message_id, reply=row.reply) for row in shown), None)

        return await self._database.run(work)
