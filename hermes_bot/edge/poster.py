"""Posts in Slack exactly once, though Slack's answer may be lost, and redraws what was posted.

Each post carries its key in its metadata (https://docs.slack.dev/messaging/message-metadata/). Where an earlier
attempt may have reached Slack, the post is looked for before it is sent anew, and a copy that turns up later is
deleted. When a failed attempt is repeated is the bus's business.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from hermes_bot.bus.port import Delivery
from hermes_bot.edge.lines import Haste, haste_of
from hermes_bot.edge.post_search import EVENT_TYPE, PostSearch
from hermes_bot.edge.posts import Post, Posts
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.edge.slack_errors import OutcomeUnknown
from hermes_bot.edge.streaming import Spoken, Streams
from hermes_bot.edge.views.look import Look, fault_in
from hermes_bot.errors import NotYet, SlackRefused, TransientError
from hermes_bot.messages.message import PRIORITY_NOTICE, Message
from hermes_bot.messages.payloads import EDGE, POST_CHECK, PostCheck, read

CHECK_AFTER = timedelta(seconds=30)
BLOCKS_REFUSED = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "invalid_arguments"})
TOO_LONG = frozenset({"msg_too_long"})
GONE = frozenset({"message_not_found", "channel_not_found", "is_archived", "is_inactive"})
NO_THREAD = frozenset({"thread_not_found", "invalid_thread_ts", "cannot_reply_to_message"})
REMEMBERED_ATTEMPTS = 10_000

log = logging.getLogger(__name__)


class ThreadGone(SlackRefused):
    """The thread that a reply was meant for is not there any more; nothing of ours stands in the channel instead."""

    def __init__(self) -> None:
        super().__init__("chat.postMessage", "thread_not_found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A post to be. `key` says which one it is; the same key is never posted twice.

    `spare` looks are tried in turn where Slack refuses the blocks, before the words alone.
    `loose`: where its thread is gone it may stand in the channel, as among staff; any other reply is taken back.
    `broadcast`: a reply in a thread is shown in the channel as well. `spoken`: it appears piece by piece, where Slack
    does that.
    """

    key: str
    channel: str
    look: Look
    thread_ts: str = ""
    ticket_id: str = ""
    in_reply_to: str = ""
    spare: tuple[Look, ...] = ()
    loose: bool = False
    broadcast: bool = False
    spoken: Spoken | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """Where the post stands, and the messages that the handler has to return."""

    post: Post
    outputs: tuple[Message, ...] = ()


class Poster:
    """Posts, whispers (ephemerals) and redraws."""

    def __init__(self, api: SlackApi, posts: Posts, *, clock: Callable[[], datetime]) -> None:
        self._api = api
        self._posts = posts
        self._clock = clock
        self._search = PostSearch(api)
        self._streams = Streams(api, posts)
        self._unsent: dict[str, int] = {}

    async def post(self, draft: Draft, message: Message, delivery: Delivery) -> Posted:
        """Return the one post with the draft's key, sent if it is not there yet.

        Raise TransientError when it is to be tried again, ThreadGone when there is nothing to reply to any more,
        SlackRefused when Slack will not have it.
        """
        known = await self._posts.find(draft.key)
        if self._surely_unsent(draft.key, delivery):
            post = known or await self._send(draft, delivery)
            return Posted(
                post=post, outputs=(self._check(draft, message, post),) if self._streams.doubtful(draft.key) else ()
            )
        if known is None:
            known = await self._adopted(draft)
        post = known or await self._send(draft, delivery)
        return Posted(post=post, outputs=(self._check(draft, message, post),))

    async def whisper(self, draft: Draft, user: str, delivery: Delivery) -> None:
        """Show the draft to one person alone; never a second time, since nobody can tell whether it was seen."""
        if not self._surely_unsent(draft.key, delivery):
            log.info("ephemeral not repeated", extra={"key": draft.key, "attempt": delivery.attempt})
            return
        place = {"channel": draft.channel, "user": user, "key": draft.key} | _thread(draft)
        try:
            await self._say("chat.postEphemeral", [draft.look], place)
        except OutcomeUnknown:
            log.warning("ephemeral may be lost", extra={"key": draft.key, "attempt": delivery.attempt})
        except TransientError as error:
            self._remember_unsent(draft.key, delivery, error)
            raise

    async def redraw(self, post: Post, looks: Sequence[Look], haste: Haste = Haste.PERSON) -> bool:
        """Show the first of the looks that Slack accepts; return False where what stood there goes on standing there.

        Raise TransientError when it is to be tried again. A post that is gone, or may not be changed, is left alone:
        how a card looks is no reason to stop what it is about.
        """
        for look in (*looks, looks[-1].plain):
            try:
                await self._update(post, look, haste)
            except SlackRefused as error:
                if error.error not in BLOCKS_REFUSED | TOO_LONG:
                    log.warning("post cannot be redrawn", extra={"key": post.key, "error": error.error})
                    return error.error in GONE
                log.warning("redraw refused, trying a shorter one", extra={"key": post.key, "error": error.error})
            else:
                return True
        return False

    async def on_check(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Delete the copies of a post whose outcome was unknown for a while; handler of `post.check`."""
        wanted = read(message, PostCheck)
        kept = await self._posts.find(wanted.key)
        if kept is None:
            return []
        for copy in await self._search.copies(
            key=wanted.key, channel=wanted.channel, thread_ts=wanted.thread_ts, since=wanted.since
        ):
            if (copy.channel, copy.ts) != (kept.channel, kept.ts):
                log.warning("copy of a post deleted", extra={"key": copy.key, "channel": copy.channel})
                await self._delete(copy)
        if wanted.thread_ts:
            await self._streams.sweep(wanted.channel, wanted.thread_ts, since=wanted.since, before=kept.ts)
        return []

    async def _adopted(self, draft: Draft) -> Post | None:
        copies = await self._search.copies(
            key=draft.key, channel=draft.channel, thread_ts=draft.thread_ts, since=draft.in_reply_to
        )
        if not copies:
            return None
        if copies[0].outside:
            await self._outside(draft, copies[0])
        log.info("post found again", extra={"key": draft.key, "channel": draft.channel})
        await self._posts.record(copies[0])
        return copies[0]

    async def _send(self, draft: Draft, delivery: Delivery) -> Post:
        payload = {"key": draft.key, "ticket": draft.ticket_id, "in_reply_to": draft.in_reply_to}
        place = {"channel": draft.channel} | _thread(draft)
        metadata = {"event_type": EVENT_TYPE, "event_payload": payload}
        if draft.spoken is not None:
            looks = [draft.look, *draft.spare]
            repeated = not self._surely_unsent(draft.key, delivery)
            spoken = await self._streams.send(draft.key, place, draft.spoken, looks, metadata, repeated=repeated)
            if spoken is not None:
                await self._posts.record(spoken)
                return spoken
        place |= {"metadata": metadata}
        try:
            answer = await self._say(
                "chat.postMessage",
                [draft.look, *draft.spare],
                place
                | {"unfurl_links": False, "unfurl_media": False}
                | {"key": draft.key, "haste": haste_of(delivery.message)},
            )
        except OutcomeUnknown:
            raise
        except TransientError as error:
            self._remember_unsent(draft.key, delivery, error)
            raise
        except SlackRefused as error:
            if not draft.thread_ts or error.error not in NO_THREAD:
                raise
            if not draft.loose:
                raise ThreadGone from error
            return await self._send(replace(draft, thread_ts=""), delivery)
        self._unsent.pop(draft.key, None)
        post = Post(key=draft.key, channel=str(answer.get("channel") or draft.channel), ts=str(answer.get("ts") or ""))
        stands = answer.get("message") or {}
        if draft.thread_ts and stands and str(stands.get("thread_ts") or "") != draft.thread_ts:
            await self._outside(draft, post)
        await self._posts.record(post)
        return post

    async def _outside(self, draft: Draft, post: Post) -> None:
        """Take back a reply that stands in the channel because its thread is gone, and raise ThreadGone."""
        log.warning("reply stands outside its thread, whose parent is gone", extra={"key": draft.key})
        if not draft.loose:
            await self._delete(post)
            raise ThreadGone

    async def _say(self, method: str, looks: Sequence[Look], arguments: dict[str, Any]) -> dict[str, Any]:
        """Send the first look that Slack takes; else the words alone, since people must not meet silence."""
        for look in looks:
            fault = fault_in(look.blocks)
            if fault:
                log.error("blocks are wrong", extra={"error": fault})
            elif look.blocks:
                try:
                    return await self._api.call(method, text=look.text, blocks=list(look.blocks), **arguments)
                except SlackRefused as error:
                    if error.error not in BLOCKS_REFUSED | TOO_LONG:
                        raise
                    log.exception("blocks were refused")
        return await self._api.call(method, text=looks[0].text, **arguments)

    async def _update(self, post: Post, look: Look, haste: Haste) -> None:
        fault = fault_in(look.blocks)
        if fault:
            raise SlackRefused("chat.update", "invalid_blocks")
        place: dict[str, Any] = {"channel": post.channel, "ts": post.ts}
        await self._api.call("chat.update", haste=haste, text=look.text, blocks=list(look.blocks), **place)

    async def _delete(self, post: Post) -> None:
        try:
            await self._api.call("chat.delete", channel=post.channel, ts=post.ts)
        except SlackRefused as error:
            log.info("copy was not deleted", extra={"key": post.key, "error": error.error})

    def _check(self, draft: Draft, message: Message, post: Post) -> Message:
        """Return the message that looks for copies later, in a lane of its own so that it holds up no reply."""
        body = PostCheck(
            key=draft.key,
            channel=post.channel,
            thread_ts=draft.thread_ts,
            since=draft.in_reply_to or draft.thread_ts,
        )
        return message.child(
            POST_CHECK,
            body,
            recipient=EDGE,
            context_id=f"{POST_CHECK}:{draft.key}",
            task_id=f"{POST_CHECK}:{draft.key}",
            priority=PRIORITY_NOTICE,
            not_before=self._clock() + CHECK_AFTER,
        )

    def _surely_unsent(self, key: str, delivery: Delivery) -> bool:
        """Return whether no earlier attempt can have reached Slack: a first one, or all were turned away here."""
        first = delivery.attempt == 1 and not delivery.redelivered
        return first or self._unsent.get(key) == delivery.attempt - 1

    def _remember_unsent(self, key: str, delivery: Delivery, error: TransientError) -> None:
        """Keep which attempt it was; one that only waited for its turn is made again under its number."""
        if not self._surely_unsent(key, delivery):
            return
        if len(self._unsent) >= REMEMBERED_ATTEMPTS:
            self._unsent.clear()
        self._unsent[key] = delivery.attempt - isinstance(error, NotYet)


def _thread(draft: Draft) -> dict[str, Any]:
    if not draft.thread_ts:
        return {}
    return {"thread_ts": draft.thread_ts} | ({"reply_broadcast": True} if draft.broadcast else {})
