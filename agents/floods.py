"""Takes note of what somebody writes faster than anybody could answer, without answering each of it."""

from __future__ import annotations

from agents.desk import Desk
from agents.replies import reply
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import Audience, Inbound
from hermes_bot.tickets.ticket import Ticket, TicketStatus


async def flood(message: Message, inbound: Inbound, ticket: Ticket, desk: Desk) -> list[Message] | None:
    """Return nothing, or once a polite word, where the person has written too much; None where they have not.

    The message is kept on its ticket in any case, and the same message has the same place in the count however often
    it is handled.
    """
    limits = desk.flood
    if limits is None:
        return None
    place = await desk.tickets.place_in_window(message.id, inbound.team, inbound.user, window_s=limits.window_s)
    if place <= limits.messages:
        return None
    await desk.tickets.update(ticket.id, status=TicketStatus.WAITING_CUSTOMER)
    if place > limits.messages + 1:
        return []
    text = desk.texts.render(ticket.language, "entry.flood")
    return [reply(message, ticket, text, audience=Audience.THREAD, source_ts=inbound.ts)]
