"""The staff's card of a ticket: what the customer wants, where the ticket is and who has it, and what can be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hermes_bot.edge.text import UPDATE_CHARACTERS, clipped, escape
from hermes_bot.edge.views.look import Json, Look, actions, button, context, section, words
from hermes_bot.edge.views.thread import thread_before
from hermes_bot.edge.views.values import packed
from hermes_bot.edge.views.words import fitted, link, moment, name_of, one_line
from hermes_bot.tickets.thread import ThreadLine
from hermes_bot.tickets.ticket import Owner, Priority, Ticket, TicketStatus

CLAIM, RETURN = "handoff:claim", "handoff:return"
TAKE, ASSIGN, PRIORITY = "ticket:take", "ticket:assign", "ticket:priority"
SOLVE, REOPEN, REPLY = "ticket:solve", "ticket:reopen", "ticket:reply"
WRONG_TEAM = "route:wrong"
CHOOSE = "choose"
SUMMARY_CHARACTERS = 2_500
REASON_CHARACTERS = 200
WHY_CHARACTERS = 150

HEADLINES = {
    TicketStatus.NEW: "new",
    TicketStatus.WORKING: "Hermes is working on it",
    TicketStatus.WAITING_CUSTOMER: "waiting for the customer",
    TicketStatus.WAITING_APPROVAL: "waiting for an approval",
    TicketStatus.WITH_HUMAN: "with a person",
    TicketStatus.SOLVED: "solved",
    TicketStatus.CLOSED: "closed",
    TicketStatus.REOPENED: "reopened",
}
PRIORITIES = {
    Priority.LOW: "Low priority",
    Priority.NORMAL: "Normal priority",
    Priority.HIGH: "High priority",
    Priority.URGENT: "Urgent",
}
RATINGS = {"up": ":thumbsup: The customer was helped", "down": ":thumbsdown: The customer was not helped"}


def handoff_look(
    ticket: Ticket, *, names: Mapping[str, str], thread_url: str = "", thread: Sequence[ThreadLine] = ()
) -> Look:
    """Return the card as the ticket in the store says it is now, with what stood in its thread before it."""
    title = _title(ticket)
    summary = fitted(ticket.handoff_summary or ticket.subject or _no_words(ticket), SUMMARY_CHARACTERS)
    state, before = _state(ticket, names), thread_before(thread, names)
    return Look(
        text=clipped("\n".join(filter(None, (title, state, summary, before))), UPDATE_CHARACTERS),
        blocks=(
            section(f"*{title}*") | {"accessory": _wrong_team(ticket)},
            words(summary),
            *([words(before)] if before else ()),
            _about(ticket, names, thread_url),
            context(state),
            _figures(ticket),
            *_buttons(ticket),
        ),
    )


def short_handoff_look(ticket: Ticket, *, names: Mapping[str, str]) -> Look:
    """Return the card without the summary, for when Slack refuses the full one."""
    title, state = f"Ticket {escape(ticket.id)}", _state(ticket, names)
    return Look(text=f"{title}\n{state}", blocks=(section(f"*{title}*"), context(state), *_buttons(ticket)))


def _title(ticket: Ticket) -> str:
    headline = HEADLINES[ticket.status]
    if ticket.owner is Owner.PENDING_HUMAN:
        headline = "a person is wanted"
    elif ticket.owner is Owner.BOT and ticket.handoff_round and not ticket.status.ended:
        headline = "with Hermes again"
    return f"Ticket {escape(ticket.id)}: {headline}"


def _no_words(ticket: Ticket) -> str:
    return "(the customer deleted the message)" if ticket.source_deleted else "(no text)"


def _wrong_team(ticket: Ticket) -> Json:
    return button("Wrong team?", action_id=WRONG_TEAM, value=_value(ticket))


def _about(ticket: Ticket, names: Mapping[str, str], thread_url: str) -> Json:
    named = names.get(ticket.requester, "–") in ticket.handoff_summary  # who it is stands above already
    where = "in a direct message" if ticket.direct else link(thread_url, "Open the conversation")
    return context(
        "" if named else f"Customer: {name_of(ticket.requester, names)}",
        f"Why: {fitted(ticket.handoff_reason, REASON_CHARACTERS)}" if ticket.handoff_reason else "",
        where,
    )


def _state(ticket: Ticket, names: Mapping[str, str]) -> str:
    if ticket.owner is Owner.PENDING_HUMAN:
        said = ":hourglass_flowing_sand: Waiting for somebody to claim it"
    elif ticket.owner is Owner.HUMAN:
        said = f":bust_in_silhouette: Claimed by {name_of(ticket.assignee, names)}"
    elif ticket.handoff_round or ticket.returned_by:
        by = f" by {name_of(ticket.returned_by, names)}" if ticket.returned_by else ""
        said = f":robot_face: Given back to Hermes{by}"
        said += f": {one_line(ticket.handoff_note, REASON_CHARACTERS)}" if ticket.handoff_note else ""
    else:
        said = ":robot_face: With Hermes"
    held = f" · its next message waits for {name_of(ticket.held_by, names)}" if ticket.held_by else ""
    if ticket.owner is not Owner.BOT and ticket.status is TicketStatus.WITH_HUMAN:
        return f"{said}{held}"  # "waiting for somebody" and "with a person" would contradict each other
    return f"{said}{held} · {HEADLINES[ticket.status]}"


def _figures(ticket: Ticket) -> Json:
    """Return where it was routed and why, how urgent it is, how long the customer waited, and what they thought."""
    why = f" – {one_line(ticket.why, WHY_CHARACTERS)}" if ticket.why else ""
    return context(
        f"Route: {fitted(ticket.route, WHY_CHARACTERS)}{why}" if ticket.route else "Route: not decided yet",
        PRIORITIES[ticket.priority],
        _first_answer(ticket),
        "The customer deleted the message that this began with" if ticket.source_deleted else "",
        RATINGS.get(ticket.rating, ""),
    )


def _first_answer(ticket: Ticket) -> str:
    late = ":warning: " if ticket.response_late else ""
    if ticket.first_response_at is None:
        return f"{late}No answer yet, written {moment(ticket.opened_at)}"
    waited_s = max(0.0, (ticket.first_response_at - ticket.opened_at).total_seconds())
    told = f"{waited_s / 60:.0f} min" if waited_s >= 60 else f"{waited_s:.0f} s"
    return f"{late}First answer after {told}"


def _buttons(ticket: Ticket) -> list[Json]:
    """Return the rows of what can be done to the ticket as it is; who may is decided when it is pressed."""
    value = _value(ticket)
    block_id = f"handoff:{ticket.id}:{ticket.handoff_round}:{ticket.owner}:{ticket.status}:{ticket.version}"
    if ticket.status.ended:
        return [actions(block_id, button("Reopen", action_id=REOPEN, value=value))]
    row = []
    if ticket.owner is Owner.PENDING_HUMAN:
        row.append(button("Claim", action_id=CLAIM, value=value, style="primary"))
    elif ticket.owner is Owner.BOT:
        row.append(button("Take over", action_id=TAKE, value=value))
    if ticket.owner is Owner.HUMAN:
        row.append(button("Reply to customer", action_id=REPLY, value=value, style="primary"))
        row.append(button("Give back", action_id=RETURN, value=value))
    if ticket.status is not TicketStatus.WAITING_APPROVAL:
        row.append(button("Solved", action_id=SOLVE, value=value))
    choices = actions(f"{CHOOSE}:{ticket.id}:{ticket.version}", _assign(ticket), _priority(ticket))
    return [actions(block_id, *row), choices]


def ticket_chosen_for(block_id: str) -> str:
    """Return the ticket of a card's menus; a menu of people carries no value of ours, but stands in such a block."""
    start, _, rest = block_id.partition(":")
    return rest.partition(":")[0] if start == CHOOSE else ""


def _assign(ticket: Ticket) -> Json:
    label = "Hand on to …" if ticket.owner is Owner.HUMAN else "Assign to …"
    return {"type": "users_select", "action_id": ASSIGN, "placeholder": _plain(label)}


def _priority(ticket: Ticket) -> Json:
    options = {priority: _option(ticket, priority) for priority in Priority}
    return {
        "type": "static_select",
        "action_id": PRIORITY,
        "placeholder": _plain("Priority"),
        "options": list(options.values()),
        "initial_option": options[ticket.priority],
    }


def _option(ticket: Ticket, priority: Priority) -> Json:
    value = packed(ticket_id=ticket.id, priority=priority.value)  # Slack takes 150 characters here
    return {"text": _plain(PRIORITIES[priority]), "value": value}


def _value(ticket: Ticket) -> str:
    return packed(ticket_id=ticket.id, context_id=ticket.context_id)


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}
