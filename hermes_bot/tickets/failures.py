"""What follows when a delivery ends without being done: a person is told, unless nobody waits for an answer."""

from __future__ import annotations

import msgspec

from hermes_bot.bus.port import Delivery
from hermes_bot.messages.message import PRIORITY_OPERATOR, Kind, Message
from hermes_bot.messages.payloads import (
    APPROVAL_CLICKED,
    APPROVAL_SETTLED,
    EDGE,
    HANDOFF_CHANGED,
    HANDOFF_CLICKED,
    HANDOFF_NOTED,
    PROPOSAL_CLICKED,
    REPLY_READY,
    ROUTE_CORRECTED,
    TICKET_CREATED,
    TICKET_FAILED,
    TICKET_REPLIED,
    Audience,
    Failed,
    Inbound,
)
from hermes_bot.messages.surface_payloads import COMMAND_GIVEN, PERSON_FORGET, SHORTCUT_USED
from hermes_bot.messages.ticket_payloads import (
    TICKET_ANSWERED,
    TICKET_CARD,
    TICKET_CHANGED,
    TICKET_DUE,
    TICKET_RATED,
)
from hermes_bot.messages.whisper import whisper

CARDS = frozenset({APPROVAL_SETTLED, HANDOFF_CHANGED, HANDOFF_NOTED, TICKET_CARD})
"""What the edge shows to staff; when that fails, the customer has been served all the same."""

ASIDE = frozenset({TICKET_ANSWERED, TICKET_CHANGED, TICKET_DUE, TICKET_RATED})
"""What is kept of a ticket besides; nobody waits for an answer to it."""

CLICKS = frozenset({APPROVAL_CLICKED, HANDOFF_CLICKED, PROPOSAL_CLICKED, ROUTE_CORRECTED})
"""What staff press on cards: they wait for an effect, the customer knows nothing of it."""

COMMANDS = frozenset({COMMAND_GIVEN, SHORTCUT_USED, PERSON_FORGET})
"""What anybody may ask of the bot beside writing to it: they wait for an answer, of which there is no trace yet."""

PRIVATE_NOTES = frozenset({Audience.EPHEMERAL.value})
"""Audiences whose replies may be lost: they are never repeated, and the thread tells the same in other words."""


def failed_message(delivery: Delivery, error: str) -> Message | None:
    """Return the `ticket.failed` for a delivery that a customer waits for, or None.

    A message about a failure never leads to another one. Who sent a request is told by the bus and decides.
    """
    message = delivery.message
    if message.kind is Kind.REQUEST:
        return None
    if any(hop.type == TICKET_FAILED for hop in message.context_chain.hops) or message.type == TICKET_FAILED:
        return None
    if message.type in ASIDE or (delivery.agent == EDGE and message.type in CARDS):
        return None
    if message.type in CLICKS:
        return _click_again(message)
    if message.type in COMMANDS:
        return _ask_again(message)
    if message.type == REPLY_READY and message.data.get("audience") in PRIVATE_NOTES:
        return None
    if message.type in (TICKET_CREATED, TICKET_REPLIED):
        failed = Failed(reference=message.id, error=error, inbound=msgspec.convert(message.data, Inbound))
    elif message.data.get("ticket_id"):
        failed = Failed(reference=message.id, error=error, ticket_id=str(message.data["ticket_id"]))
    else:
        return None
    return message.child(TICKET_FAILED, failed, priority=PRIORITY_OPERATOR)


def _ask_again(message: Message) -> Message:
    """Return the word to the one who gave a command, whose language could perhaps not be looked up."""
    channel, user = str(message.data.get("channel") or ""), str(message.data.get("user") or message.data.get("whom"))
    text = (
        "Something went wrong on our side, and your command may have had no effect. Please give it again. "
        f"/ 我们这边出了点问题，你的命令可能没有生效，请再试一次。 Reference {message.id}"
    )
    return whisper(message, text, channel=channel, user=user)


def _click_again(message: Message) -> Message:
    """Return the word to the one who pressed: a button must not be dead without a sign."""
    ticket_id, channel, user = (str(message.data.get(key) or "") for key in ("ticket_id", "channel", "user"))
    text = (
        "Something went wrong on our side, and your click may have had no effect. "
        f"Please look at the card and click again. Reference {message.id}"
    )
    return whisper(message, text, channel=channel, user=user, ticket_id=ticket_id)
