"""Turns an event of Slack's into a message for the bus, or into nothing. Pure: no call leaves from here.

The pair `app_mention` and `message` for one text has one task id, so that the bus handles one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from hermes_bot.edge.channels import ChannelPolicy, Mode
from hermes_bot.edge.files import named_files
from hermes_bot.edge.spoken import own_words, reported, spoken
from hermes_bot.edge.text import decode, mentions, quotes_mention
from hermes_bot.messages.message import PRIORITY_USER, Chain, Message
from hermes_bot.messages.payloads import TICKET_CREATED, TICKET_REPLIED, Inbound, fields_of, said_once

SENDER = "slack"
SLACKBOT = "USLACKBOT"
BOT_MESSAGE = "bot_message"
SPOKEN_SUBTYPES = frozenset({"", "file_share", "thread_broadcast", "me_message"})
CHANNEL_TYPES = frozenset({"channel", "group", "im", "mpim"})
MAX_ID_CHARACTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """Who the bot is in this workspace, as auth.test said at the start; `enterprise` is empty for a team of its own."""

    team: str
    user: str
    bot: str = ""
    enterprise: str = ""

    def team_named(self, raw: object) -> str:
        """Return a team's id; our own team where our enterprise is named in its place, as Slack does in big companies.

        Whether somebody of the enterprise is of our team says the directory.
        """
        named = identifier(raw)
        return self.team if named and named == self.enterprise else named


def read_event(body: Mapping[str, Any], *, bot: Bot, policy: ChannelPolicy) -> Message | None:
    """Return `ticket.created` or `ticket.replied` for what a person wrote to us; None for everything else."""
    event = body.get("event")
    if not isinstance(event, Mapping) or _posted_by_us(event, body):
        return None
    if not (_spoken_by_a_person(event, bot) or _by_a_webhook(event, bot, policy)):
        return None
    heard = _inbound(event, team_of(body, bot), bot, policy)
    inbound = _admitted(heard, policy) if heard is not None else None
    if inbound is None:
        return None
    return Message(
        type=TICKET_REPLIED if inbound.thread_ts else TICKET_CREATED,
        sender=SENDER,
        context_id=context_id(inbound),
        task_id=said_once(inbound),
        data=fields_of(inbound),
        priority=PRIORITY_USER,
        context_chain=Chain(text=inbound.text),
    )


def context_id(inbound: Inbound) -> str:
    """Return the conversation: the thread, or the direct message as a whole where it is not threaded."""
    return conversation(inbound.team, inbound.channel, inbound.channel_type, inbound.thread_ts, inbound.ts)


def conversation(team: str, channel: str, channel_type: str, thread_ts: str, ts: str) -> str:
    """Return the context of a message that stands there."""
    if channel_type == "im" and not thread_ts:
        return f"{team}:{channel}"
    return f"{team}:{channel}:{thread_ts or ts}"


def identifier(raw: object) -> str:
    """Return an id of Slack's (a ts included) as it came, empty where it cannot be one."""
    fits = isinstance(raw, str) and len(raw) <= MAX_ID_CHARACTERS and raw.isascii() and raw.isprintable()
    return raw if isinstance(raw, str) and fits and ":" not in raw and " " not in raw else ""


def _spoken_by_a_person(event: Mapping[str, Any], bot: Bot) -> bool:
    """Return False for our own posts, other bots and webhooks, edits, deletions, counters and joins."""
    subtype = event.get("subtype") or ""
    if event.get("type") not in ("message", "app_mention"):
        return False
    if not isinstance(subtype, str) or subtype not in SPOKEN_SUBTYPES:
        return False
    if event.get("hidden") or event.get("bot_id") or event.get("bot_profile"):
        return False
    if event.get("type") == "app_mention" and event.get("edited"):  # an edit, and read as one
        return False
    return event.get("user") not in (None, "", SLACKBOT, bot.user)


def _posted_by_us(event: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    """Return whether our own app posted it, in whoever's name."""
    ours = identifier(body.get("api_app_id"))
    return bool(ours) and event.get("app_id") == ours


def team_of(body: Mapping[str, Any], bot: Bot) -> str:
    """Return the team that the event was sent to: never `team_id`, which in shared channels is the author's."""
    authorizations = body.get("authorizations")
    first = authorizations[0] if isinstance(authorizations, list) and authorizations else None
    authorized = bot.team_named(first.get("team_id")) if isinstance(first, Mapping) else ""
    return authorized or bot.team_named(body.get("context_team_id")) or bot.team


def _by_a_webhook(event: Mapping[str, Any], bot: Bot, policy: ChannelPolicy) -> bool:
    """Return whether another program posted it, in a channel where such posts are wanted; never for a reply."""
    by = identifier(event.get("bot_id"))
    said = event.get("subtype") in (None, "", BOT_MESSAGE)  # the older and the newer way to post
    wanted = event.get("type") == "message" and said and not event.get("hidden")
    ours = by in ("", bot.bot) or event.get("user") == bot.user or bool(event.get("thread_ts"))
    return wanted and not ours and identifier(event.get("channel")) in policy.webhooks


def _inbound(event: Mapping[str, Any], team: str, bot: Bot, policy: ChannelPolicy) -> Inbound | None:
    channel, ts = identifier(event.get("channel")), identifier(event.get("ts"))
    program = event.get("bot_id")
    user = identifier(program or event.get("user"))
    if not (channel and user and ts):
        return None
    text, own = reported(event) if program else spoken(event), own_words(event)
    thread_ts = identifier(event.get("thread_ts"))
    return Inbound(
        team=team,
        channel=channel,
        channel_type=channel_type_of(event, channel),
        ts=ts,
        user=user,
        text=decode(text, bot_user=bot.user),
        user_team=bot.team_named(event.get("user_team")) or bot.team_named(event.get("team")),
        thread_ts="" if thread_ts == ts else thread_ts,
        mentioned=mentions(own, bot.user)  # whom a quote names is not called
        or (event.get("type") == "app_mention" and not quotes_mention(own, bot.user)),
        files=named_files(event, policy.files),
    )


def channel_type_of(event: Mapping[str, Any], channel: str) -> str:
    """Return the kind of conversation; app_mention may not say it."""
    given = event.get("channel_type")
    if isinstance(given, str) and given in CHANNEL_TYPES:
        return given
    return {"D": "im", "G": "group"}.get(channel[0], "channel")


def _admitted(inbound: Inbound, policy: ChannelPolicy) -> Inbound | None:
    """Return what the channel's mode takes.

    Where the bot listens to mentions, a reply in a thread passes too, marked `known_only`: whether the thread has a
    ticket is known to the store, and the acknowledgement must not wait for a look-up.
    """
    mode = policy.mode(inbound.channel, inbound.channel_type)
    if mode is Mode.OFF:
        return None
    if mode is Mode.EVERY or inbound.mentioned:
        return inbound
    return structs.replace(inbound, known_only=True) if inbound.thread_ts else None
