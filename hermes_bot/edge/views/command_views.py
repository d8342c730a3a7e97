"""What a command answers, as text; and the question before everything is forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_bot.approvals.access import Access
from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.edge.cards import Approvals
from hermes_bot.edge.command_acts import code_of
from hermes_bot.edge.text import escape, shorten
from hermes_bot.edge.views.look import Json, actions, button, section
from hermes_bot.edge.views.values import packed
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.tickets.waits import Render
from hermes_bot.triage.proposal import Proposal

FORGET = "person:forget"
SUBJECT_CHARACTERS = 80
FACT_CHARACTERS = 300
VALUE_CHARACTERS = 300
MOST_LOOKED_AT = 30
MOST_SHOWN = 10


async def decidable(approvals: Approvals, access: Access, *, team: str, user: str) -> list[ApprovalRequest]:
    """Return what waits and this person may decide about, the oldest first; the first of many."""
    waiting = await approvals.listing(status=ApprovalStatus.PENDING, limit=MOST_LOOKED_AT)
    known: dict[tuple[str, ...], bool] = {}
    found = []
    for request in reversed(waiting):
        who = access.authority(request).approvers
        if who not in known:
            known[who] = await access.decides(request, team=team, user=user)
        found += [request] if known[who] else []
    return found[:MOST_SHOWN]


def tickets_text(tickets: Sequence[Ticket], language: str, render: Render) -> str:
    """Return a person's own tickets."""
    if not tickets:
        return render(language, "command.tickets.none")
    return "\n".join(
        [render(language, "command.tickets.own"), *(ticket_line(one, language, render) for one in tickets)]
    )


def waiting_text(tickets: Sequence[Ticket], language: str, render: Render) -> str:
    """Return the tickets that wait for a person."""
    if not tickets:
        return render(language, "command.tickets.none_waiting")
    lines = [f"• {one.id} · {_subject(one)} · {one.handoff_reason}" for one in tickets]
    return "\n".join([render(language, "command.tickets.waiting"), *lines])


def ticket_line(ticket: Ticket, language: str, render: Render) -> str:
    """Return a ticket in one line: its id, where it is, what it is about."""
    return f"• {ticket.id} · {render(language, f'command.state.{ticket.status.value}')} · {_subject(ticket)}"


def approvals_text(requests: Sequence[ApprovalRequest], language: str, render: Render) -> str:
    """Return what waits, each with exactly what would run, and what to type."""
    if not requests:
        return render(language, "command.approvals.none")
    parts = [render(language, "command.approvals.head")]
    for request in requests:
        shown = "\n".join(f"   {label}: {shorten(value, VALUE_CHARACTERS)}" for label, value in request.shown)
        count = f" ({len(request.votes)}/{request.needed})" if request.needed > 1 else ""
        typed = f"/hermes approve {request.id} {code_of(request.shown_hash)}"
        parts.append(f"• {request.title}{count} · {request.ticket_id}\n{shown}\n   {typed}")
    return "\n".join(parts)


def proposals_text(proposals: Sequence[Proposal], language: str, render: Render) -> str:
    """Return the suggested changes of the routes, each with its words and what to type."""
    if not proposals:
        return render(language, "command.proposals.none")
    parts = [render(language, "command.proposals.head")]
    for each in proposals[:MOST_SHOWN]:
        typed = f"/hermes accept {each.id} {code_of(each.shown_hash)}"
        parts.append(f"• {each.id} → {each.route}: {shorten(each.utterance, VALUE_CHARACTERS)}\n   {typed}")
    return "\n".join(parts)


def facts_text(facts: Sequence[str], language: str, render: Render) -> str:
    """Return what is known of a person."""
    if not facts:
        return render(language, "command.memory.none")
    lines = [f"• {shorten(fact, FACT_CHARACTERS)}" for fact in facts]
    return "\n".join([render(language, "command.memory.head"), *lines, render(language, "command.memory.foot")])


def forget_blocks(language: str, render: Render) -> tuple[Json, ...]:
    """Return the question whether everything is to be forgotten, with its button."""
    label = escape(render(language, "command.forget.button"))
    plain = {name: _plain(render(language, f"command.forget.{name}")) for name in ("title", "confirm", "deny")}
    asked = {"title": plain["title"], "text": _plain(render(language, "command.forget.sure"))}
    sure = button(label, action_id=FORGET, value=packed(language=language), style="danger")
    sure |= {"confirm": asked | {"confirm": plain["confirm"], "deny": plain["deny"], "style": "danger"}}
    return (section(escape(render(language, "command.forget.ask"))), actions("person:forget", sure))


def _subject(ticket: Ticket) -> str:
    return shorten(" ".join(ticket.subject.split()), SUBJECT_CHARACTERS) or "…"


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}
