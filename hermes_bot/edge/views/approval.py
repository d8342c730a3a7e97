"""The approval card: what will run, who asks, Approve and Reject; once settled, the record in their place."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.edge.text import UPDATE_CHARACTERS, escape
from hermes_bot.edge.views.look import Json, Look, actions, button, context, field_sections, section
from hermes_bot.edge.views.values import packed
from hermes_bot.edge.views.words import fitted, link, moment, name_of, one_line

APPROVE, REJECT = "approval:approve", "approval:reject"
TITLE_CHARACTERS = 250
LABEL_CHARACTERS = 100
VALUE_CHARACTERS = 600
MAX_SHOWN = 15
ENDINGS = {
    ApprovalStatus.APPROVED: ":white_check_mark: *Approved* by {who}",
    ApprovalStatus.REJECTED: ":x: *Rejected* by {who}",
    ApprovalStatus.EXPIRED: ":hourglass: *Expired*: nobody decided in time. Nothing was done",
    ApprovalStatus.CANCELLED: ":no_entry_sign: *Cancelled*. Nothing was done",
}


def approval_look(
    request: ApprovalRequest, *, names: Mapping[str, str], context_id: str = "", thread_url: str = ""
) -> Look:
    """Return the card as the store says it is now."""
    title = one_line(request.title, TITLE_CHARACTERS)
    shown = [
        (fitted(label, LABEL_CHARACTERS), fitted(value, VALUE_CHARACTERS)) for label, value in request.shown[:MAX_SHOWN]
    ]
    ending = [_buttons(request, context_id)] if request.status is ApprovalStatus.PENDING else _record(request, names)
    told = [f"{label}: {' '.join(value.split())}" for label, value in shown]
    lines = [title, *told, _headline(request, names)]
    return Look(
        text="\n".join(lines)[:UPDATE_CHARACTERS],
        blocks=(section(f"*{title}*"), *field_sections(shown), _who(request, names, thread_url), *ending),
    )


def short_approval_look(request: ApprovalRequest, *, names: Mapping[str, str]) -> Look:
    """Return the settled card without its details, for when Slack refuses the full one."""
    title = one_line(request.title, LABEL_CHARACTERS)
    headline = _headline(request, names)
    return Look(text=f"{title}\n{headline}", blocks=(section(f"*{title}*"), context(headline)))


def _who(request: ApprovalRequest, names: Mapping[str, str], thread_url: str) -> Json:
    asked = f"Asked for by {name_of(request.requested_by, names)} · ticket {escape(request.ticket_id)}"
    identity = f"Hermes acts, in the shop's name · level {escape(request.level)}"
    expiry = f"expires {moment(request.expires_at)}" if request.status is ApprovalStatus.PENDING else ""
    return context(asked, identity, expiry, link(thread_url, "Open the conversation"))


def _buttons(request: ApprovalRequest, context_id: str) -> Json:
    value = packed(approval_id=request.id, shown_hash=request.shown_hash, context_id=context_id)
    return actions(
        f"approval:{request.id}:{request.status}",
        button("Approve", action_id=APPROVE, value=value, style="primary"),
        button("Reject", action_id=REJECT, value=value, style="danger"),
    )


def _record(request: ApprovalRequest, names: Mapping[str, str]) -> list[Json]:
    said = (("Reason", request.reason), ("Result", request.result))
    pairs = [(label, fitted(text, VALUE_CHARACTERS)) for label, text in said if text]
    return [section(_headline(request, names)), *field_sections(pairs)]


def _headline(request: ApprovalRequest, names: Mapping[str, str]) -> str:
    if request.status is ApprovalStatus.PENDING:
        return "Waiting for a decision"
    words = ENDINGS[request.status].format(who=name_of(request.settled_by, names))
    return f"{words} · {moment(request.settled_at)}" if request.settled_at is not None else words
