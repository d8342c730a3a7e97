"""Reads what people press and submit in Slack, suspicious of every field. Pure.

What a press means is said by those whose buttons they are (`hermes_bot.edge.concerns`). Who may press what is decided
later, by those who act on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from hermes_bot.edge.inbound import SENDER, Bot, identifier
from hermes_bot.edge.text import head, storable, unescape
from hermes_bot.edge.views.values import unpacked
from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import fields_of

LABEL_CHARACTERS = 200
ACTION_CHARACTERS = 60
CHOSEN = ("selected_user", "selected_channel", "selected_conversation", "selected_date")


@dataclass(frozen=True, slots=True, kw_only=True)
class Click:
    """One pressed button, or one choice from a menu. What Slack did not say is empty.

    `fields` are what the button (or the chosen option) carries, `selected` what was chosen: a user's or a channel's
    id, or an option's raw value.
    """

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
    selected: str = ""
    block_id: str = ""

    @property
    def task_id(self) -> str:
        """The unit of idempotency: one press, however often Slack tells of it."""
        return f"click:{self.team}:{self.user}:{self.action_ts}:{self.action_id}"

    @property
    def inside(self) -> str:
        """The thread in which the card stands; empty for one that begins a thread, or stands outside of any."""
        return "" if self.thread_ts == self.message_ts else self.thread_ts

    @property
    def context_id(self) -> str:
        """The ticket's conversation, which the button carries; else the place of the card."""
        own = f"{self.team}:{self.channel}:{self.thread_ts or self.message_ts}"
        return self.fields.get("context_id") or own


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One submitted form. `fields` is what it was opened with, `values` Slack's state of its inputs."""

    user: str
    team: str
    view_id: str
    callback_id: str
    fields: Mapping[str, str]
    values: Mapping[str, Any]

    def words(self, block: str, limit: int) -> str:
        """Return what was typed into the input whose block and action have this name."""
        return head(text_of(self._answer(block).get("value")).strip(), limit)

    def option(self, block: str) -> str:
        """Return the value of the option that was chosen in this block."""
        return text_of(mapping(self._answer(block).get("selected_option")).get("value"))

    def chosen(self, block: str) -> str:
        """Return the id of the user, channel or date that was chosen in this block."""
        return _chosen(self._answer(block))

    def as_click(self, action_id: str) -> Click:
        """Return the press that this form completes: its idempotency is the form's."""
        return Click(
            user=self.user,
            team=self.team,
            action_id=action_id,
            action_ts=self.view_id,
            fields=self.fields,
            channel=identifier(self.fields.get("channel")),
            message_ts=identifier(self.fields.get("message_ts")),
            thread_ts=identifier(self.fields.get("thread_ts")),
        )

    def _answer(self, block: str) -> Mapping[str, Any]:
        return mapping(mapping(self.values.get(block)).get(block))


def read_clicks(body: Mapping[str, Any], *, bot: Bot, ours: Callable[[str], bool]) -> list[Click]:
    """Return the presses of ours that a block_actions payload tells of."""
    user = identifier(_within(body, "user", "id"))
    raw = body.get("actions")
    if not user or not isinstance(raw, list):
        return []
    message, container = mapping(body.get("message")), mapping(body.get("container"))
    place = {
        "user": user,
        "team": pressed_in(body, bot),
        "channel": identifier(_within(body, "channel", "id")) or identifier(container.get("channel_id")),
        "message_ts": identifier(message.get("ts")) or identifier(container.get("message_ts")),
        "thread_ts": identifier(message.get("thread_ts")) or identifier(container.get("thread_ts")),
        "trigger_id": text_of(body.get("trigger_id")),
    }
    return [_click(action, place) for action in raw if isinstance(action, Mapping) and _named(action, ours)]


def read_submission(body: Mapping[str, Any], *, bot: Bot) -> Submission | None:
    """Return the submitted form; None for a broken one."""
    view = mapping(body.get("view"))
    user, view_id = identifier(_within(body, "user", "id")), identifier(view.get("id"))
    callback_id = view.get("callback_id")
    if not (user and view_id and isinstance(callback_id, str)):
        return None
    return Submission(
        user=user,
        team=pressed_in(body, bot),
        view_id=view_id,
        callback_id=callback_id,
        fields=unpacked(view.get("private_metadata")),
        values=mapping(mapping(view.get("state")).get("values")),
    )


def card_fields(click: Click) -> dict[str, str]:
    """Return what a form that a card opens has to bring back."""
    return dict(click.fields) | {
        "channel": click.channel,
        "message_ts": click.message_ts,
        "thread_ts": click.inside,
    }


def message_of(click: Click, type_: str, body: msgspec.Struct, *, priority: int = PRIORITY_OPERATOR) -> Message:
    """Return the message for the bus: one task for one press."""
    return Message(
        type=type_,
        sender=SENDER,
        context_id=click.context_id,
        task_id=click.task_id,
        data=fields_of(body),
        priority=priority,
    )


def pressed_in(body: Mapping[str, Any], bot: Bot) -> str:
    """Return the team of whoever pressed, which in a shared channel may be another one than ours."""
    return bot.team_named(_within(body, "user", "team_id")) or bot.team_named(_within(body, "team", "id")) or bot.team


def mapping(raw: object) -> Mapping[str, Any]:
    """Return what is a JSON object, an empty one for anything else."""
    return raw if isinstance(raw, Mapping) else {}


def text_of(raw: object) -> str:
    """Return what is a text, in a form that can be stored; empty for anything else."""
    return storable(raw) if isinstance(raw, str) else ""


def _named(action: Mapping[str, Any], ours: Callable[[str], bool]) -> bool:
    action_id = action.get("action_id")
    return isinstance(action_id, str) and len(action_id) <= ACTION_CHARACTERS and ours(action_id)


def _click(action: Mapping[str, Any], place: Mapping[str, str]) -> Click:
    label = head(unescape(text_of(mapping(action.get("text")).get("text"))), LABEL_CHARACTERS)
    option = mapping(action.get("selected_option")).get("value")
    return Click(
        action_id=str(action["action_id"]),
        action_ts=identifier(action.get("action_ts")) or place["trigger_id"][:60],
        fields=unpacked(action.get("value")) or unpacked(option),
        label=label,
        selected=_chosen(action) or text_of(option),
        block_id=text_of(action.get("block_id")),
        **place,
    )


def _chosen(answer: Mapping[str, Any]) -> str:
    return next((found for name in CHOSEN if (found := identifier(answer.get(name)))), "")


def _within(body: Mapping[str, Any], outer: str, inner: str) -> object:
    return mapping(body.get(outer)).get(inner)
