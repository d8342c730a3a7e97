"""The messages that follow when something happens to a ticket: to the customer, to staff, to one person alone."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import (
    HANDOFF_CHANGED,
    HANDOFF_NOTED,
    REPLY_READY,
    HandoffChanged,
    HandoffClicked,
    HandoffNoted,
    Reply,
)
from hermes_bot.messages.whisper import whisper
from hermes_bot.tickets.ticket import Ticket


def to_customer(message: Message, ticket: Ticket, text: str, *, feedback: bool = False) -> Message:
    """Return the word in the ticket's conversation."""
    reply = Reply(
        ticket_id=ticket.id,
        channel=ticket.channel,
        thread_ts=ticket.thread_ts,
        text=text,
        user=ticket.requester,
        feedback=feedback,
    )
    return message.child(REPLY_READY, reply, context_id=ticket.context_id)


def card_changed(message: Message, ticket: Ticket) -> Message:
    """Return what redraws the ticket's card at once: somebody looks at it."""
    body = HandoffChanged(ticket_id=ticket.id)
    return message.child(HANDOFF_CHANGED, body, context_id=ticket.context_id, priority=PRIORITY_OPERATOR)


def noted(
    message: Message, ticket: Ticket, text: str, *, label: str, mentions: Sequence[str] = (), loud: bool = False
) -> Message:
    """Return what staff read under the ticket's card."""
    note = HandoffNoted(
        ticket_id=ticket.id, text=text, user=ticket.requester, label=label, mentions=tuple(mentions), loud=loud
    )
    return message.child(HANDOFF_NOTED, note, context_id=ticket.context_id)


def to_presser(message: Message, click: HandoffClicked, text: str) -> Message:
    """Return the word to the one who pressed, alone."""
    return whisper(message, text, channel=click.channel, user=click.user, ticket_id=click.ticket_id)
