"""What the buttons of approval cards and the forms behind them mean."""

from __future__ import annotations

from hermes_bot.edge.clicks import Click, Submission, card_fields, message_of
from hermes_bot.edge.concerns import Concern, FormReader
from hermes_bot.edge.views import reject_modal
from hermes_bot.edge.views.approval import APPROVE, REJECT
from hermes_bot.edge.views.look import Json
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import APPROVAL_CLICKED, ApprovalClicked


def approval_concern() -> Concern:
    """Return the buttons and forms of approval cards. Reject asks for a reason; without the form it counts as it is."""
    return Concern(
        buttons={APPROVE: read_decision, REJECT: read_decision},
        openers={REJECT: _ask_why},
        forms={reject_modal.CALLBACK_ID: FormReader(read=read_rejection, error_block=reject_modal.REASON_BLOCK)},
    )


def read_decision(click: Click, reason: str = "") -> Message | None:
    """Return `approval.clicked`; None for a button that carries nonsense."""
    approval_id, shown_hash = click.fields.get("approval_id", ""), click.fields.get("shown_hash", "")
    if not approval_id:
        return None
    body = ApprovalClicked(
        approval_id=approval_id,
        decision="approve" if click.action_id == APPROVE else "reject",
        shown_hash=shown_hash,
        user=click.user,
        team=click.team,
        channel=click.channel,
        message_ts=click.message_ts,
        reason=reason,
    )
    return message_of(click, APPROVAL_CLICKED, body)


def read_rejection(form: Submission) -> Message | None:
    """Return `approval.clicked` with the reason that was given."""
    reason = form.words(reject_modal.REASON_BLOCK, reject_modal.REASON_CHARACTERS)
    return read_decision(form.as_click(REJECT), reason)


async def _ask_why(click: Click) -> Json | None:
    return reject_modal.reject_modal(card_fields(click)) if click.fields.get("approval_id") else None
