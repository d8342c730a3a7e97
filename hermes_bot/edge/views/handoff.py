"""The handoff card: what the customer wants, with Claim; then who has it, with Give back."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.edge.text import UPDATE_CHARACTERS, escape
from hermes_bot.edge.views.look import Json, Look, actions, button, context, section, words
from hermes_bot.edge.views.values import packed
from hermes_bot.edge.views.words import fitted, link, name_of
from hermes_bot.tickets.ticket import Owner, Ticket

CLAIM, RETURN = "handoff:claim", "handoff:return"
WRONG_TEAM = "route:wrong"
SUMMARY_CHARACTERS = 2_500
REASON_CHARACTERS = 200
HEADLINES = {
    Owner.PENDING_HUMAN: "a person is wanted",
    Owner.HUMAN: "with a person",
    Owner.BOT: "with Hermes again",
}


def handoff_look(ticket: Ticket, *, names: Mapping[str, str], thread_url: str = "") -> Look:
    """Return the card as the ticket in the store says it is now."""
    title = f"Ticket {escape(ticket.id)}: {HEADLINES[ticket.owner]}"
    summary = fitted(ticket.handoff_summary or ticket.subject or "(no text)", SUMMARY_CHARACTERS)
    state = _state(ticket, names)
    buttons = _buttons(ticket)
    return Look(
        text=f"{title}\n{state}\n{summary}"[:UPDATE_CHARACTERS],
        blocks=(
            section(f"*{title}*") | {"accessory": _wrong_team(ticket)},
            words(summary),
            _about(ticket, names, thread_url),
            context(state),
            *((buttons,) if buttons else ()),
        ),
    )


def short_handoff_look(ticket: Ticket, *, names: Mapping[str, str]) -> Look:
    """Return the card without the summary, for when Slack refuses the full one."""
    title, state, buttons = f"Ticket {escape(ticket.id)}", _state(ticket, names), _buttons(ticket)
    return Look(
        text=f"{title}\n{state}", blocks=(section(f"*{title}*"), context(state), *((buttons,) if buttons else ()))
    )


def _wrong_team(ticket: Ticket) -> Json:
    value = packed(ticket_id=ticket.id, context_id=ticket.context_id)
    return button("Wrong team?", action_id=WRONG_TEAM, value=value)


def _about(ticket: Ticket, names: Mapping[str, str], thread_url: str) -> Json:
    direct = f"in a direct message with <@{ticket.requester}>"
    where = direct if ticket.direct else link(thread_url, "Open the conversation")
    return context(
        f"Customer: {name_of(ticket.requester, names)}",
        f"Why: {fitted(ticket.handoff_reason, REASON_CHARACTERS)}" if ticket.handoff_reason else "",
        where,
    )


def _state(ticket: Ticket, names: Mapping[str, str]) -> str:
    if ticket.owner is Owner.HUMAN:
        return f":bust_in_silhouette: Claimed by {name_of(ticket.assignee, names)}"
    if ticket.owner is Owner.PENDING_HUMAN:
        return ":hourglass_flowing_sand: Waiting for somebody to claim it"
    return ":robot_face: Given back to Hermes"


def _buttons(ticket: Ticket) -> Json | None:
    value = packed(ticket_id=ticket.id, context_id=ticket.context_id)
    block_id = f"handoff:{ticket.id}:{ticket.handoff_round}:{ticket.owner}"
    if ticket.owner is Owner.PENDING_HUMAN:
        return actions(block_id, button("Claim", action_id=CLAIM, value=value, style="primary"))
    if ticket.owner is Owner.HUMAN:
        return actions(block_id, button("Give back", action_id=RETURN, value=value))
    return None
