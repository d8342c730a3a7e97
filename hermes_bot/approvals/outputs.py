"""The messages that follow from what happens to an approval."""

from __future__ import annotations

from datetime import datetime

from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.messages.approval_payloads import APPROVAL_CHANGED, STOPPED
from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import APPROVAL_SETTLED, EDGE, ApprovalRequested, ApprovalSettled
from hermes_bot.messages.whisper import whisper


def settlement(message: Message, request: ApprovalRequest) -> list[Message]:
    """Return the settlement for the waiting agent and for the edge, which redraws the card.

    The agent gets it from the message that settled, in the conversation's lane. The edge gets one for every click,
    also a late one, in a lane of the card's own: a card whose redraw was lost heals that way, and no slow reply in
    the conversation keeps its buttons standing. After Stop the agent gets it outside of the conversation's lane, in
    which everything is cancelled.
    """
    body = ApprovalSettled(
        approval_id=request.id,
        ticket_id=request.ticket_id,
        status=request.status.value,
        by=request.settled_by,
        reason=request.reason,
        cause=request.cause,
    )
    places = [(EDGE, card_lane(request))]
    if request.settle_message_id == message.id:
        stopped = request.cause == STOPPED
        places.insert(0, (request.agent, f"stopped:{request.id}" if stopped else request.context_id))
    return [
        message.child(
            APPROVAL_SETTLED,
            body,
            recipient=receiver,
            context_id=context_id,
            trace_id=request.trace_id,
            priority=PRIORITY_OPERATOR,
        )
        for receiver, context_id in places
    ]


def changed(message: Message, request: ApprovalRequest) -> Message:
    """Return the word to the edge that the card shows something else by now."""
    return card_message(message, request, APPROVAL_CHANGED)


def card_message(
    message: Message, request: ApprovalRequest, type_: str, *, not_before: datetime | None = None
) -> Message:
    """Return a message to the edge about the card."""
    body = ApprovalRequested(approval_id=request.id, ticket_id=request.ticket_id)
    return message.child(
        type_,
        body,
        recipient=EDGE,
        context_id=card_lane(request),
        trace_id=request.trace_id,
        priority=PRIORITY_OPERATOR,
        not_before=not_before,
    )


def card_lane(request: ApprovalRequest) -> str:
    """Return the context in which the card is drawn, one drawing at a time."""
    return f"card:{request.id}"


def private(message: Message, text: str, *, channel: str, user: str, ticket_id: str = "") -> Message:
    """Return a word to the person who pressed, alone."""
    return whisper(message, text, channel=channel, user=user, ticket_id=ticket_id)
