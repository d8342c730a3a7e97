"""Tickets in the store: found or opened for a message, read, and moved along."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, and_, func, insert, or_, select, update

from hermes_bot.messages.payloads import Inbound
from hermes_bot.store.database import Database
from hermes_bot.store.tables import ticket_messages, tickets
from hermes_bot.tickets.rows import Cause, Moved, by_number, change, done_by, number_of, ticket_of, write_down
from hermes_bot.tickets.ticket import Owner, Priority, Ticket, TicketStatus

SUBJECT_CHARACTERS = 200
SUMMARY_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """The ticket that a message belongs to, and whether this message opened it."""

    ticket: Ticket
    opened: bool


class Tickets:
    """Tickets in the store. Every method is one transaction and may be repeated.

    `on_behalf` returns the same tickets for the handling of one message: what changes is then written down as this
    message's doing, and a repeat of the message finds that out.
    """

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], datetime],
        continue_window_s: float,
        merge_window_s: float = 0.0,
        cause: Cause | None = None,
    ) -> None:
        self.database = database
        self.clock = clock
        self.cause = cause or Cause()
        self.touched = False
        self._windows = (continue_window_s, merge_window_s)

    @property
    def merge_window_s(self) -> float:
        """How long a message waits for the next one; 0 where each is answered on its own."""
        return self._windows[1]

    def on_behalf(self, message_id: str, by: str) -> Tickets:
        """Return these tickets for the handling of one message; `touched` says then whether it changed any."""
        continue_s, merge_s = self._windows
        return Tickets(
            self.database,
            clock=self.clock,
            continue_window_s=continue_s,
            merge_window_s=merge_s,
            cause=Cause(message_id=message_id, by=by),
        )

    async def locate(self, inbound: Inbound, *, context_id: str, message_id: str, language: str) -> Located:
        """Return the requester's own ticket in this conversation, opened if there is none.

        A repeat for the same `message_id` gives the same answer. An unthreaded direct message continues the
        latest ticket there within the continue window; a thread holds one ticket for each person who writes in it;
        and where quick messages are merged, one in a channel joins the ticket of the one just before it.
        """

        def work(connection: Connection) -> Located:
            known = connection.execute(
                select(ticket_messages).where(ticket_messages.c.message_id == message_id)
            ).first()
            if known is not None:
                return Located(ticket=by_number(connection, known.ticket_number), opened=known.opened)
            now = self.clock()
            number = self._continued(connection, inbound, context_id, now)
            opened = number is None
            if number is None:
                number = _open(connection, inbound, context_id, message_id, language, now)
            else:
                further = {"updated_at": now, "turn": tickets.c.turn + 1}
                connection.execute(update(tickets).where(tickets.c.number == number).values(**further))
            said = {"message_id": message_id, "ticket_number": number, "opened": opened, "at": now}
            connection.execute(insert(ticket_messages).values(**said, ts=inbound.ts, text=_words_of(inbound), state=""))
            return Located(ticket=by_number(connection, number), opened=opened)

        self.touched = True
        return await self.database.run(work)

    def _continued(self, connection: Connection, inbound: Inbound, context_id: str, now: datetime) -> int | None:
        continue_s, merge_s = self._windows
        theirs = select(tickets.c.number).where(tickets.c.team == inbound.team, tickets.c.requester == inbound.user)
        latest = theirs.order_by(tickets.c.number.desc()).limit(1)
        wanted = latest.where(tickets.c.context_id == context_id)
        if inbound.channel_type == "im" and not inbound.thread_ts:
            recent = tickets.c.updated_at >= now - timedelta(seconds=continue_s)
            wanted = wanted.where(recent, tickets.c.status != TicketStatus.CLOSED.value)
        number: int | None = connection.execute(wanted).scalar()
        if number is not None or not merge_s or inbound.channel_type == "im":
            return number
        said = latest.where(tickets.c.channel == inbound.channel, tickets.c.number == ticket_messages.c.ticket_number)
        if inbound.thread_ts:  # the thread of a message that was merged into a ticket
            said = said.where(ticket_messages.c.ts == inbound.thread_ts)
        else:
            still_open = tickets.c.status.not_in([status.value for status in TicketStatus if status.ended])
            said = said.where(ticket_messages.c.at >= now - timedelta(seconds=merge_s), still_open)
        merged: int | None = connection.execute(said).scalar()
        return merged

    async def told_in(self, inbound: Inbound, *, but_not_by: str = "") -> str:
        """Return the ticket that these words of a person's belong to, as another message told; empty for none."""
        theirs = (
            tickets.c.team == inbound.team,
            tickets.c.channel == inbound.channel,
            tickets.c.requester == inbound.user,
        )
        said = ticket_messages.c.ts == inbound.ts, ticket_messages.c.message_id != but_not_by
        wanted = select(tickets.c.number).where(tickets.c.number == ticket_messages.c.ticket_number, *theirs, *said)
        number = await self.database.run(lambda connection: connection.scalar(wanted.limit(1)))
        return "" if number is None else f"T-{number}"

    async def get(self, ticket_id: str) -> Ticket:
        """Return the ticket; raise PermanentError for an unknown id."""
        number = number_of(ticket_id)
        return await self.database.run(lambda connection: by_number(connection, number))

    async def requesters(self, context_id: str) -> frozenset[str]:
        """Return the users who have a ticket in this conversation."""
        wanted = select(tickets.c.requester).where(tickets.c.context_id == context_id).distinct()
        return await self.database.run(lambda connection: frozenset(connection.scalars(wanted)))

    async def newest(self, context_id: str, *, but_not_of: str) -> Ticket | None:
        """Return the newest ticket in this conversation that is not this user's own; None where there is none."""
        found = await self.in_conversation(context_id, but_not_of=but_not_of)
        return found[0] if found else None

    async def in_conversation(self, context_id: str, *, but_not_of: str = "") -> Sequence[Ticket]:
        """Return the tickets in this conversation that are not this user's own, newest first."""
        wanted = (
            select(tickets)
            .where(tickets.c.context_id == context_id, tickets.c.requester != but_not_of)
            .order_by(tickets.c.number.desc())
        )
        return await self.database.run(lambda connection: [ticket_of(row) for row in connection.execute(wanted)])

    async def listing(self, *, limit: int = 50, status: str = "") -> Sequence[Ticket]:
        """Return the newest tickets first; with a status only those."""
        wanted = select(tickets).order_by(tickets.c.number.desc()).limit(limit)
        wanted = wanted.where(tickets.c.status == status) if status else wanted
        return await self.database.run(lambda connection: [ticket_of(row) for row in connection.execute(wanted)])

    async def solved_before(self, before: datetime, *, limit: int) -> Sequence[str]:
        """Return the ids of tickets that were solved and that nothing happened to since then, oldest first."""
        old = (tickets.c.status == TicketStatus.SOLVED.value, tickets.c.updated_at <= before)
        wanted = select(tickets.c.number).where(*old).order_by(tickets.c.number).limit(limit)
        return await self.database.run(lambda connection: [f"T-{number}" for number in connection.scalars(wanted)])

    async def ratings(self) -> Mapping[str, int]:
        """Return how many tickets were rated `up` and `down`."""
        wanted = select(tickets.c.rating, func.count()).where(tickets.c.rating != "").group_by(tickets.c.rating)
        rows = await self.database.run(lambda connection: connection.execute(wanted).all())
        return {"up": 0, "down": 0} | {str(rating): int(count) for rating, count in rows}

    async def place_in_window(self, message_id: str, team: str, user: str, *, window_s: float) -> int:
        """Return the message's place among those that the person wrote up to then within so many seconds, from 1."""
        said, own = ticket_messages.c, (tickets.c.team == team, tickets.c.requester == user)

        def work(connection: Connection) -> int:
            at = connection.scalar(select(said.at).where(said.message_id == message_id))
            if at is None:
                return 0
            before = or_(said.at < at, and_(said.at == at, said.message_id <= message_id))
            there = select(func.count()).select_from(ticket_messages).where(said.at > at - timedelta(seconds=window_s))
            mine = there.where(before, said.ticket_number.in_(select(tickets.c.number).where(*own)))
            return connection.scalar(mine) or 0

        return await self.database.run(work)

    async def message_ids(self, ticket_id: str) -> Sequence[str]:
        """Return the ids of the customer's messages that belong to the ticket, oldest first."""
        ours = ticket_messages.c.ticket_number == number_of(ticket_id)
        wanted = select(ticket_messages.c.message_id).where(ours).order_by(ticket_messages.c.at)
        return await self.database.run(lambda connection: list(connection.scalars(wanted)))

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
        """Set what is given and return the ticket: how an agent reports what it is at.

        The status stays as it is where it may not change so, and while people own the ticket.
        """
        given = {"route": route, "agent": agent, "why": why, "status": status and status.value, "language": language}
        values = {key: value for key, value in given.items() if value is not None}
        return (await self.change(ticket_id, values, lenient=True)).ticket

    async def hand_to_human(self, ticket_id: str, *, reason: str, summary: str) -> Ticket:
        """Return the ticket, waiting for a person; one that already does, or has one, stays as it is."""
        number = number_of(ticket_id)

        def work(connection: Connection) -> Ticket:
            ticket = by_number(connection, number)
            if ticket.owner is not Owner.BOT:
                return ticket
            if ticket.status.ended:
                change(connection, number, {"status": TicketStatus.REOPENED.value}, self.cause, self.clock())
            values = {
                "owner": Owner.PENDING_HUMAN.value,
                "status": TicketStatus.WITH_HUMAN.value,
                "handoff_round": ticket.handoff_round + 1,
                "handoff_reason": reason,
                "handoff_summary": summary[:SUMMARY_CHARACTERS],
                "held_by": "",
            }
            with_bot = change(connection, number, values, self.cause, self.clock(), only_when=_with_the_bot)
            return with_bot.ticket

        self.touched = True
        return await self.database.run(work)

    async def claim(self, ticket_id: str, *, user: str, message_id: str) -> Ticket:
        """Return the ticket after the claim. The first claim of a waiting ticket wins: see `ownership_message_id`."""
        return (await self.take(ticket_id, user=user, message_id=message_id, owners=(Owner.PENDING_HUMAN,))).ticket

    async def take(
        self,
        ticket_id: str,
        *,
        user: str,
        message_id: str,
        owners: Sequence[Owner] = (Owner.BOT, Owner.PENDING_HUMAN),
        only_when: Callable[[Ticket], bool] = bool,
    ) -> Moved:
        """Let the person own the ticket, if one of `owners` does so far; an ended one is open again then."""
        number = number_of(ticket_id)
        taken = {
            "owner": Owner.HUMAN.value,
            "status": TicketStatus.WITH_HUMAN.value,
            "assignee": user,
            "ownership_message_id": message_id,
            "held_by": "",
        }

        def may_be_taken(ticket: Ticket) -> bool:
            return ticket.owner in owners and only_when(ticket)

        def work(connection: Connection) -> Moved:
            ticket = by_number(connection, number)
            if ticket.status.ended and may_be_taken(ticket):
                change(connection, number, {"status": TicketStatus.REOPENED.value}, self.cause, self.clock())
            return change(connection, number, taken, self.cause, self.clock(), only_when=may_be_taken)

        self.touched = True
        return await self.database.run(work)

    async def give_back(self, ticket_id: str, *, message_id: str, note: str = "", by: str = "") -> Ticket:
        """Return the ticket, owned by the bot again if a person owned it: see `ownership_message_id`."""
        number = number_of(ticket_id)

        def work(connection: Connection) -> Ticket:
            ended = by_number(connection, number).status.ended
            returned = {"owner": Owner.BOT.value, "assignee": "", "ownership_message_id": message_id}
            returned |= {"handoff_note": note[:SUMMARY_CHARACTERS], "returned_by": by}
            returned |= {} if ended else {"status": TicketStatus.WORKING.value}
            moved = change(connection, number, returned, self.cause, self.clock(), only_when=_with_a_person)
            if moved.won and note and not done_by(connection, number, self.cause, "note"):
                write_down(connection, number, [("note", "", note)], self.cause, self.clock())
            return moved.ticket

        self.touched = True
        return await self.database.run(work)

    async def change(
        self,
        ticket_id: str,
        values: Mapping[str, Any],
        *,
        only_when: Callable[[Ticket], bool] | None = None,
        lenient: bool = False,
    ) -> Moved:
        """Set the values if the ticket is as `only_when` wants it; see `rows.change`."""
        number = number_of(ticket_id)
        self.touched = True
        return await self.database.run(
            lambda connection: change(
                connection, number, values, self.cause, self.clock(), only_when=only_when, lenient=lenient
            )
        )


def _with_the_bot(ticket: Ticket) -> bool:
    return ticket.owner is Owner.BOT


def _with_a_person(ticket: Ticket) -> bool:
    return ticket.owner is Owner.HUMAN


def _words_of(inbound: Inbound) -> str:
    """Return the text and the files that came with it, each with its link."""
    return "\n".join([*filter(None, [inbound.text]), *(f"[file: {name}]" for name in inbound.files)])


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
        subject=_words_of(inbound)[:SUBJECT_CHARACTERS],
        status=TicketStatus.NEW.value,
        owner=Owner.BOT.value,
        priority=Priority.NORMAL.value,
        card_due=True,
        opened_at=now,
        updated_at=now,
    )
    number: int = connection.execute(row.returning(tickets.c.number)).scalar_one()
    cause = Cause(message_id=message_id, by=inbound.user)
    write_down(connection, number, [("opened", "", TicketStatus.NEW.value)], cause, now)
    return number
