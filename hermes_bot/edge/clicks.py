"""Turns what people press in Slack into messages for the bus. Pure, and suspicious of every field.

Who may press what is decided later, by those who act on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from hermes_bot.edge.inbound import SENDER, identifier
from hermes_bot.edge.text import storable, unescape
from hermes_bot.edge.views import correction_modal, reject_modal
from hermes_bot.edge.views.approval import APPROVE, REJECT
from hermes_bot.edge.views.handoff import CLAIM, RETURN, WRONG_TEAM
from hermes_bot.edge.views.proposal import ACCEPT, DECLINE
from hermes_bot.edge.views.reply import CHOICE_PREFIX
from hermes_bot.edge.views.values import unpacked
from hermes_bot.messages.message import PRIORITY_OPERATOR, PRIORITY_USER, Message
from hermes_bot.messages.payloads import (
    APPROVAL_CLICKED,
    HANDOFF_CLICKED,
    PROPOSAL_CLICKED,
    ROUTE_CORRECTED,
    TICKET_CLICKED,
    ApprovalClicked,
    Clicked,
    HandoffClicked,
    ProposalClicked,
    RouteCorrected,
    fields_of,
)

LABEL_CHARACTERS = 200
OURS = frozenset({APPROVE, REJECT, CLAIM, RETURN, WRONG_TEAM, ACCEPT, DECLINE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Click:
    """One pressed button. What Slack did not say is empty."""

    user: str
    team: str
    action_id: str
    action_ts: str
    fields: Mapping[str, str]
    label: str = ""
    channel: str = ""
    message_ts: str = ""
    thread_ts: str = ""
    trigger_id: str = ""

    @property
    def task_id(self) -> str:
        """The unit of idempotency: one press, however often Slack tells of it."""
        return f"click:{self.team}:{self.user}:{self.action_ts}:{self.action_id}"

    @property
    def context_id(self) -> str:
        """The ticket's conversation, which the button carries; else the place of the card."""
        own = f"{self.team}:{self.channel}:{self.thread_ts or self.message_ts}"
        return self.fields.get("context_id") or own


def read_clicks(body: Mapping[str, Any], *, team: str) -> list[Click]:
    """Return the buttons of ours that a block_actions payload says were pressed; `team` is the bot's own."""
    user = identifier(_within(body, "user", "id"))
    raw = body.get("actions")
    if not user or not isinstance(raw, list):
        return []
    message, container = _mapping(body.get("message")), _mapping(body.get("container"))
    place = {
        "user": user,
        "team": _team(body, team),
        "channel": identifier(_within(body, "channel", "id")) or identifier(container.get("channel_id")),
        "message_ts": identifier(message.get("ts")) or identifier(container.get("message_ts")),
        "thread_ts": identifier(message.get("thread_ts")) or identifier(container.get("thread_ts")),
        "trigger_id": _text(body.get("trigger_id")),
    }
    return [_click(action, place) for action in raw if isinstance(action, Mapping) and _ours(action)]


def click_message(click: Click, *, reason: str = "") -> Message | None:
    """Return `approval.clicked`, `handoff.clicked`, `proposal.clicked` or `ticket.clicked`.

    None for a button that carries nonsense.
    """
    if click.action_id in (APPROVE, REJECT):
        return _approval(click, reason)
    if click.action_id in (CLAIM, RETURN):
        return _handoff(click)
    if click.action_id in (ACCEPT, DECLINE):
        return _proposal(click)
    return _choice(click)


def card_fields(click: Click) -> dict[str, str]:
    """Return what a modal that a card opens has to bring back."""
    return dict(click.fields) | {"channel": click.channel, "message_ts": click.message_ts}


def read_rejection(body: Mapping[str, Any], *, team: str) -> Message | None:
    """Return `approval.clicked` for a submitted reject modal, None for any other or a broken one."""
    view = _mapping(body.get("view"))
    user, view_id = identifier(_within(body, "user", "id")), identifier(view.get("id"))
    if view.get("callback_id") != reject_modal.CALLBACK_ID or not (user and view_id):
        return None
    fields = unpacked(view.get("private_metadata"))
    values = _mapping(_mapping(view.get("state")).get("values"))
    answer = _answer(values, reject_modal.REASON_BLOCK)
    click = Click(
        user=user,
        team=_team(body, team),
        action_id=REJECT,
        action_ts=view_id,
        fields=fields,
        channel=identifier(fields.get("channel")),
        message_ts=identifier(fields.get("message_ts")),
    )
    return click_message(click, reason=_text(answer.get("value")).strip()[: reject_modal.REASON_CHARACTERS])


def read_correction(body: Mapping[str, Any], *, team: str) -> Message | None:
    """Return `route.corrected` for a submitted "Wrong team?" form, None for any other or a broken one."""
    view = _mapping(body.get("view"))
    user, view_id = identifier(_within(body, "user", "id")), identifier(view.get("id"))
    fields = unpacked(view.get("private_metadata"))
    values = _mapping(_mapping(view.get("state")).get("values"))
    route = _within(_answer(values, correction_modal.ROUTE_BLOCK), "selected_option", "value")
    ticket_id = fields.get("ticket_id", "")
    mine = view.get("callback_id") == correction_modal.CALLBACK_ID
    if not (mine and user and view_id and ticket_id and isinstance(route, str)):
        return None
    words = _text(_answer(values, correction_modal.TEXT_BLOCK).get("value")).strip()
    member_of = _team(body, team)
    click = Click(user=user, team=member_of, action_id=WRONG_TEAM, action_ts=view_id, fields=fields)
    corrected = RouteCorrected(
        ticket_id=ticket_id,
        route=route[:80],
        text=words[: correction_modal.TEXT_CHARACTERS],
        user=user,
        team=member_of,
        channel=identifier(fields.get("channel")),
    )
    return _message(click, ROUTE_CORRECTED, corrected, PRIORITY_OPERATOR)


def _team(body: Mapping[str, Any], ours: str) -> str:
    """Return the team of whoever pressed, which in a shared channel may be another one than ours."""
    return identifier(_within(body, "user", "team_id")) or identifier(_within(body, "team", "id")) or ours


def _answer(values: Mapping[str, Any], block: str) -> Mapping[str, Any]:
    """Return the state of a form's input whose block and action share their name."""
    return _mapping(_mapping(values.get(block)).get(block))


def _ours(action: Mapping[str, Any]) -> bool:
    action_id = action.get("action_id")
    if not isinstance(action_id, str) or len(action_id) > 40:
        return False
    return action_id in OURS or action_id.startswith(CHOICE_PREFIX)


def _click(action: Mapping[str, Any], place: Mapping[str, str]) -> Click:
    label = unescape(_text(_mapping(action.get("text")).get("text")))[:LABEL_CHARACTERS]
    return Click(
        action_id=str(action["action_id"]),
        action_ts=identifier(action.get("action_ts")) or place["trigger_id"][:60],
        fields=unpacked(action.get("value")),
        label=label,
        **place,
    )


def _approval(click: Click, reason: str) -> Message | None:
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
    return _message(click, APPROVAL_CLICKED, body, PRIORITY_OPERATOR)


def _handoff(click: Click) -> Message | None:
    ticket_id = click.fields.get("ticket_id", "")
    if not ticket_id:
        return None
    body = HandoffClicked(
        ticket_id=ticket_id,
        action="claim" if click.action_id == CLAIM else "return",
        user=click.user,
        team=click.team,
        channel=click.channel,
        message_ts=click.message_ts,
    )
    return _message(click, HANDOFF_CLICKED, body, PRIORITY_OPERATOR)


def _proposal(click: Click) -> Message | None:
    proposal_id, shown_hash = click.fields.get("proposal_id", ""), click.fields.get("shown_hash", "")
    if not proposal_id:
        return None
    body = ProposalClicked(
        proposal_id=proposal_id,
        decision="accept" if click.action_id == ACCEPT else "decline",
        shown_hash=shown_hash,
        user=click.user,
        team=click.team,
        channel=click.channel,
        message_ts=click.message_ts,
    )
    return _message(click, PROPOSAL_CLICKED, body, PRIORITY_OPERATOR)


def _choice(click: Click) -> Message | None:
    ticket_id, choice = click.fields.get("ticket_id", ""), click.fields.get("choice", "")
    if not (ticket_id and choice):
        return None
    body = Clicked(ticket_id=ticket_id, choice=choice, label=click.label, user=click.user, team=click.team)
    return _message(click, TICKET_CLICKED, body, PRIORITY_USER)


def _message(click: Click, type_: str, body: msgspec.Struct, priority: int) -> Message:
    return Message(
        type=type_,
        sender=SENDER,
        context_id=click.context_id,
        task_id=click.task_id,
        data=fields_of(body),
        priority=priority,
    )


def _mapping(raw: object) -> Mapping[str, Any]:
    return raw if isinstance(raw, Mapping) else {}


def _within(body: Mapping[str, Any], outer: str, inner: str) -> object:
    return _mapping(body.get(outer)).get(inner)


def _text(raw: object) -> str:
    return storable(raw) if isinstance(raw, str) else ""
