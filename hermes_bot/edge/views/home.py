"""The app's Home: my requests, what waits for me, settings; for admins proposals and health."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.edge.standing import Standing
from hermes_bot.edge.text import escape
from hermes_bot.edge.views.approval import APPROVE, REJECT
from hermes_bot.edge.views.command_views import ticket_line
from hermes_bot.edge.views.handoff import CLAIM
from hermes_bot.edge.views.look import Json, actions, button, context, field_sections, section, words
from hermes_bot.edge.views.proposal import ACCEPT, DECLINE
from hermes_bot.edge.views.values import packed
from hermes_bot.edge.views.words import fitted, one_line
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.tickets.waits import Render
from hermes_bot.triage.proposal import Proposal

LANGUAGE = "home:language"
MOST_SHOWN = 5
MOST_FIELDS = 10
VALUE_CHARACTERS = 300
LINES_CHARACTERS = 800
NAMES = {"en": "English", "zh": "中文"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What one person's Home shows. `health` says what is wrong, for admins."""

    person: Standing
    tickets: Sequence[Ticket] = ()
    approvals: Sequence[ApprovalRequest] = ()
    handoffs: Sequence[Ticket] = ()
    proposals: Sequence[Proposal] = ()
    health: str = ""


def home_view(page: Page, render: Render) -> Json:
    """Return the view for views.publish."""
    person, language = page.person, page.person.language
    if person.stranger:
        return _view([section(escape(render(language, "command.stranger")))])
    blocks = [_header(render(language, "home.tickets")), *_tickets(page, render)]
    if person.approver or person.staff or person.admin:
        blocks += [_divider(), _header(render(language, "home.waiting")), *_waiting(page, render)]
    blocks += [_divider(), _header(render(language, "home.settings")), _settings(person, render)]
    if person.admin:
        health = page.health or render(language, "command.status.well")
        blocks.append(section(fitted(health, LINES_CHARACTERS)))
    return _view([*blocks, context(escape(render(language, "home.commands")))])


def plain_view(page: Page, render: Render) -> Json:
    """Return a Home that Slack cannot refuse: where everything can be typed."""
    return _view([section(escape(render(page.person.language, "home.commands")))])


def _tickets(page: Page, render: Render) -> list[Json]:
    language = page.person.language
    if not page.tickets:
        return [section(escape(render(language, "command.tickets.none")))]
    return [section(escape(ticket_line(each, language, render))) for each in page.tickets]


def _waiting(page: Page, render: Render) -> list[Json]:
    blocks = [block for each in page.approvals[:MOST_SHOWN] for block in _approval(each)]
    if page.handoffs:
        blocks.append(section(f"*{escape(render(page.person.language, 'home.handoff'))}*"))
    blocks += [block for each in page.handoffs[:MOST_SHOWN] for block in _handoff(each)]
    blocks += [block for each in page.proposals[:MOST_SHOWN] for block in _proposal(each)]
    if max(len(page.approvals), len(page.handoffs), len(page.proposals)) > MOST_SHOWN:
        blocks.append(context(escape(render(page.person.language, "home.more"))))
    return blocks or [section(escape(render(page.person.language, "home.nothing")))]


def _approval(request: ApprovalRequest) -> list[Json]:
    """Return exactly what would run, as the card shows it, with its two answers."""
    value = packed(approval_id=request.id, shown_hash=request.shown_hash, context_id=request.context_id)
    shown = [(fitted(label, 100), fitted(text, VALUE_CHARACTERS)) for label, text in request.shown[:MOST_FIELDS]]
    return [
        section(f"*{one_line(request.title, 250)}* · {escape(request.ticket_id)}"),
        *field_sections(shown),
        actions(
            f"home:{request.id}:{request.version}.{len(request.votes)}",
            button("Approve", action_id=APPROVE, value=value, style="primary"),
            button("Reject", action_id=REJECT, value=value),
        ),
    ]


def _handoff(ticket: Ticket) -> list[Json]:
    said = f"{ticket.id} · {ticket.handoff_reason}\n{ticket.handoff_summary or ticket.subject}"
    value = packed(ticket_id=ticket.id, context_id=ticket.context_id)
    claim = button("Claim", action_id=CLAIM, value=value)
    return [words(fitted(said, LINES_CHARACTERS)), actions(f"home:{ticket.id}:{ticket.version}", claim)]


def _proposal(proposal: Proposal) -> list[Json]:
    value = packed(proposal_id=proposal.id, shown_hash=proposal.shown_hash)
    return [
        section(f"*{escape(proposal.id)}* → {escape(proposal.route)}"),
        words(fitted(proposal.utterance, LINES_CHARACTERS)),
        actions(
            f"home:{proposal.id}",
            button("Accept", action_id=ACCEPT, value=value, style="primary"),
            button("Decline", action_id=DECLINE, value=value),
        ),
    ]


def _settings(person: Standing, render: Render) -> Json:
    named = {"auto": render(person.language, "home.auto"), **NAMES}
    options = [{"text": _plain(label), "value": value} for value, label in named.items()]
    now = next(option for option in options if option["value"] == (person.chosen or "auto"))
    choice = {"type": "static_select", "action_id": LANGUAGE, "options": options, "initial_option": now}
    return section(escape(render(person.language, "home.language"))) | {
        "block_id": f"{LANGUAGE}:{person.chosen or 'auto'}",
        "accessory": choice,
    }


def _view(blocks: list[Json]) -> Json:
    return {"type": "home", "callback_id": "home", "blocks": blocks}


def _header(text: str) -> Json:
    return {"type": "header", "text": _plain(text)}


def _divider() -> Json:
    return {"type": "divider"}


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}
