"""A running workspace without its HTTP: the parts put together, and what people do in it.

Tests and the client API act as people through `Workspace`; the bot acts through `methods`.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hermes_bot.workspace import wire
from hermes_bot.workspace.clock import Clock
from hermes_bot.workspace.conversations import Conversations
from hermes_bot.workspace.events import Courier, Events
from hermes_bot.workspace.feed import Change, Feed
from hermes_bot.workspace.ids import Ids
from hermes_bot.workspace.interactions import Interactions, Outcome, Values
from hermes_bot.workspace.modals import Modals
from hermes_bot.workspace.people import App, Channel, World
from hermes_bot.workspace.posts import Json, Post, PostStore
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.response_urls import ResponseUrls
from hermes_bot.workspace.roster import Roster
from hermes_bot.workspace.state_file import VERSION, SavedState
from hermes_bot.workspace.triggers import Triggers
from hermes_bot.workspace.typed_text import typed_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What a workspace needs from its server: the way to the app, and addresses on its port."""

    courier: Courier
    base_url: Callable[[], str]
    socket_url: Callable[[], str]


class Workspace:
    """The parts are public: tests look into them and change people and channels through `roster`."""

    def __init__(
        self, world: World, outside: Outside, *, clock: Clock, ids: Ids, feed: Feed, chance: random.Random
    ) -> None:
        self.app: App = world.app
        self.clock = clock
        self.ids = ids
        self.feed = feed
        self.outside = outside
        self._chance = chance
        self.roster = Roster(world, lambda: feed.publish(Change(kind="state")))
        self.posts = PostStore(clock)
        self.events = Events(self.roster, self.posts, outside.courier, clock, ids)
        self.conversations = Conversations(self.posts, self.events, feed)
        self.modal_stacks = Modals(world.app, ids, feed)
        self.triggers = Triggers(clock)
        self.response_urls = ResponseUrls(world.app, clock, self.posts, self.conversations)
        self.interactions = Interactions(
            self.roster,
            self.posts,
            self.modal_stacks,
            self.triggers,
            self.response_urls,
            outside.courier,
            outside.base_url,
        )

    def saved(self) -> SavedState:
        """Return what is to be remembered."""
        return SavedState(
            version=VERSION,
            team=self.app.team,
            channels=tuple(self.roster.channels()),
            posts=tuple(self.posts.all()),
            undelivered=tuple(self.outside.courier.undelivered()),
        )

    def restore(self, state: SavedState) -> None:
        """Take up what was remembered, before anybody is connected."""
        for channel in state.channels:
            self.roster.put_channel(channel)
        for post in sorted(state.posts, key=lambda post: post.ts):
            self.posts.add(post)
        for body in state.undelivered:
            self.outside.courier.send_event(body)

    async def post(self, user: str, channel: str, text: str, thread_ts: str = "") -> str:
        """Return the ts of what a person typed, once it is kept and its events are on their way to the app."""
        where = self._open_to(user, channel)
        if not text.strip():
            raise Refusal("no_text")
        if thread_ts:
            self._message(where.id, thread_ts, parent=True)
        post = Post(
            channel=where.id,
            ts=self.posts.next_ts(),
            user=user,
            text=self._typed(text),
            thread_ts=thread_ts,
            client_msg_id=str(uuid.UUID(int=self._chance.getrandbits(128), version=4)),
        )
        self.conversations.post(post)
        return post.ts

    async def edit(self, user: str, channel: str, ts: str, text: str) -> None:
        """Change what a person typed before."""
        old = self._own(user, channel, ts)
        new = replace(old, text=self._typed(text), edited_by=user, edited_ts=self.posts.next_ts())
        self.conversations.edit(old, new)

    async def delete(self, user: str, channel: str, ts: str) -> None:
        """Take away what a person typed before."""
        self.conversations.delete(self._own(user, channel, ts))

    async def react(self, user: str, channel: str, ts: str, name: str, *, on: bool = True) -> None:
        """Add a person's reaction, or take it away."""
        post = self._message(self._open_to(user, channel).id, ts)
        if on:
            self.conversations.react(post, user, name)
        else:
            self.conversations.unreact(post, user, name)

    async def click(
        self,
        user: str,
        channel: str,
        ts: str,
        action_id: str,
        block_id: str = "",
        *,
        value: Any = None,
        values: Values | None = None,
    ) -> Outcome:
        """Return what the person sees after clicking an element of a message or ephemeral; `value` is for selects."""
        where = self.roster.joined_by(user, channel)
        return await self.interactions.click(user, where, ts, action_id, block_id, value=value, values=values or {})

    async def click_in_view(
        self,
        user: str,
        view_id: str,
        action_id: str,
        block_id: str = "",
        *,
        value: Any = None,
        values: Values | None = None,
    ) -> Outcome:
        """Return what the person sees after clicking an element of an open modal, filled in as far as `values` says."""
        return await self.interactions.click_in_view(
            user, view_id, action_id, block_id, value=value, values=values or {}
        )

    async def submit(self, user: str, view_id: str, values: Values) -> Outcome:
        """Return what the person sees after sending a modal, filled in as `{block_id: {action_id: value}}`."""
        return await self.interactions.submit(user, view_id, values)

    async def close_view(self, user: str, view_id: str) -> Outcome:
        """Close a modal."""
        return await self.interactions.close(user, view_id)

    def open_dm(self, user: str) -> str:
        """Return the channel of the person's DM with the bot."""
        return self.roster.open_dm(user)[0].id

    def messages(self, channel: str, thread_ts: str = "") -> list[Json]:
        """Return the channel's root messages, or a thread with its parent; oldest first, on the wire's form."""
        where = self.roster.channel(channel).id
        posts = self.thread(where, thread_ts) if thread_ts else self.posts.roots(where)
        return [wire.stored(post, self.roster, self.posts, metadata=True) for post in posts]

    def thread(self, channel: str, thread_ts: str) -> list[Post]:
        """Return a parent and its replies, as far as they are there."""
        parent = self.posts.get(channel, thread_ts)
        return ([parent] if parent is not None else []) + self.posts.replies(channel, thread_ts)

    def ephemerals(self, user: str) -> list[Json]:
        """Return what the person was sent alone, each with its channel."""
        posts = self.posts.ephemerals(user)
        return [wire.stored(post, self.roster, self.posts) | {"channel": post.channel} for post in posts]

    def modals(self, user: str) -> list[Json]:
        """Return the views that the person has open, the topmost last."""
        return self.modal_stacks.of(user)

    async def wait_for(self, predicate: Callable[[], object], limit_s: float = 10.0) -> None:
        """Return once `predicate()` is true; asked again whenever something happens. TimeoutError at the limit."""
        await self.feed.wait_for(predicate, limit_s)

    def _typed(self, text: str) -> str:
        return typed_text(text, self.roster.members(), self.roster.channels(), self.roster.groups())

    def _open_to(self, user: str, channel: str) -> Channel:
        where = self.roster.joined_by(user, channel)
        if self.roster.member(user).deactivated:
            raise Refusal("user_disabled")
        if where.archived:
            raise Refusal("is_archived")
        return where

    def _message(self, channel: str, ts: str, *, parent: bool = False) -> Post:
        post = self.posts.get(channel, ts)
        if post is None or (parent and post.thread_ts):
            raise Refusal("thread_not_found" if parent else "message_not_found")
        return post

    def _own(self, user: str, channel: str, ts: str) -> Post:
        post = self._message(self._open_to(user, channel).id, ts)
        if post.user != user:
            raise Refusal("cant_update_message")
        return post
