"""What follows when a delivery ends without being done: a person is told, unless nobody waits for an answer."""

from __future__ import annotations

import msgspec

from hermes_bot.bus.port import Delivery
from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import (
    APPROVAL_SETTLED,
    HANDOFF_CHANGED,
    HANDOFF_NOTED,
    REPLY_READY,
    TICKET_CREATED,
    TICKET_FAILED,
    TICKET_REPLIED,
    Audience,
    Failed,
    Inbound,
)

EDGE = "slack"

CARDS = frozenset({APPROVAL_SETTLED, HANDOFF_CHANGED, HANDOFF_NOTED})
"""What the edge shows to staff; when that fails, the customer has been served all the same."""

PRIVATE_NOTES = frozenset({Audience.EPHEMERAL.value})
"""Audiences whose replies may be lost: they are never repeated, and the thread tells the same in other words."""


def failed_message(delivery: Delivery, error: str) -> Message | None:
    """Return the `ticket.failed` for a delivery that a customer waits for, or None.

    A message about a failure never leads to another one.
    """
    message = delivery.message
    if any(hop.type == TICKET_FAILED for hop in message.context_chain.hops) or message.type == TICKET_FAILED:
        return None
    if delivery.agent == EDGE and message.type in CARDS:
        return None
    if message.type == REPLY_READY and message.data.get("audience") in PRIVATE_NOTES:
        return None
    if message.type in (TICKET_CREATED, TICKET_REPLIED):
        failed = Failed(reference=message.id, error=error, inbound=msgspec.convert(message.data, Inbound))
    elif message.data.get("ticket_id"):
        failed = Failed(reference=message.id, error=error, ticket_id=str(message.data["ticket_id"]))
    else:
        return None
    return message.child(TICKET_FAILED, failed, priority=PRIORITY_OPERATOR)
