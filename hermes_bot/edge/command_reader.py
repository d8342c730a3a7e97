"""Turns slash commands, shortcuts and opened tabs into messages for the bus. Pure: no call leaves from here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hermes_bot.edge.clicks import mapping, pressed_in, text_of
from hermes_bot.edge.files import named_files
from hermes_bot.edge.inbound import SENDER, SLACKBOT, Bot, identifier, team_of
from hermes_bot.edge.manifest import SHORTCUT_EXPLAIN, SHORTCUT_TICKET
from hermes_bot.edge.spoken import spoken
from hermes_bot.edge.text import clipped, decode
from hermes_bot.messages.message import PRIORITY_OPERATOR, PRIORITY_USER, Message
from hermes_bot.messages.payloads import fields_of
from hermes_bot.messages.surface_payloads import (
    COMMAND_GIVEN,
    HOME_OPENED,
    PROMPTS_WANTED,
    SHORTCUT_USED,
    Command,
    Home,
    Prompts,
    Shortcut,
)

MOST_CHARACTERS = 4_000
HOME_EVENT = "app_home_opened"
THREAD_EVENT = "assistant_thread_started"  # the assistant view's, before there was the agent view
_USER = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>")


def read_command(body: Mapping[str, Any], *, bot: Bot) -> Message | None:
    """Return `command.given`; None for what is no command of a person's."""
    user, channel = identifier(body.get("user_id")), identifier(body.get("channel_id"))
    if not user:
        return None
    team = bot.team_named(body.get("team_id")) or bot.team
    raw = clipped(text_of(body.get("text")), MOST_CHARACTERS)
    named = _USER.search(raw)
    command = Command(
        text=decode(raw),
        user=user,
        team=team,
        channel=channel,
        mentioned=named[1] if named else "",
        response_url=text_of(body.get("response_url")),
    )
    once = identifier(body.get("trigger_id"))
    return Message(
        type=COMMAND_GIVEN,
        sender=SENDER,
        context_id=f"command:{team}:{user}",
        task_id=f"command:{team}:{user}:{once}" if once else "",
        data=fields_of(command),
        priority=PRIORITY_OPERATOR,
    )


def read_shortcut(body: Mapping[str, Any], *, bot: Bot) -> Message | None:
    """Return `shortcut.used` for one of ours, of a message; None for anything else."""
    user, message = identifier(mapping(body.get("user")).get("id")), mapping(body.get("message"))
    channel, ts = identifier(mapping(body.get("channel")).get("id")), identifier(message.get("ts"))
    named = body.get("callback_id")
    if named not in (SHORTCUT_TICKET, SHORTCUT_EXPLAIN) or not (user and channel and ts):
        return None
    thread_ts = identifier(message.get("thread_ts"))
    author = identifier(message.get("user"))
    by_a_bot = bool(message.get("bot_id")) or author in (SLACKBOT, bot.user)
    shortcut = Shortcut(
        shortcut=str(named),
        user=user,
        team=pressed_in(body, bot),
        channel=channel,
        ts=ts,
        author="" if by_a_bot else author,
        author_team=bot.team_named(message.get("user_team")) or bot.team_named(message.get("team")),
        text=decode(spoken(message), bot_user=bot.user),
        thread_ts="" if thread_ts == ts else thread_ts,
        files=named_files(message),
        response_url=text_of(body.get("response_url")),
    )
    once = identifier(body.get("trigger_id")) or identifier(body.get("action_ts"))
    return Message(
        type=SHORTCUT_USED,
        sender=SENDER,
        context_id=f"command:{shortcut.team}:{user}",
        task_id=f"shortcut:{shortcut.team}:{user}:{channel}:{ts}:{once}" if once else "",
        data=fields_of(shortcut),
        priority=PRIORITY_OPERATOR,
    )


def read_opened(body: Mapping[str, Any], *, bot: Bot) -> Message | None:
    """Return what follows when somebody opens the app: `home.opened`, or `prompts.wanted`; None for anything else."""
    event = mapping(body.get("event"))
    thread = mapping(event.get("assistant_thread")) if event.get("type") == THREAD_EVENT else {}
    user = identifier(thread.get("user_id") if thread else event.get("user"))
    channel = identifier(thread.get("channel_id") if thread else event.get("channel"))
    if not (thread or event.get("type") == HOME_EVENT) or not user or user == bot.user:
        return None
    team = team_of(body, bot)
    once = identifier(body.get("event_id")) or identifier(event.get("event_ts"))
    if event.get("tab") == "home":
        type_, data = HOME_OPENED, fields_of(Home(user=user, team=team))
    elif (thread or event.get("tab") == "messages") and channel:
        thread_ts = identifier(thread.get("thread_ts"))
        type_, data = PROMPTS_WANTED, fields_of(Prompts(channel=channel, user=user, team=team, thread_ts=thread_ts))
    else:
        return None
    return Message(
        type=type_,
        sender=SENDER,
        context_id=home_lane(team, user),
        task_id=f"opened:{team}:{user}:{once}" if once else "",
        data=data,
        priority=PRIORITY_USER,
    )


def home_lane(team: str, user: str) -> str:
    """Return the lane of all that draws this person's Home: the newest state is drawn last."""
    return f"home:{team}:{user}"
