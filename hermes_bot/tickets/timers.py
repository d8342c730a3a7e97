"""What happens to a ticket when nothing happens: nudged, closed, late, escalated, or taken by who wrote in its thread.

Every wait is a message with a time on the bus, which carries what it waits for; when it comes up and the ticket has
moved on, it does nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from hermes_bot.bus.port import Delivery
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import PRIORITY_NOTICE, Message
from hermes_bot.messages.payloads import read
from hermes_bot.messages.ticket_payloads import TICKET_DUE, TicketChanged, TicketDue
from hermes_bot.messages.whisper import whisper
from hermes_bot.people import Directory
from hermes_bot.tickets.changes import changes
from hermes_bot.tickets.held import HeldReplies
from hermes_bot.tickets.journal import TicketJournal
from hermes_bot.tickets.said import card_changed, noted, to_customer
from hermes_bot.tickets.summary import summary_of
from hermes_bot.tickets.ticket import Owner, Ticket, TicketStatus
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tickets.waits import AGENT, Render, Waits

SWEEP_EVERY = timedelta(seconds=30)
MOST_RETIRED = 10

Due = Callable[[Message, TicketDue, Ticket, Tickets], Awaitable[Sequence[Message]]]


class Timers:
    """The handlers of `ticket.changed`, which starts the waits, and `ticket.due`, which ends them."""

    def __init__(self, tickets: Tickets, directory: Directory, *, waits: Waits, render: Render) -> None:
        self._tickets = tickets
        self._directory = directory
        self._waits = waits
        self._render = render
        self._sweep_at = datetime.min.replace(tzinfo=UTC)
        self._duties: Mapping[str, Due] = {
            "nudge": self._nudge,
            "close": self._close,
            "first_response": self._late,
            "escalate": self._escalate,
            "hold": self._held_too_long,
        }

    async def on_changed(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Start the waits that follow from the change."""
        changed = read(message, TicketChanged)
        what = {change.what: change.now for change in changed.changes}
        wanted, asked = what.get("owner") == Owner.PENDING_HUMAN, what.get("status") == TicketStatus.WAITING_CUSTOMER
        if not (wanted or asked or "priority" in what or what.get("held_by")):
            return await self._retired(message, delivery)  # as most changes are: nothing waits
        ticket = await self._tickets.get(changed.ticket_id)
        waits, outputs = self._waits, []
        if wanted or "priority" in what:
            outputs += self._until_late(message, ticket)
        if asked and waits.nudge_after_s:
            outputs.append(self._due(message, ticket, "nudge", waits.nudge_after_s, turn=changed.turn))
        if wanted and waits.escalate_after_s:
            outputs.append(self._due(message, ticket, "escalate", waits.escalate_after_s, round_=ticket.handoff_round))
        if what.get("held_by"):
            outputs.append(self._due(message, ticket, "hold", waits.hold_s, key=ticket.hold_id))
        return [*outputs, *await self._retired(message, delivery)]

    def _until_late(self, message: Message, ticket: Ticket) -> list[Message]:
        """Return the wait for the first answer; the bot's own comes at once, or a person is wanted."""
        limit_s = self._waits.first_response_s.get(ticket.priority, 0.0)
        if not limit_s or ticket.first_response_at is not None or ticket.status.ended:
            return []
        elapsed_s = (self._tickets.clock() - ticket.opened_at).total_seconds()
        return [self._due(message, ticket, "first_response", max(0.0, limit_s - elapsed_s))]

    async def _retired(self, message: Message, delivery: Delivery) -> list[Message]:
        """Close what was solved long ago, a few at a time: a timer for each solved ticket would be too many."""
        now, again = self._tickets.clock(), delivery.redelivered or delivery.attempt > 1
        tickets = self._tickets.on_behalf(message.id, AGENT)
        if self._waits.close_after_s and now >= self._sweep_at:
            self._sweep_at = now + SWEEP_EVERY
            before = now - timedelta(seconds=self._waits.close_after_s)
            for ticket_id in await tickets.solved_before(before, limit=MOST_RETIRED):
                closed = {"status": TicketStatus.CLOSED.value, "owner": Owner.BOT.value, "held_by": ""}
                await tickets.change(ticket_id, closed, only_when=lambda ticket: ticket.status is TicketStatus.SOLVED)
        return await changes(tickets, message, redelivered=again)

    async def on_due(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Do what the time has come for, if the ticket still waits for it."""
        due = read(message, TicketDue)
        duty, tickets = self._duties.get(due.what), self._tickets.on_behalf(message.id, AGENT)
        if duty is None:
            raise PermanentError(f"nothing is known to be due by the name {due.what!r}")
        outputs = await duty(message, due, await tickets.get(due.ticket_id), tickets)
        again = delivery.redelivered or delivery.attempt > 1
        return [*outputs, *await changes(tickets, message, redelivered=again)]

    async def _nudge(self, message: Message, due: TicketDue, ticket: Ticket, tickets: Tickets) -> Sequence[Message]:
        waiting = ticket.owner is Owner.BOT and ticket.status is TicketStatus.WAITING_CUSTOMER
        if not waiting or ticket.turn != due.turn:
            return []
        await TicketJournal.of(tickets).note(ticket.id, "nudged", "")
        outputs = [to_customer(message, ticket, self._render(ticket.language, "tickets.nudge"))]
        if self._waits.close_after_s:
            outputs.append(self._due(message, ticket, "close", self._waits.close_after_s, turn=ticket.turn))
        return outputs

    async def _close(self, message: Message, due: TicketDue, ticket: Ticket, tickets: Tickets) -> Sequence[Message]:
        """Close it and tell the customer, who did not answer."""
        values = {"status": TicketStatus.CLOSED.value, "owner": Owner.BOT.value, "held_by": ""}
        moved = await tickets.change(
            ticket.id,
            values,
            only_when=lambda now: now.status is TicketStatus.WAITING_CUSTOMER and now.turn == due.turn,
        )
        if not moved.won:
            return []
        return [to_customer(message, moved.ticket, self._render(ticket.language, "tickets.closed"))]

    async def _late(self, message: Message, _due: TicketDue, ticket: Ticket, tickets: Tickets) -> Sequence[Message]:
        """Tell who owns the ticket that the customer has waited too long."""
        limit_s = self._waits.first_response_s.get(ticket.priority, 0.0)
        waited_s = (tickets.clock() - ticket.opened_at).total_seconds()
        if not limit_s or waited_s + 1 < limit_s:
            return []

        def unanswered(now: Ticket) -> bool:
            return now.first_response_at is None and not now.status.ended

        moved = await tickets.change(ticket.id, {"response_late": True}, only_when=unanswered)
        if not moved.won:
            return []
        mentions = (ticket.assignee,) if ticket.owner is Owner.HUMAN and ticket.assignee else self._waits.on_call
        text = f"{ticket.id} ({ticket.priority}) has waited {_minutes(waited_s)} for a first answer."
        return [noted(message, ticket, text, label="First answer is late", mentions=mentions, loud=True)]

    async def _escalate(self, message: Message, due: TicketDue, ticket: Ticket, tickets: Tickets) -> Sequence[Message]:
        if ticket.owner is not Owner.PENDING_HUMAN or ticket.handoff_round != due.round:
            return []
        await TicketJournal.of(tickets).note(ticket.id, "escalated", " ".join(self._waits.on_call))
        text = f"Nobody has claimed {ticket.id} for {_minutes(self._waits.escalate_after_s)}; the customer waits."
        return [noted(message, ticket, text, label="Still unclaimed", mentions=self._waits.on_call, loud=True)]

    async def _held_too_long(
        self, message: Message, due: TicketDue, ticket: Ticket, tickets: Tickets
    ) -> Sequence[Message]:
        """Give the thread to who wrote in it and did not say what they meant."""
        user, held = ticket.held_by or ticket.assignee, HeldReplies(tickets.database, clock=tickets.clock)
        moved = await tickets.take(
            ticket.id,
            user=user,
            message_id=message.id,
            owners=(Owner.BOT,),
            only_when=lambda now: bool(now.held_by) and now.hold_id == due.key,
        )
        if not moved.won:
            return []
        await held.drop(ticket.id)
        name = (await self._directory.person(ticket.team, user)).name
        text = (
            f"You have {ticket.id} now, since you wrote in its thread: the bot is silent there until you give it back."
        )
        return [
            to_customer(message, moved.ticket, self._render(ticket.language, "handoff.claimed", name=name)),
            whisper(
                message, text, channel=ticket.channel, user=user, ticket_id=ticket.id, thread_ts=ticket.thread_ts
            ),
            card_changed(message, moved.ticket),
            noted(
                message, moved.ticket, await summary_of(ticket, tickets, await held.latest(ticket.id)),
                label=f"For {name}",
            ),
        ]  # fmt: skip

    def _due(
        self,
        message: Message,
        ticket: Ticket,
        what: str,
        after_s: float,
        *,
        turn: int = 0,
        round_: int = 0,
        key: str = "",
    ) -> Message:
        return message.child(
            TICKET_DUE,
            TicketDue(ticket_id=ticket.id, what=what, turn=turn, round=round_, key=key),
            recipient=AGENT,
            context_id=f"ticket:{ticket.id}",
            priority=PRIORITY_NOTICE,
            not_before=self._tickets.clock() + timedelta(seconds=after_s),
        )


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"
