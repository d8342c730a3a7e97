"""What staff write in the thread of a customer's ticket: never the customer's words, and the bot makes room.

In a thread that the bot owns its next messages are held, and the writer is asked alone what they meant. Who writes
where a person is waited for has the ticket. `@Hermes suggest` asks, in private, what the bot would say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.desk import Desk
from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import (
    HANDOFF_CLICKED,
    REPLY_READY,
    Audience,
    Choice,
    Clicked,
    HandoffClicked,
    Inbound,
    Reply,
    Work,
)
from hermes_bot.tickets.held import HeldReplies
from hermes_bot.tickets.journal import TicketJournal
from hermes_bot.tickets.said import card_changed
from hermes_bot.tickets.sayings import Sayings
from hermes_bot.tickets.ticket import Owner, Ticket, TicketStatus

HOLD = "hold/"
HOLD_TAKE, HOLD_ONCE = f"{HOLD}take", f"{HOLD}once"
CAREFUL = frozenset({"refund", "handoff"})
"""Agents that do more than answer; what they would do is not tried out."""

_SUGGEST = re.compile(
    r"\s*(?:suggest(?:ion)?|what would you say|建议|给个建议|你会怎么说)\s*[?？.。!！]?\s*", re.IGNORECASE
)


async def heard_staff(message: Message, inbound: Inbound, desk: Desk) -> list[Message] | None:
    """Return what follows from a remark of the staff's; None where it is not one, and nothing where it is nobody's.

    Raise TransientError when it cannot be known who writes.
    """
    if not inbound.thread_ts:
        return None
    requesters = await desk.tickets.requesters(message.context_id)
    if not requesters or inbound.user in requesters:
        return [] if inbound.known_only and not requesters else None
    if not await desk.staff.includes(inbound.user_team or inbound.team, inbound.user):
        return [] if inbound.known_only else None  # somebody else's ticket, and they did not call the bot
    tickets = await desk.tickets.in_conversation(message.context_id, but_not_of=inbound.user)
    if inbound.mentioned and _SUGGEST.fullmatch(inbound.text):
        return await _suggested(message, inbound, tickets[0], desk)
    outputs: list[Message] = []
    for ticket in tickets:
        outputs += await _remarked(message, inbound, ticket, desk)
    return outputs


def of_hold(message: Message, clicked: Clicked, ticket: Ticket) -> Message:
    """Return what the answer to "what did you mean?" asks for."""
    body = HandoffClicked(
        ticket_id=ticket.id,
        action=clicked.choice.replace("/", "_"),
        user=clicked.user,
        team=clicked.team,
        channel=ticket.channel,
        message_ts="",
    )
    return message.child(HANDOFF_CLICKED, body, context_id=ticket.context_id, priority=PRIORITY_OPERATOR)


async def _remarked(message: Message, inbound: Inbound, ticket: Ticket, desk: Desk) -> list[Message]:
    journal = TicketJournal.of(desk.tickets)
    await journal.note(ticket.id, "remark", inbound.text)
    if ticket.status is TicketStatus.CLOSED:
        return []
    if ticket.owner is Owner.BOT or ticket.held_by == inbound.user:
        return await _held(message, inbound, ticket, desk)
    answered = {"first_response_at": desk.tickets.clock(), "card_due": True}
    await desk.tickets.change(ticket.id, answered, only_when=lambda now: now.first_response_at is None)
    taken = await desk.tickets.take(ticket.id, user=inbound.user, message_id=message.id, owners=(Owner.PENDING_HUMAN,))
    if not taken.won or taken.ticket.assignee != inbound.user:
        return []
    return [card_changed(message, ticket)]


async def _held(message: Message, inbound: Inbound, ticket: Ticket, desk: Desk) -> list[Message]:
    """Hold the bot's messages, and ask the writer what they meant; whoever wrote first is asked."""
    held = {"held_by": inbound.user, "hold_id": message.id}
    moved = await desk.tickets.change(ticket.id, held, only_when=lambda now: now.owner is Owner.BOT and not now.held_by)
    if not moved.won or moved.ticket.hold_id != message.id:
        return []
    text = (
        f"You wrote in the thread of {ticket.id}, which Hermes answers. Its next message waits for you. "
        "Without an answer from you the thread is yours in a minute."
    )
    choices = (Choice(id=HOLD_TAKE, label="Take over"), Choice(id=HOLD_ONCE, label="Only this message"))
    return [_privately(message, inbound, ticket, text, choices)]


async def _suggested(message: Message, inbound: Inbound, ticket: Ticket, desk: Desk) -> list[Message]:
    """Return what the bot would say, to the one who asked; it is found out where finding out does nothing."""
    held = await HeldReplies(desk.tickets.database, clock=desk.tickets.clock).latest(ticket.id)
    if held is not None:
        text = f"Hermes would say: {held.reply.get('text', '')}"
        return [_privately(message, inbound, ticket, text)]
    said = await Sayings.of(desk.tickets).all(ticket.id)
    agent = desk.agent_of(f"ticket.{ticket.route}") if ticket.route else ""
    if ticket.owner is not Owner.HUMAN or not said or not agent or agent in CAREFUL:
        why = f" It went to {ticket.route}: {ticket.why}" if ticket.route else ""
        return [_privately(message, inbound, ticket, f"Hermes has nothing to suggest here.{why}")]
    await desk.tickets.change(ticket.id, {"suggest_to": inbound.user})
    work = Work(ticket_id=ticket.id, text=said[-1].text, language=ticket.language, source_ts=said[-1].ts)
    return [message.child(f"ticket.{ticket.route}", work, context_id=ticket.context_id)]


def _privately(
    message: Message, inbound: Inbound, ticket: Ticket, text: str, choices: Sequence[Choice] = ()
) -> Message:
    reply = Reply(
        ticket_id=ticket.id,
        channel=inbound.channel,
        thread_ts=inbound.thread_ts,
        text=text,
        audience=Audience.EPHEMERAL,
        user=inbound.user,
        choices=tuple(choices),
    )
    return message.child(REPLY_READY, reply, context_id=ticket.context_id, priority=PRIORITY_OPERATOR)
