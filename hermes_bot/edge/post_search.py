"""Finds posts of ours in Slack by the key in their metadata."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hermes_bot.edge.posts import Post
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.errors import SlackRefused

EVENT_TYPE = "hermes_post"
GONE = frozenset({"thread_not_found", "message_not_found"})
UNREADABLE = frozenset({"unknown_method", "missing_scope"})

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy(Post):
    """A post that was found. `outside`: it stands in the channel though it was meant for a thread."""

    outside: bool = False


class PostSearch:
    """Reads a thread, or the newest pages of a channel, to a bound of about two thousand messages."""

    def __init__(self, api: SlackApi) -> None:
        self._api = api

    async def copies(self, *, key: str, channel: str, thread_ts: str = "", since: str = "") -> list[Copy]:
        """Return the posts with this key, oldest first.

        `since` is the ts of a message that they must follow. A reply whose thread is gone stands in the channel,
        so that is read too. Times are Slack's alone: our clock may be wrong.
        """
        found = await self._in_thread(key, channel, thread_ts, since) if thread_ts else []
        if not found:
            posts = await self._in_channel(key, channel, since)
            found = [replace(post, outside=bool(thread_ts)) for post in posts]
        return sorted(found, key=lambda post: post.ts)

    async def unwritten(self, channel: str, thread_ts: str, since: str) -> list[Post]:
        """Return the messages in a thread that somebody began to stream and that hold nothing, oldest first."""
        place: dict[str, Any] = {"channel": channel, "ts": thread_ts, **_after(since or thread_ts)}
        try:
            found = [
                Post(key="", channel=channel, ts=str(message.get("ts")))
                async for page in self._api.pages("conversations.replies", "messages", **place)
                for message in page
                if _unwritten(message)
            ]
        except SlackRefused as error:
            if not _nothing_there(error):
                raise
            return []
        return sorted(found, key=lambda post: post.ts)

    async def _in_thread(self, key: str, channel: str, thread_ts: str, since: str) -> list[Copy]:
        try:
            return await self._in(
                "conversations.replies", key, channel=channel, ts=thread_ts, **_after(since or thread_ts)
            )
        except SlackRefused as error:
            if not _nothing_there(error):
                raise
            return []

    async def _in_channel(self, key: str, channel: str, since: str) -> list[Copy]:
        try:
            return await self._in("conversations.history", key, channel=channel, **_after(since))
        except SlackRefused as error:
            if not _nothing_there(error):
                raise
            return []

    async def _in(self, method: str, key: str, *, channel: str, **arguments: Any) -> list[Copy]:
        pages = self._api.pages(method, "messages", channel=channel, include_all_metadata=True, **arguments)
        return [
            Copy(key=key, channel=channel, ts=str(message.get("ts")))
            async for page in pages
            for message in page
            if _key(message) == key
        ]


def _nothing_there(error: SlackRefused) -> bool:
    """Return whether a search ends without a find: the thread is gone, or Slack does not let us look.

    A post that may be there already is then sent anew: twice said is better than not at all.
    """
    if error.code in UNREADABLE:
        log.warning("posts cannot be looked for", extra={"method": error.method, "error": error.error})
    return error.code in GONE | UNREADABLE


def _after(ts: str) -> dict[str, Any]:
    return {"oldest": ts} if ts else {}


def _unwritten(message: Any) -> bool:
    if not isinstance(message, Mapping) or not (message.get("bot_id") or message.get("streaming_state")):
        return False
    return not any(message.get(part) for part in ("text", "blocks", "attachments", "files", "metadata"))


def _key(message: Any) -> str:
    metadata = message.get("metadata") if isinstance(message, Mapping) else None
    if not isinstance(metadata, Mapping) or metadata.get("event_type") != EVENT_TYPE:
        return ""
    payload = metadata.get("event_payload")
    return str(payload.get("key") or "") if isinstance(payload, Mapping) else ""
