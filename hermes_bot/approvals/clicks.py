"""Decides what a click on an approval card does: who may, once, and who is told.

Authorisation happens here, at the time of the click, and is closed on any doubt.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from hermes_bot.approvals.access import OLD_CARD, Access
from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.moves import Came, Settled
from hermes_bot.approvals.outputs import card_message, changed, private, settlement
from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.bus.port import Delivery
from hermes_bot.errors import PermanentError
from hermes_bot.messages.approval_payloads import APPROVAL_REMINDED
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import APPROVAL_EXPIRED, ApprovalClicked, ApprovalRequested, read

AGENT = "approvals"
APPROVE, REJECT = "approve", "reject"
NOT_OPENED = "The form did not open. Nothing was done; please click again."
UNKNOWN = "This request is not known here any more. Nothing was done."
OWN_VERSION = "You changed this yourself, so somebody else has to approve it. Nothing was done."

log = logging.getLogger(__name__)


class ApprovalDesk:
    """The bus handlers of agent `approvals` for a card's life: requested (starts the clocks), clicked, expired."""

    def __init__(self, approvals: Approvals, access: Access, *, remind_before_s: float = 0.0) -> None:
        self._approvals = approvals
        self._access = access
        self._remind_before = timedelta(seconds=remind_before_s)

    async def on_requested(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Return what is due later: the reminder, unless it is off or would come at once, and the expiry."""
        request = await self._approvals.get(read(message, ApprovalRequested).approval_id)
        body = ApprovalRequested(approval_id=request.id, ticket_id=request.ticket_id)
        context = f"{AGENT}:{request.id}"
        expiry = message.child(
            APPROVAL_EXPIRED, body, recipient=AGENT, context_id=context, not_before=request.expires_at
        )
        remind_at = request.expires_at - self._remind_before
        if not self._remind_before or remind_at <= request.created_at:
            return [expiry]
        return [expiry, card_message(message, request, APPROVAL_REMINDED, not_before=remind_at)]

    async def on_expired(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Settle as expired what is still pending."""
        approval_id = read(message, ApprovalRequested).approval_id
        settled = await self._approvals.settle(approval_id, ApprovalStatus.EXPIRED, by="", message_id=message.id)
        return settlement(message, settled.request) if settled.won else []

    async def on_clicked(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Settle the request, count a yes, or tell the person alone why their click did nothing."""
        click = read(message, ApprovalClicked)
        try:
            request = await self._approvals.get(click.approval_id)
        except PermanentError:
            return [_private(message, click, UNKNOWN)]
        if click.decision not in (APPROVE, REJECT):  # a form that did not open
            words = NOT_OPENED if request.pending else late_words(request, click.user)
            return [changed(message, request), _private(message, click, words)]
        why = await self._access.refusal(request, team=click.team, user=click.user, shown_hash=click.shown_hash)
        if why:
            return await self._refused(message, click, request, why)
        came = await self._decided(message, click, request)
        if came.came is Came.EDITOR:
            others = await self._access.others(came.request, click.user)
            return await self._refused(message, click, came.request, f"{OWN_VERSION}{others}")
        return _outputs(message, click, came)

    async def _decided(self, message: Message, click: ApprovalClicked, request: ApprovalRequest) -> Settled:
        if click.decision == REJECT:
            return await self._approvals.reject(
                request.id, by=click.user, message_id=message.id, reason=click.reason, team=click.team
            )
        return await self._approvals.approve(
            request.id,
            by=click.user,
            message_id=message.id,
            seen=click.shown_hash,
            needed=self._access.authority(request).needed,
            team=click.team,
        )

    async def _refused(
        self, message: Message, click: ApprovalClicked, request: ApprovalRequest, why: str
    ) -> Sequence[Message]:
        """Tell the person alone, and write it to the audit; an old card is drawn anew."""
        fields = {"approval_id": request.id, "user": click.user, "ticket_id": request.ticket_id}
        log.warning("approval click refused", extra=fields)
        await self._approvals.record_refusal(
            request, by=click.user, team=click.team, message_id=message.id, decision=click.decision, why=why
        )
        redraw = [changed(message, request)] if why == OLD_CARD else []
        return [*redraw, _private(message, click, why)]


def _outputs(message: Message, click: ApprovalClicked, came: Settled) -> list[Message]:
    """Return what follows, by what came of the click."""
    request = came.request
    if came.came is Came.COUNTED:
        return [changed(message, request)]
    if came.came is Came.TWICE:
        missing = request.needed - len(request.votes)
        text = f"You have approved this already; it takes {missing} more, by somebody else."
        return [changed(message, request), _private(message, click, text)]
    if came.came is Came.STALE:
        return [changed(message, request), _private(message, click, OLD_CARD)]
    wanted = ApprovalStatus.APPROVED if click.decision == APPROVE else ApprovalStatus.REJECTED
    if came.won and request.status is wanted:
        return settlement(message, request)
    return [*settlement(message, request), _private(message, click, late_words(request, click.user))]


def late_words(request: ApprovalRequest, user: str) -> str:
    """Return what somebody reads who comes when all is settled."""
    who = "" if not request.settled_by or request.settled_by == user else " by somebody else"
    return f"This request is already {request.status.value}{who}. Nothing was done."


def _private(message: Message, click: ApprovalClicked, text: str) -> Message:
    return private(message, text, channel=click.channel, user=click.user)
