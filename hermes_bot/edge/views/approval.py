"""The approval card: what will run, who asks, who said yes so far, and the buttons; once settled, the record."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus, Question
from hermes_bot.edge.text import UPDATE_CHARACTERS, clipped, escape
from hermes_bot.edge.views.look import Json, Look, actions, button, context, field_sections, section, words
from hermes_bot.edge.views.values import packed
from hermes_bot.edge.views.words import fitted, heading, link, moment, name_of

APPROVE, REJECT, EDIT, ASK = "approval:approve", "approval:reject", "approval:edit", "approval:ask"
TITLE_CHARACTERS = 250
LABEL_CHARACTERS = 100
VALUE_CHARACTERS = 600
SHORT_CHARACTERS = 150
MAX_SHOWN = 15
MAX_QUESTIONS = 3
SCOPE = "this once, exactly as shown"
ENDINGS = {
    ApprovalStatus.APPROVED: ":white_check_mark: *Approved* by {who}",
    ApprovalStatus.REJECTED: ":x: *Rejected* by {who}",
    ApprovalStatus.EXPIRED: ":hourglass: *Expired*: nobody decided in time. Nothing was done",
    ApprovalStatus.CANCELLED: ":no_entry_sign: *Cancelled*{why}. Nothing was done",
}
CAUSES = {
    "edited": ": the customer changed the message that it rests on, and it is asked for anew",
    "deleted": ": the customer deleted the message that it rests on",
    "stopped": ": it was stopped",
}

Names = Mapping[str, str]


def approval_look(
    request: ApprovalRequest, *, names: Names, context_id: str = "", thread_url: str = "", internal: bool = False
) -> Look:
    """Return the card as the store says it is now; `internal` where no customer can read it."""
    title = heading(request.title, TITLE_CHARACTERS)
    shown = _pairs(request.shown, VALUE_CHARACTERS)
    checks = _pairs(request.internal, VALUE_CHARACTERS) if internal else []
    told = [f"{label}: {' '.join(value.split())}" for label, value in shown]
    ending = [_buttons(request, context_id)] if request.pending else _record(request, names)
    return Look(
        text=clipped("\n".join([title, *told, _headline(request, names)]), UPDATE_CHARACTERS),
        blocks=(
            section(f"*{title}*{f' · {SCOPE}' if request.pending else ''}"),
            *field_sections(shown),
            *field_sections(checks),
            _who(request, names, thread_url, internal=internal),
            *_conversation(request, names),
            *_progress(request, names),
            *ending,
        ),
    )


def short_approval_look(request: ApprovalRequest, *, names: Names, context_id: str = "") -> Look:
    """Return the card in few words, for when Slack refuses the full one; what would run still stands on it."""
    title = heading(request.title, LABEL_CHARACTERS)
    headline = _headline(request, names)
    if not request.pending:
        return Look(text=f"{title}\n{headline}", blocks=(section(f"*{title}*"), context(headline)))
    told = "\n".join(f"{label}: {' '.join(value.split())}" for label, value in _pairs(request.shown, SHORT_CHARACTERS))
    blocks = (section(f"*{title}* · {SCOPE}"), words(told), context(headline), _buttons(request, context_id))
    return Look(text=f"{title}\n{told}\n{headline}", blocks=blocks)


def moved_look(request: ApprovalRequest, *, names: Names) -> Look:
    """Return what stands where the card was before it went to another channel."""
    title = heading(request.title, TITLE_CHARACTERS)
    state = _headline(request, names) if not request.pending else ":arrow_right: Changed; others decide it, elsewhere"
    return Look(text=f"{title}\n{state}", blocks=(section(f"*{title}*"), context(state)))


def deciders(request: ApprovalRequest) -> list[str]:
    """Return the users whose names the card shows."""
    asked = [each.asked_by for each in request.questions]
    return [request.requested_by, request.settled_by, request.edited_by, *(v.user for v in request.votes), *asked]


def _pairs(pairs: tuple[tuple[str, str], ...], limit: int) -> list[tuple[str, str]]:
    return [(fitted(label, LABEL_CHARACTERS), fitted(value, limit)) for label, value in pairs[:MAX_SHOWN]]


def _who(request: ApprovalRequest, names: Names, thread_url: str, *, internal: bool) -> Json:
    asked = f"Asked for by {name_of(request.requested_by, names)}" if request.requested_by else "Asked for by Hermes"
    ticket = f" · ticket {escape(request.ticket_id)}" if request.ticket_id else ""
    level = f" (level {escape(request.level)})" if internal else ""
    runs = f"Runs {escape(request.tool)}{level}; Hermes acts, in the shop's name"
    expiry = f"expires {moment(request.expires_at)}" if request.pending else ""
    return context(asked + ticket, runs, expiry, link(thread_url, "Open the conversation"))


def _conversation(request: ApprovalRequest, names: Names) -> list[Json]:
    return [block for each in request.questions[-MAX_QUESTIONS:] for block in _asked(each, names)]


def _asked(each: Question, names: Names) -> list[Json]:
    """Return a question and its answer; what people wrote is plain, so that it cannot look like ours."""
    pairs = [(f"{name_of(each.asked_by, names)} asked", fitted(each.question, VALUE_CHARACTERS))]
    answer = fitted(each.answer, VALUE_CHARACTERS) if each.answered_at else "(no answer yet)"
    return field_sections([*pairs, ("The customer answered", answer)])


def _progress(request: ApprovalRequest, names: Names) -> list[Json]:
    """Return who made this version and who has said yes to it, while that is not all."""
    lines = []
    if request.version > 1:
        made = f":pencil2: Version {request.version}, changed by {name_of(request.edited_by, names)}"
        lines.append(f"{made}; somebody else has to approve it" if request.pending else made)
    if request.pending and request.needed > 1:
        lines.append(f":ballot_box_with_check: {_count(request, names)}")
    return [context(line) for line in lines]


def _count(request: ApprovalRequest, names: Names) -> str:
    who = " and ".join(name_of(vote.user, names) for vote in request.votes)
    count = f"*{len(request.votes)} of {request.needed}* needed approvals"
    return f"{count}: {who}" if who else f"{count}; it takes {request.needed} different people"


def _buttons(request: ApprovalRequest, context_id: str) -> Json:
    value = packed(approval_id=request.id, shown_hash=request.shown_hash, context_id=context_id)
    drawn = f"{request.version}.{len(request.votes)}.{sum(2 if q.answered_at else 1 for q in request.questions)}"
    return actions(
        f"approval:{request.id}:{request.status}:{drawn}",
        button("Approve", action_id=APPROVE, value=value, style="primary"),
        button("Reject", action_id=REJECT, value=value),
        button("Edit", action_id=EDIT, value=value),
        button("Ask customer", action_id=ASK, value=value),
    )


def _record(request: ApprovalRequest, names: Names) -> list[Json]:
    said = (("Reason", request.reason), ("Result", request.result))
    pairs = [(label, fitted(text, VALUE_CHARACTERS)) for label, text in said if text]
    return [section(_headline(request, names)), *field_sections(pairs)]


def _headline(request: ApprovalRequest, names: Names) -> str:
    if request.pending:
        return _count(request, names) if request.needed > 1 else "Waiting for a decision"
    voters = [vote.user for vote in request.votes] if request.status is ApprovalStatus.APPROVED else []
    who = " and ".join(name_of(user, names) for user in dict.fromkeys([*voters, request.settled_by]))
    words = ENDINGS[request.status].format(who=who, why=CAUSES.get(request.cause, ""))
    return f"{words} · {moment(request.settled_at)}" if request.settled_at is not None else words
