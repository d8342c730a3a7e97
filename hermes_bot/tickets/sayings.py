"""What customers said, message by message, as it stands in Slack by now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Row, select, update

from hermes_bot.store.tables import ticket_messages, tickets
from hermes_bot.tickets.rows import by_number, change, done_by, number_of, write_down
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.tickets.tickets import SUBJECT_CHARACTERS, Tickets

GONE = "(deleted by the customer)"


class SayingState(StrEnum):
    """What happened to a message after it was written."""

    AS_WRITTEN = ""
    EDITED = "edited"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """One message of the customer's. A deleted one has no text."""

    message_id: str
    ts: str
    text: str
    state: SayingState
    opened: bool
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A customer's message, its ticket, and whether it is the last they wrote there."""

    ticket: Ticket
    saying: Saying
    last: bool


class Sayings:
    """The customers' messages in the store. Every method is one transaction and may be repeated.

    A message that was edited and answered anew has two rows or more, of one `ts`: they are one message, the newest
    row of which counts.
    """

    def __init__(self, tickets: Tickets) -> None:
        self._tickets = tickets
        self._database, self._clock, self._cause = tickets.database, tickets.clock, tickets.cause

    @classmethod
    def of(cls, tickets: Tickets) -> Sayings:
        """Return the sayings of these tickets, on behalf of the same message."""
        return cls(tickets)

    async def all(self, ticket_id: str) -> Sequence[Saying]:
        """Return what the customer said in this ticket and still stands there, oldest first."""
        wanted = _of(number_of(ticket_id)).where(ticket_messages.c.state != SayingState.DELETED.value)
        return await self._database.run(lambda connection: _distinct(connection.execute(wanted).all()))

    async def find(self, team: str, channel: str, ts: str, *, user: str = "") -> Found | None:
        """Return the message that stands there; None where it belongs to no ticket, or to another person."""
        if not ts:
            return None
        wanted = (
            select(ticket_messages, tickets.c.requester)
            .join(tickets, tickets.c.number == ticket_messages.c.ticket_number)
            .where(ticket_messages.c.ts == ts, tickets.c.team == team, tickets.c.channel == channel)
            .order_by(ticket_messages.c.at, ticket_messages.c.message_id)
        )

        def work(connection: Connection) -> Found | None:
            rows = [row for row in connection.execute(wanted).all() if not user or row.requester == user]
            if not rows:
                return None
            saying = _distinct(rows)[-1]
            last = connection.execute(_of(rows[-1].ticket_number)).all()[-1]
            return Found(ticket=by_number(connection, last.ticket_number), saying=saying, last=last.ts == saying.ts)

        return await self._database.run(work)

    async def last_of(self, ticket_id: str) -> Found | None:
        """Return the last message that the ticket's customer wrote, in whatever ticket, and still stands there."""
        number = number_of(ticket_id)
        person = select(tickets.c.team, tickets.c.requester).where(tickets.c.number == number)
        wanted = (
            select(ticket_messages)
            .join(tickets, tickets.c.number == ticket_messages.c.ticket_number)
            .where(ticket_messages.c.state != SayingState.DELETED.value)
            .order_by(ticket_messages.c.at.desc(), ticket_messages.c.message_id.desc())
            .limit(1)
        )

        def work(connection: Connection) -> Found | None:
            who = connection.execute(person).first()
            if who is None:
                return None
            row = connection.execute(
                wanted.where(tickets.c.team == who.team, tickets.c.requester == who.requester)
            ).first()
            if row is None:
                return None
            saying = _saying(row, opened=row.opened)
            return Found(ticket=by_number(connection, row.ticket_number), saying=saying, last=True)

        return await self._database.run(work)

    async def edit(self, found: Found, text: str) -> Ticket:
        """Put the new words in place of the old ones, also in the subject; return the ticket."""
        return await self._rewrite(found, text, SayingState.EDITED)

    async def delete(self, found: Found) -> Ticket:
        """Take the words away wherever they are kept or shown; return the ticket."""
        return await self._rewrite(found, "", SayingState.DELETED)

    async def _rewrite(self, found: Found, text: str, state: SayingState) -> Ticket:
        number, saying = number_of(found.ticket.id), found.saying
        self._tickets.touched = True

        def work(connection: Connection) -> Ticket:
            if not done_by(connection, number, self._cause, state.value):
                write_down(connection, number, [(state.value, "", _named(saying))], self._cause, self._clock())
            mine = ticket_messages.c.ticket_number == number, ticket_messages.c.ts == saying.ts
            connection.execute(update(ticket_messages).where(*mine).values(text=text, state=state.value))
            return change(connection, number, _values(found, text, state), self._cause, self._clock()).ticket

        return await self._database.run(work)


def _named(saying: Saying) -> str:
    """Return which message it was, without its words: the journal must not keep what the customer took back."""
    return "the first message" if saying.opened else f"message {saying.ts}"


def _values(found: Found, text: str, state: SayingState) -> dict[str, Any]:
    """Return what of the ticket shows the old words, with the new ones."""
    ticket, old = found.ticket, " ".join(found.saying.text.split())
    gone = state is SayingState.DELETED
    values: dict[str, Any] = {"card_due": True}
    if found.saying.opened:
        values |= {"subject": text[:SUBJECT_CHARACTERS]} | ({"source_deleted": True} if gone else {})
    if gone and old:
        summary = ticket.handoff_summary
        for quoted in (found.saying.text, old, old[:500], old[:SUBJECT_CHARACTERS]):
            summary = summary.replace(quoted, GONE) if quoted else summary
        values["handoff_summary"] = summary
    return values


def _of(number: int) -> Any:
    ours = ticket_messages.c.ticket_number == number
    return select(ticket_messages).where(ours).order_by(ticket_messages.c.at, ticket_messages.c.ts)


def _distinct(rows: Sequence[Row[Any]]) -> list[Saying]:
    """Return each message once, of rows that are the oldest first."""
    found: dict[str, Saying] = {}
    for row in rows:
        key = row.ts or row.message_id  # without a ts there is nothing that could be edited
        before = found.pop(key, None)
        found[key] = _saying(row, opened=row.opened or (before is not None and before.opened))
    return list(found.values())


def _saying(row: Row[Any], *, opened: bool) -> Saying:
    return Saying(
        message_id=row.message_id,
        ts=row.ts,
        text=row.text,
        state=SayingState(row.state),
        opened=opened,
        at=row.at,
    )
