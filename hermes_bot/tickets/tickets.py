"""Keeps tickets: finds or opens the one that a message belongs to, and changes its state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from hermes_bot.errors import PermanentError
from hermes_bot.messages.payloads import Inbound
from hermes_bot.store.database import Database
from hermes_bot.store.numbers import number_in
from hermes_bot.store.tables import ticket_messages, tickets
from hermes_bot.tickets.ticket import Owner, Ticket, TicketStatus

SUBJECT_CHARACTERS = 200
SUMMARY_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """The ticket that a message belongs to, and whether this message opened it."""

    ticket: Ticket
    opened: bool


class Tickets:
    """Tickets in the store. Every method is one transaction and may be repeated."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime], continue_window_s: float) -> None:
        self._database = database
        self._clock = clock
        self._window = timedelta(seconds=continue_window_s)

    async def locate(self, inbound: Inbound, *, context_id: str, message_id: str, language: str) -> Located:
        """Return the requester's own ticket in this conversation, opened if there is none.

        A repeat for the same `message_id` gives the same answer. An unthreaded direct message continues the
        latest ticket there within the continue window; a thread holds one ticket for each person who writes in it.
        """

        def work(connection: Connection) -> Located:
            known = connection.execute(
                select(ticket_messages).where(ticket_messages.c.message_id == message_id)
            ).first()
            if known is not None:
                return Located(ticket=_by_number(connection, known.ticket_number), opened=known.opened)
            now = self._clock()
            number = self._continued(connection, inbound, context_id, now)
            opened = number is None
            if number is None:
                number = _open(connection, inbound, context_id, message_id, language, now)
            else:
                connection.execute(update(tickets).where(tickets.c.number == number).values(updated_at=now))
            connection.execute(
                insert(ticket_messages).values(message_id=message_id, ticket_number=number, opened=opened, at=now)
            )
            return Located(ticket=_by_number(connection, number), opened=opened)

        return await self._database.run(work)

    def _continued(self, connection: Connection, inbound: Inbound, context_id: str, now: datetime) -> int | None:
        wanted = (
            select(tickets.c.number)
            .where(tickets.c.context_id == context_id, tickets.c.requester == inbound.user)
            .order_by(tickets.c.number.desc())
            .limit(1)
        )
        if inbound.channel_type == "im" and not inbound.thread_ts:
            wanted = wanted.where(
                tickets.c.updated_at >= now - self._window, tickets.c.status != TicketStatus.CLOSED.value
            )
        number: int | None = connection.execute(wanted).scalar()
        return number

    async def get(self, ticket_id: str) -> Ticket:
        """Return the ticket; raise PermanentError for an unknown id."""
        number = number_of(ticket_id)
        return await self._database.run(lambda connection: _by_number(connection, number))

    async def requesters(self, context_id: str) -> frozenset[str]:
        """Return the users who have a ticket in this conversation."""
        wanted = select(tickets.c.requester).where(tickets.c.context_id == context_id).distinct()
        return await self._database.run(lambda connection: frozenset(connection.scalars(wanted)))

    async def newest(self, context_id: str, *, but_not_of: str) -> Ticket | None:
        """Return the newest ticket in this conversation that is not this user's own; None where there is none."""
        wanted = (
            select(tickets)
            .where(tickets.c.context_id == context_id, tickets.c.requester != but_not_of)
            .order_by(tickets.c.number.desc())
            .limit(1)
        )
        row = await self._database.run(lambda connection: connection.execute(wanted).first())
        return None if row is None else _ticket(row)

    async def listing(self, *, limit: int = 50) -> Sequence[Ticket]:
        """Return the newest tickets first."""
        wanted = select(tickets).order_by(tickets.c.number.desc()).limit(limit)
        return await self._database.run(lambda connection: [_ticket(row) for row in connection.execute(wanted)])

    async def message_ids(self, ticket_id: str) -> Sequence[str]:
        """Return the ids of the customer's messages that belong to the ticket, oldest first."""
        ours = ticket_messages.c.ticket_number == number_of(ticket_id)
        wanted = select(ticket_messages.c.message_id).where(ours).order_by(ticket_messages.c.at)
        return await self._database.run(lambda connection: list(connection.scalars(wanted)))

    async def update(
        self,
        ticket_id: str,
        *,
        route: str | None = None,
        agent: str | None = None,
        why: str | None = None,
        status: TicketStatus | None = None,
        language: str | None = None,
    ) -> Ticket:
        """Set what is given and return the ticket."""
        given = {"route": route, "agent": agent, "why": why, "status": status and status.value, "language": language}
        return await self._change(ticket_id, {key: value for key, value in given.items() if value is not None})

    async def hand_to_human(self, ticket_id: str, *, reason: str, summary: str) -> Ticket:
        """Return the ticket, waiting for a person; one that already does, or has one, stays as it is."""
        return await self._change(
            ticket_id,
            {
                "owner": Owner.PENDING_HUMAN.value,
                "status": TicketStatus.WITH_HUMAN.value,
                "handoff_round": tickets.c.handoff_round + 1,
                "handoff_reason": reason,
                "handoff_summary": summary[:SUMMARY_CHARACTERS],
            },
            only_when=Owner.BOT,
        )

    async def claim(self, ticket_id: str, *, user: str, message_id: str) -> Ticket:
        """Return the ticket after the claim. The first claim of a waiting ticket wins: see `ownership_message_id`."""
        claimed = {"owner": Owner.HUMAN.value, "assignee": user, "ownership_message_id": message_id}
        return await self._change(ticket_id, claimed, only_when=Owner.PENDING_HUMAN)

    async def give_back(self, ticket_id: str, *, message_id: str) -> Ticket:
        """Return the ticket, owned by the bot again if a person owned it: see `ownership_message_id`."""
        returned = {"owner": Owner.BOT.value, "status": TicketStatus.WORKING.value, "assignee": ""}
        return await self._change(ticket_id, {**returned, "ownership_message_id": message_id}, only_when=Owner.HUMAN)

    async def _change(self, ticket_id: str, values: dict[str, Any], *, only_when: Owner | None = None) -> Ticket:
        number = number_of(ticket_id)
        statement = update(tickets).where(tickets.c.number == number).values(**values, updated_at=self._clock())
        if only_when is not None:
            statement = statement.where(tickets.c.owner == only_when.value)

        def work(connection: Connection) -> Ticket:
            connection.execute(statement)
            return _by_number(connection, number)

        return await self._database.run(work)


def number_of(ticket_id: str) -> int:
    """Return the number in `T-123`; raise PermanentError where there is none."""
    number = number_in(ticket_id, "T")
    if number is None:
        raise PermanentError(f"{ticket_id!r} is not a ticket id")
    return number


def _open(
    connection: Connection, inbound: Inbound, context_id: str, message_id: str, language: str, now: datetime
) -> int:
    thread_ts = inbound.thread_ts or ("" if inbound.channel_type == "im" else inbound.ts)
    row = insert(tickets).values(
        opened_by=message_id,
        context_id=context_id,
        team=inbound.team,
        channel=inbound.channel,
        channel_type=inbound.channel_type,
        thread_ts=thread_ts,
        requester=inbound.user,
        language=language,
        subject=inbound.text[:SUBJECT_CHARACTERS],
        status=TicketStatus.NEW.value,
        owner=Owner.BOT.value,
        opened_at=now,
        updated_at=now,
    )
    number: int = connection.execute(row.returning(tickets.c.number)).scalar_one()
    return number


def _by_number(connection: Connection, number: int) -> Ticket:
    row = connection.execute(select(tickets).where(tickets.c.number == number)).first()
    if row is None:
        raise PermanentError(f"there is no ticket T-{number}")
    return _ticket(row)


def _ticket(row: Row[Any]) -> Ticket:
    columns = dict(row._mapping)
    number, _ = columns.pop("number"), columns.pop("opened_by")
    return Ticket(**columns | {"id": f"T-{number}", "status": TicketStatus(row.status), "owner": Owner(row.owner)})
