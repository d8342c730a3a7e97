"""Turns what happens to a message after it was written into messages for the bus: edits, deletions, Stop. Pure.

`message_changed` also tells of unfurled links, reply counters, our own redraws, and of a deleted parent of a thread,
which becomes a tombstone (https://docs.slack.dev/reference/events/message/message_changed/). People's own edits count.
An edit that calls the bot comes as an `app_mention` as well, with `edited`; both are one task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes_bot.edge.channels import ChannelPolicy, Mode
from hermes_bot.edge.inbound import (
    SENDER,
    SLACKBOT,
    SPOKEN_SUBTYPES,
    Bot,
    channel_type_of,
    conversation,
    identifier,
    team_of,
)
from hermes_bot.edge.spoken import own_words, spoken
from hermes_bot.edge.text import decode, mentions
from hermes_bot.messages.message import PRIORITY_OPERATOR, PRIORITY_USER, Chain, Message
from hermes_bot.messages.payloads import fields_of
from hermes_bot.messages.ticket_payloads import AGENT_STOPPED, TICKET_DELETED, TICKET_EDITED, Deleted, Edited, Stopped

CHANGED, GONE, TOMBSTONE = "message_changed", "message_deleted", "tombstone"
STOP_EVENT = "agent_session_stopped"


def read_change(body: Mapping[str, Any], *, bot: Bot, policy: ChannelPolicy) -> Message | None:
    """Return `ticket.edited`, `ticket.deleted` or `agent.stopped`; None for everything else."""
    event = body.get("event")
    if not isinstance(event, Mapping):
        return None
    channel = identifier(event.get("channel"))
    if not channel or policy.mode(channel, channel_type_of(event, channel)) is Mode.OFF:
        return None
    team = team_of(body, bot)
    if event.get("type") == STOP_EVENT:
        return _stopped(event, team, channel)
    mode = policy.mode(channel, channel_type_of(event, channel))
    if event.get("type") == "app_mention" and event.get("edited"):
        return _edited(event, event, {}, team, channel, bot, mode)
    if event.get("type") != "message":
        return None
    now, before = _mapping(event.get("message")), _mapping(event.get("previous_message"))
    if event.get("subtype") == GONE:
        return _deleted(event, before, team, channel, event.get("deleted_ts") or before.get("ts"), bot)
    if event.get("subtype") != CHANGED:
        return None
    if now.get("subtype") == TOMBSTONE or (now.get("user") == SLACKBOT and _by_a_person(before, bot)):
        return _deleted(event, {"thread_ts": now.get("thread_ts"), **before}, team, channel, now.get("ts"), bot)
    return _edited(event, now, before, team, channel, bot, mode)


def _edited(
    event: Mapping[str, Any],
    now: Mapping[str, Any],
    before: Mapping[str, Any],
    team: str,
    channel: str,
    bot: Bot,
    mode: Mode,
) -> Message | None:
    user, ts, edit = identifier(now.get("user")), identifier(now.get("ts")), _mapping(now.get("edited"))
    if not (user and ts and _by_a_person(now, bot)) or edit.get("user") not in (None, "", user):
        return None
    text, previous = _words(now, bot), _words(before, bot)
    called = mode is Mode.MENTIONS and _calls(now, bot) and not _calls(before, bot)
    if (text == previous and not called) or (not before and not edit):
        return None
    body = Edited(
        team=team,
        channel=channel,
        ts=ts,
        user=user,
        text=text,
        previous=previous,
        thread_ts=_thread(now, ts),
        channel_type=channel_type_of(event, channel),
        user_team=bot.team_named(now.get("user_team")) or bot.team_named(now.get("team")),
        mentioned=called,
    )
    moment = identifier(edit.get("ts")) or identifier(event.get("event_ts")) or identifier(event.get("ts"))
    return _message(TICKET_EDITED, body, ts, f"edited:{moment}", text)


def _calls(message: Mapping[str, Any], bot: Bot) -> bool:
    """Return whether the person's own words mention the bot; whom they quote calls nobody."""
    return mentions(own_words(message), bot.user)


def _deleted(
    event: Mapping[str, Any], before: Mapping[str, Any], team: str, channel: str, raw_ts: object, bot: Bot
) -> Message | None:
    ts = identifier(raw_ts)
    if not ts or (before.get("user") and not _by_a_person(before, bot)) or before.get("bot_id"):
        return None
    body = Deleted(
        team=team,
        channel=channel,
        ts=ts,
        user=identifier(before.get("user")),
        thread_ts=_thread(before, ts),
        channel_type=channel_type_of(event, channel),
    )
    return _message(TICKET_DELETED, body, ts, "deleted")


def _stopped(event: Mapping[str, Any], team: str, channel: str) -> Message | None:
    user, thread_ts = identifier(event.get("user")), identifier(event.get("thread_ts"))
    if not user:
        return None
    moment = identifier(event.get("event_ts")) or identifier(event.get("ts"))
    stopped = f"{team}:{channel}:{thread_ts}" if thread_ts else f"{team}:{channel}"
    return Message(
        type=AGENT_STOPPED,
        sender=SENDER,
        context_id=f"stop:{stopped}",
        task_id=f"{SENDER}:{stopped}:stopped:{moment}" if moment else "",
        data=fields_of(Stopped(team=team, channel=channel, thread_ts=thread_ts, user=user, conversation=stopped)),
        priority=PRIORITY_OPERATOR,
    )


def _message(type_: str, body: Edited | Deleted, ts: str, what: str, text: str = "") -> Message:
    return Message(
        type=type_,
        sender=SENDER,
        context_id=conversation(body.team, body.channel, body.channel_type, body.thread_ts, ts),
        task_id=f"{SENDER}:{body.team}:{body.channel}:{ts}:{what}",
        data=fields_of(body),
        priority=PRIORITY_USER,
        context_chain=Chain(text=text),
    )


def _by_a_person(message: Mapping[str, Any], bot: Bot) -> bool:
    subtype = message.get("subtype") or ""
    if not isinstance(subtype, str) or subtype not in SPOKEN_SUBTYPES or message.get("bot_id"):
        return False
    return message.get("user") not in (None, "", SLACKBOT, bot.user)


def _words(message: Mapping[str, Any], bot: Bot) -> str:
    return decode(spoken(message), bot_user=bot.user)


def _thread(message: Mapping[str, Any], ts: str) -> str:
    thread_ts = identifier(message.get("thread_ts"))
    return "" if thread_ts == ts else thread_ts


def _mapping(raw: object) -> Mapping[str, Any]:
    return raw if isinstance(raw, Mapping) else {}
