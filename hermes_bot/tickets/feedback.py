"""What customers think of an answer, when the first one came, and what happens when somebody presses Stop."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from hermes_bot.bus.port import Delivery
from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import HANDOFF_REQUESTED, REPLY_READY, Audience, HandoffRequested, Reply, read
from hermes_bot.messages.ticket_payloads import Stopped, TicketAnswered, TicketRated
from hermes_bot.people import Roles
from hermes_bot.tickets.changes import changes
from hermes_bot.tickets.held import HeldReplies
from hermes_bot.tickets.journal import TicketJournal
from hermes_bot.tickets.ownership import first_response, not_answered
from hermes_bot.tickets.said import to_customer
from hermes_bot.tickets.ticket import Owner, Ticket, TicketStatus
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tickets.waits import AGENT, Render

RATINGS = ("up", "down")

log = logging.getLogger(__name__)

Cancel = Callable[[str], Awaitable[int]]


class Feedback:
    """The handlers of `ticket.rated`, `ticket.answered` and `agent.stopped`."""

    def __init__(self, tickets: Tickets, roles: Roles, *, staff: Sequence[str], cancel: Cancel, render: Render) -> None:
        self._tickets = tickets
        self._roles = roles
        self._staff = tuple(staff)
        self._cancel = cancel
        self._render = render

    async def on_rated(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Keep the customer's thumbs, the last ones count; thank them, alone."""
        rated, tickets = read(message, TicketRated), self._tickets.on_behalf(message.id, AGENT)
        ticket = await tickets.get(rated.ticket_id)
        if rated.rating not in RATINGS:
            raise PermanentError(f"{rated.rating!r} is no rating")
        if rated.user != ticket.requester:
            text = self._render(ticket.language, "entry.not_yours")
            return [_privately(message, ticket, rated.user, text)]
        await tickets.change(ticket.id, {"rating": rated.rating})
        text = self._render(ticket.language, f"tickets.rated.{rated.rating}")
        return [_privately(message, ticket, rated.user, text), *await _told(tickets, message, delivery)]

    async def on_answered(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Keep when the first answer stood in Slack."""
        ticket_id, tickets = read(message, TicketAnswered).ticket_id, self._tickets.on_behalf(message.id, AGENT)
        moved = await tickets.change(ticket_id, first_response(tickets), only_when=not_answered)
        first = moved.ticket.first_response_at
        if first is not None and first == moved.ticket.updated_at:
            waited_s = (first - moved.ticket.opened_at).total_seconds()
            await TicketJournal.of(tickets).note(ticket_id, "first answer", f"after {waited_s:.0f} s")
        return await _told(tickets, message, delivery)

    async def on_stopped(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """End what is in work in the conversation and say so; a wish for a person outlives it."""
        stopped, tickets = read(message, Stopped), self._tickets.on_behalf(message.id, AGENT)
        outputs: list[Message] = []
        for context_id in dict.fromkeys((stopped.conversation, f"{stopped.team}:{stopped.channel}")):
            there = await tickets.in_conversation(context_id)
            if there and await self._may_stop(stopped, there):
                ended = await self._cancel(context_id)
                log.info("stopped", extra={"context_id": context_id, "count": ended})
                idle = not (ended or delivery.redelivered or delivery.attempt > 1)
                for ticket in there:
                    if ticket.requester == stopped.user or len(there) == 1:
                        rests = idle or ticket.id != there[0].id  # the newest is what was in work
                        outputs += await self._stopped(message, ticket, tickets, rests=rests)
                break
        return [*outputs, *await _told(tickets, message, delivery)]

    async def _stopped(self, message: Message, ticket: Ticket, tickets: Tickets, *, rests: bool) -> list[Message]:
        """Return what follows for one ticket; nothing where it `rests`: it waits for the customer, or is over."""
        await HeldReplies(tickets.database, clock=tickets.clock).drop(ticket.id)
        if ticket.owner is Owner.PENDING_HUMAN:  # its card may have been among what was cancelled
            request = HandoffRequested(
                ticket_id=ticket.id, reason=ticket.handoff_reason, summary=ticket.handoff_summary
            )
            return [message.child(HANDOFF_REQUESTED, request, context_id=ticket.context_id)]
        if ticket.owner is Owner.HUMAN or ticket.status is TicketStatus.CLOSED:
            return []
        if rests and (ticket.status is TicketStatus.WAITING_CUSTOMER or ticket.status.ended):
            return []
        await tickets.update(ticket.id, status=TicketStatus.WAITING_CUSTOMER)
        await TicketJournal.of(tickets).note(ticket.id, "stopped", "")
        return [to_customer(message, ticket, self._render(ticket.language, "tickets.stopped"))]

    async def _may_stop(self, stopped: Stopped, there: Sequence[Ticket]) -> bool:
        """Return whether the one who pressed has a ticket there, or works here."""
        if any(ticket.requester == stopped.user for ticket in there):
            return True
        try:
            return await self._roles.includes(self._staff, stopped.team, stopped.user)
        except TransientError:
            return False


def _privately(message: Message, ticket: Ticket, user: str, text: str) -> Message:
    reply = Reply(
        ticket_id=ticket.id,
        channel=ticket.channel,
        thread_ts=ticket.thread_ts,
        text=text,
        audience=Audience.EPHEMERAL,
        user=user,
    )
    return message.child(REPLY_READY, reply, context_id=ticket.context_id, priority=PRIORITY_OPERATOR)


async def _told(tickets: Tickets, message: Message, delivery: Delivery) -> list[Message]:
    return await changes(tickets, message, redelivered=delivery.redelivered or delivery.attempt > 1)
