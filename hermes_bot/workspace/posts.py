"""What is said in the workspace: messages in channels and threads, and ephemerals, as values in a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hermes_bot.workspace.clock import Clock
from hermes_bot.workspace.refusal import Refusal

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One message.

    `ts` is seconds and six digits. `thread_ts` is the parent's ts in a reply and empty in a root; `seen_by` is set in
    an ephemeral. `streaming` is Slack's `streaming_state` of a message that is, or was, written piece by piece, and
    `recipient` whoever sees its text meanwhile. `bot_id` names the author of a webhook's message, which has no user.
    """

    channel: str
    ts: str
    user: str
    text: str = ""
    blocks: tuple[Json, ...] = ()
    thread_ts: str = ""
    bot: bool = False
    username: str = ""
    subtype: str = ""
    client_msg_id: str = ""
    metadata: Mapping[str, Any] | None = None
    attachments: tuple[Json, ...] = ()
    files: tuple[Json, ...] = ()
    edited_ts: str = ""
    edited_by: str = ""
    reactions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    broadcast: bool = False
    seen_by: str = ""
    bot_id: str = ""
    streaming: str = ""
    recipient: str = ""

    @property
    def tombstone(self) -> bool:
        """Whether this stands for a deleted parent whose replies remain."""
        return self.subtype == "tombstone"

    def with_reaction(self, name: str, user: str) -> Post:
        """Return the post with the person's reaction added."""
        users = dict(self.reactions)
        users[name] = (*users.get(name, ()), user)
        return replace(self, reactions=tuple(users.items()))

    def without_reaction(self, name: str, user: str) -> Post:
        """Return the post with the person's reaction taken away."""
        left = {key: tuple(one for one in users if key != name or one != user) for key, users in self.reactions}
        return replace(self, reactions=tuple((key, users) for key, users in left.items() if users))

    def reacted(self, name: str) -> tuple[str, ...]:
        """Return the people who reacted with `name`."""
        return dict(self.reactions).get(name, ())


class PostStore:
    """Every message, by channel and ts; ts are unique in the whole workspace and grow."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last_us = 0
        self._channels: dict[str, dict[str, Post]] = {}
        self._threads: dict[tuple[str, str], list[str]] = {}
        self._ephemerals: dict[str, dict[str, Post]] = {}

    def next_ts(self) -> str:
        """Return a new ts: the time in seconds with six digits, later than every other."""
        self._last_us = max(int(self._clock.now() * 1_000_000), self._last_us + 1)
        return f"{self._last_us // 1_000_000}.{self._last_us % 1_000_000:06d}"

    def add(self, post: Post) -> None:
        """Keep a new message."""
        seconds, _, fraction = post.ts.partition(".")
        self._last_us = max(self._last_us, int(seconds) * 1_000_000 + int(fraction or 0))
        if post.seen_by:
            self._ephemerals.setdefault(post.seen_by, {})[post.ts] = post
            return
        self._channels.setdefault(post.channel, {})[post.ts] = post
        if post.thread_ts:
            self._threads.setdefault((post.channel, post.thread_ts), []).append(post.ts)

    def replace(self, post: Post) -> None:
        """Keep a changed message in the place of the one with its ts."""
        place = self._ephemerals[post.seen_by] if post.seen_by else self._channels[post.channel]
        place[post.ts] = post

    def remove(self, post: Post) -> None:
        """Forget a message."""
        if post.seen_by:
            self._ephemerals[post.seen_by].pop(post.ts, None)
            return
        self._channels[post.channel].pop(post.ts, None)
        if post.thread_ts:
            self._threads[(post.channel, post.thread_ts)].remove(post.ts)

    def get(self, channel: str, ts: str) -> Post | None:
        """Return the message, or None."""
        return self._channels.get(channel, {}).get(ts)

    def ephemeral(self, user: str, channel: str, ts: str) -> Post | None:
        """Return the ephemeral that the person was sent in the channel, or None."""
        post = self._ephemerals.get(user, {}).get(ts)
        return post if post is not None and post.channel == channel else None

    def seen(self, user: str, channel: str, ts: str) -> Post:
        """Return the message, or the ephemeral that this person was sent; raise Refusal when there is neither."""
        post = self.get(channel, ts) or self.ephemeral(user, channel, ts)
        if post is None:
            raise Refusal("message_not_found")
        return post

    def roots(self, channel: str) -> list[Post]:
        """Return the channel's root messages and broadcast replies, oldest first."""
        return [post for post in self._channels.get(channel, {}).values() if not post.thread_ts or post.broadcast]

    def replies(self, channel: str, ts: str) -> list[Post]:
        """Return the replies to the message `ts`, oldest first."""
        return [self._channels[channel][reply] for reply in self._threads.get((channel, ts), ())]

    def ephemerals(self, user: str, channel: str = "") -> list[Post]:
        """Return what the person was sent alone, oldest first; in one channel when one is named."""
        return [post for post in self._ephemerals.get(user, {}).values() if channel in ("", post.channel)]

    def all(self) -> list[Post]:
        """Return every message and every ephemeral."""
        kept = [*self._channels.values(), *self._ephemerals.values()]
        return [post for posts in kept for post in posts.values()]
