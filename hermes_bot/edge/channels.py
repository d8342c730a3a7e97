"""Which conversations the bot listens to, and how; names are turned into ids once, at the start."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from hermes_bot.edge.files import FileRules
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.errors import SettingsError, SlackRefused

_ID = re.compile(r"[CGD][A-Z0-9]{2,}")
MAX_CHANNEL_PAGES = 50
APPROVALS = "approvals.channel"

log = logging.getLogger(__name__)


class Mode(StrEnum):
    """How much of a channel the bot takes."""

    EVERY = "every"
    MENTIONS = "mentions"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelPolicy:
    """`slack.*` and the channels of `approvals` in the settings; ids or names until `resolved`.

    `support_channels` empty: every channel the bot is in. `approvals_channels` are those that `approvals.channel` and
    the rules name, `cards` their ids by these names once resolved, and `ids` those of `slack.channels`. What other
    programs post in `webhooks` is heard, and `files` says of which files the link is kept.
    """

    support_channels: tuple[str, ...] = ()
    handoff_channel: str = ""
    approvals_channels: tuple[str, ...] = ()
    cards: Mapping[str, str] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, Mode] = field(default_factory=dict)
    webhooks: frozenset[str] = frozenset()
    files: FileRules = field(default_factory=FileRules)

    def mode(self, channel: str, channel_type: str) -> Mode:
        """Return how the bot listens there.

        Never where cards are posted; always in a direct message; outside the support channels to mentions alone,
        because nobody who calls the bot by its name should meet silence.
        """
        if channel in (self.handoff_channel, *self.cards.values()):
            return Mode.OFF
        if channel_type == "im":
            return Mode.EVERY
        if channel in self.modes:
            return self.modes[channel]
        return Mode.EVERY if not self.support_channels or channel in self.support_channels else Mode.MENTIONS

    def card_channel(self, name: str) -> str:
        """Return the id of a channel that `approvals` names."""
        return self.cards.get(name, name)


async def resolved(policy: ChannelPolicy, api: SlackApi) -> ChannelPolicy:
    """Return the policy with ids alone.

    Raise SettingsError for a name that the bot cannot see, and for a channel of cards that it may not post to.
    """
    ids: Mapping[str, str] = {}
    if not all(_ID.fullmatch(name) for name in _names(policy)):
        ids = await _ids_by_name(api)
    found = replace(
        policy,
        support_channels=tuple(_id(name, ids, "slack.support_channels") for name in policy.support_channels),
        handoff_channel=_id(policy.handoff_channel, ids, "slack.handoff_channel"),
        cards={name: _id(name, ids, APPROVALS) for name in policy.approvals_channels},
        ids={name: _id(name, ids, "slack.channels") for name in policy.modes},
        modes={_id(name, ids, "slack.channels"): mode for name, mode in policy.modes.items()},
        webhooks=frozenset(_id(name, ids, "slack.channels") for name in policy.webhooks),
    )
    await _postable(found.handoff_channel, policy.handoff_channel, "slack.handoff_channel", api)
    for name, channel in found.cards.items():
        if channel in found.support_channels:
            raise SettingsError(f"{APPROVALS} names {name!r}, which customers write in: choose another", key=APPROVALS)
        if channel != found.handoff_channel:
            await _postable(channel, name, APPROVALS, api)
    return found


async def channel_ids(keys: Mapping[str, str], api: SlackApi) -> dict[str, str]:
    """Return the id of each channel in `keys`, an id or a name and the setting that names it.

    Raise SettingsError for a name that the bot cannot see.
    """
    ids: Mapping[str, str] = {}
    if not all(_ID.fullmatch(name) for name in keys):
        ids = await _ids_by_name(api)
    return {name: _id(name, ids, key) for name, key in keys.items()}


def shared_outside(about: Mapping[str, Any]) -> bool:
    """Return whether another company reads the channel, or is invited to, by what conversations.info says of it."""
    return bool(about.get("is_ext_shared") or about.get("is_pending_ext_shared") or about.get("pending_shared"))


async def _postable(channel: str, name: str, key: str, api: SlackApi) -> None:
    """Raise SettingsError unless the bot is in the channel: found out here, and not with the first ticket at night."""
    if not _ID.fullmatch(channel):
        return
    try:
        about = (await api.call("conversations.info", channel=channel)).get("channel") or {}
    except SlackRefused as error:
        if error.error != "channel_not_found":
            log.warning("whether the bot may post in %s is not known", name, extra={"key": key, "error": error.error})
            return
        about = {"is_member": False}
    if about.get("is_archived"):
        raise SettingsError(f"{key} names {name!r}, which is archived: choose another channel", key=key)
    if shared_outside(about):
        raise SettingsError(f"{key} names {name!r}, which another company reads as well: choose another", key=key)
    if not about.get("is_member", True):
        raise SettingsError(f"{key} names {name!r}, but the bot is not in such a channel: invite it there", key=key)


def _names(policy: ChannelPolicy) -> list[str]:
    single = [policy.handoff_channel] if policy.handoff_channel else []
    return [*policy.support_channels, *policy.modes, *policy.approvals_channels, *single]


def _id(name: str, ids: Mapping[str, str], key: str) -> str:
    if not name or _ID.fullmatch(name):
        return name
    try:
        return ids[name.removeprefix("#")]
    except KeyError:
        raise SettingsError(
            f"{key} names {name!r}, but there is no channel of that name that the bot can see: "
            "use its id, or invite the bot first",
            key=key,
        ) from None


async def _ids_by_name(api: SlackApi) -> dict[str, str]:
    ids: dict[str, str] = {}
    listing = api.pages(
        "conversations.list",
        "channels",
        max_pages=MAX_CHANNEL_PAGES,
        types="public_channel,private_channel",
        exclude_archived=True,
    )
    try:
        async for page in listing:
            ids |= {str(channel.get("name")): str(channel.get("id")) for channel in page}
    except SlackRefused as error:
        raise SettingsError(
            f"Slack does not list its channels ({error.error}): give the bot the scopes of `hermes-bot manifest`, or "
            "name channels by their ids"
        ) from error
    return ids
