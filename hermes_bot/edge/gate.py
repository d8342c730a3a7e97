"""Lets a reply through, or keeps it: the bot is silent in a ticket that a person has, or is about to have.

What is kept is said later, when the person lets the bot go on, or never; whoever asks what the bot would say is told,
alone.
"""

from __future__ import annotations

import logging

from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import PRIORITY_NOTICE, PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import APPROVAL_SETTLED, EDGE, REPLY_READY, Audience, Reply, fields_of
from hermes_bot.messages.ticket_payloads import TICKET_ANSWERED, TicketAnswered
from hermes_bot.tickets.held import HeldReplies
from hermes_bot.tickets.ticket import Owner, Ticket, TicketStatus
from hermes_bot.tickets.tickets import Tickets

NOTICES = frozenset({"tickets", "handoff", "approvals", "triage", "hermes", EDGE})
"""Who speaks of what happens to a ticket, and does not answer the customer."""

NOTHING_IN_WORK = "tickets"
"""After its words (claimed, given back, closed) nothing is in work, as after an answer."""

log = logging.getLogger(__name__)


class Gate:
    """Decides about replies of the bot's by the ticket as it is when they are posted."""

    def __init__(self, tickets: Tickets) -> None:
        self._tickets = tickets
        self._held = HeldReplies(tickets.database, clock=tickets.clock)

    async def ticket_of(self, reply: Reply) -> Ticket | None:
        """Return the ticket that the reply belongs to, if it belongs to one."""
        if not reply.ticket_id:
            return None
        try:
            return await self._tickets.get(reply.ticket_id)
        except PermanentError:
            return None

    async def kept(self, message: Message, reply: Reply, ticket: Ticket | None) -> list[Message] | None:
        """Return what follows when the reply is not to be said now; None when it is."""
        if ticket is None or message.sender in NOTICES or reply.audience is Audience.EPHEMERAL:
            return None
        if any(hop.type == APPROVAL_SETTLED for hop in message.context_chain.hops):
            return None  # what was done with an operator's leave is told in any case
        if ticket.owner is not Owner.HUMAN and not ticket.held_by:
            return None
        await self._held.keep(message.id, ticket.id, fields_of(reply))
        log.info("a reply is kept back", extra={"ticket_id": ticket.id, "message_id": message.id})
        asked = bool(ticket.suggest_to) and not ticket.held_by and reply.audience is Audience.THREAD
        return [self._suggestion(message, reply, ticket)] if asked else []

    def after(self, message: Message, reply: Reply, ticket: Ticket | None) -> list[Message]:
        """Return what follows from a reply that stands in Slack: the first answer is noted."""
        mine = ticket is not None and ticket.first_response_at is None and message.sender not in NOTICES
        if ticket is None or not mine or reply.audience is Audience.EPHEMERAL:
            return []
        body = TicketAnswered(ticket_id=ticket.id)
        return [message.child(TICKET_ANSWERED, body, context_id=f"ticket:{ticket.id}", priority=PRIORITY_NOTICE)]

    def asks_for_thumbs(self, message: Message, reply: Reply, ticket: Ticket | None) -> bool:
        """Return whether the customer is asked under this reply if it helped; not where a person is offered instead."""
        if ticket is None or reply.audience is not Audience.THREAD or reply.choices:
            return False
        solves = ticket.status is TicketStatus.SOLVED and message.sender not in NOTICES
        return (reply.feedback or solves) and not ticket.rating

    def _suggestion(self, message: Message, reply: Reply, ticket: Ticket) -> Message:
        body = Reply(
            ticket_id=ticket.id,
            channel="" if ticket.direct else ticket.channel,
            thread_ts="" if ticket.direct else ticket.thread_ts,
            text=f"Hermes would say: {reply.text}",
            audience=Audience.EPHEMERAL,
            user=ticket.suggest_to,
        )
        return message.child(REPLY_READY, body, priority=PRIORITY_OPERATOR)
