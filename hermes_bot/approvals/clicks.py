"""Decides what a click on an approval card does: who may, once, and who is told.

Authorisation happens here, at the time of the click, and is closed on any doubt.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from hermes_bot.approvals.approvals import Approvals, Settled
from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.bus.port import Delivery
from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import (
    APPROVAL_EXPIRED,
    APPROVAL_SETTLED,
    EDGE,
    ApprovalClicked,
    ApprovalRequested,
    ApprovalSettled,
    read,
)
from hermes_bot.messages.whisper import whisper
from hermes_bot.people import Roles

AGENT = "approvals"
DECISIONS = {"approve": ApprovalStatus.APPROVED, "reject": ApprovalStatus.REJECTED}

log = logging.getLogger(__name__)


class ApprovalDesk:
    """The bus handlers of agent `approvals`: requested (starts the clock), clicked, expired."""

    def __init__(
        self, approvals: Approvals, roles: Roles, *, approvers: Sequence[str], allow_requester: bool = False
    ) -> None:
        self._approvals = approvals
        self._roles = roles
        self._approvers = tuple(approvers)
        self._allow_requester = allow_requester

    async def on_requested(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Return the message that expires the request when its time has come."""
        request = await self._approvals.get(read(message, ApprovalRequested).approval_id)
        body = ApprovalRequested(approval_id=request.id)
        return [message.child(APPROVAL_EXPIRED, body, recipient=AGENT, not_before=request.expires_at)]

    async def on_expired(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Settle as expired what is still pending."""
        approval_id = read(message, ApprovalRequested).approval_id
        settled = await self._approvals.settle(approval_id, ApprovalStatus.EXPIRED, by="", message_id=message.id)
        return _announce(message, settled.request) if settled.won else []

    async def on_clicked(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Settle the request, or tell the person alone why their click did nothing."""
        click = read(message, ApprovalClicked)
        try:
            request = await self._approvals.get(click.approval_id)
        except PermanentError:
            return [_private(message, click, "This request is not known here any more. Nothing was done.")]
        refusal = await self._refusal(click, request)
        if refusal:
            fields = {"approval_id": request.id, "user": click.user, "ticket_id": request.ticket_id}
            log.warning("approval click refused", extra=fields)
            return [_private(message, click, refusal)]
        settled = await self._approvals.settle(
            request.id, DECISIONS[click.decision], by=click.user, message_id=message.id, reason=click.reason
        )
        return _announce(message, settled.request) + _late(message, click, settled)

    async def _refusal(self, click: ApprovalClicked, request: ApprovalRequest) -> str:
        if click.decision not in DECISIONS:
            return "This button is not known here. Nothing was done."
        try:
            allowed = await self._roles.includes(self._approvers, click.team, click.user)
        except TransientError:
            return "Slack could not confirm just now that you may decide this. Nothing was done; please click again."
        if not allowed:
            who = await self._roles.names(self._approvers) or "the approvers"
            return f"Nothing was done: this can be decided only by {who}."
        if click.user == request.requested_by and not self._allow_requester:
            return "You asked for this yourself, so somebody else has to decide it. Nothing was done."
        if click.shown_hash != request.shown_hash:
            return "This card does not show what would run now. Nothing was done; please use the newest card."
        return ""


def _announce(message: Message, request: ApprovalRequest) -> list[Message]:
    """Return the settlement for the waiting agent and for the edge, which redraws the card.

    The edge gets one for every click, also a late one: a card whose redraw was lost heals that way.
    """
    body = ApprovalSettled(
        approval_id=request.id,
        ticket_id=request.ticket_id,
        status=request.status.value,
        by=request.settled_by,
        reason=request.reason,
    )
    receivers = (request.agent, EDGE) if request.settle_message_id == message.id else (EDGE,)
    return [
        message.child(
            APPROVAL_SETTLED,
            body,
            recipient=receiver,
            context_id=request.context_id,
            trace_id=request.trace_id,
            priority=PRIORITY_OPERATOR,
        )
        for receiver in receivers
    ]


def _late(message: Message, click: ApprovalClicked, settled: Settled) -> list[Message]:
    request = settled.request
    if settled.won and request.status is DECISIONS[click.decision]:
        return []
    who = "" if not request.settled_by or request.settled_by == click.user else " by somebody else"
    return [_private(message, click, f"This request is already {request.status.value}{who}. Nothing was done.")]


def _private(message: Message, click: ApprovalClicked, text: str) -> Message:
    return whisper(message, text, channel=click.channel, user=click.user)
