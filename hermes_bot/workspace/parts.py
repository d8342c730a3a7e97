"""The parts of a running workspace, put together; who acts in it builds on them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hermes_bot.workspace.clock import Clock
from hermes_bot.workspace.conversations import Conversations
from hermes_bot.workspace.couriers import Courier, Couriers
from hermes_bot.workspace.events import Events
from hermes_bot.workspace.feed import Change, Feed
from hermes_bot.workspace.files import FileStore
from hermes_bot.workspace.homes import Homes
from hermes_bot.workspace.ids import Ids
from hermes_bot.workspace.interactions import Interactions
from hermes_bot.workspace.modals import Modals
from hermes_bot.workspace.payloads import Payloads
from hermes_bot.workspace.people import App, Channel, World
from hermes_bot.workspace.posts import Post, PostStore
from hermes_bot.workspace.pressed import Pressed
from hermes_bot.workspace.rate_limits import RateLimits
from hermes_bot.workspace.read_marks import ReadMarks
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.response_urls import ResponseUrls
from hermes_bot.workspace.roster import Roster
from hermes_bot.workspace.schedule import Schedule
from hermes_bot.workspace.sessions import Sessions
from hermes_bot.workspace.streams import Streams
from hermes_bot.workspace.triggers import Triggers
from hermes_bot.workspace.typed_text import typed_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What a workspace needs from its server: the ways to the apps, by app id, their limits, addresses on its port."""

    couriers: Mapping[str, Courier]
    limits: RateLimits
    base_url: Callable[[], str]
    socket_url: Callable[[App], str]


class Parts:
    """The parts are public: tests look into them and change people and channels through `roster`."""

    def __init__(
        self, world: World, outside: Outside, *, clock: Clock, ids: Ids, feed: Feed, chance: random.Random
    ) -> None:
        self.app: App = world.app
        self.clock = clock
        self.ids = ids
        self.feed = feed
        self.outside = outside
        self.chance = chance
        self.couriers = Couriers(outside.couriers)
        self.roster = Roster(world, lambda: feed.publish(Change(kind="state")))
        self.posts = PostStore(clock)
        self.read_marks = ReadMarks(self.posts, feed)
        self.files = FileStore(ids, clock, outside.base_url)
        self.events = Events(self.roster, self.posts, self.couriers, outside.limits, clock, ids)
        self.conversations = Conversations(self.posts, self.events, feed)
        self.sessions = Sessions(clock, feed)
        self.streams = Streams(clock, ids, self.posts, self.conversations)
        self.schedule = Schedule(clock, ids, self.posts, self.conversations)
        self.modal_stacks = Modals(ids, feed)
        self.homes = Homes(self.roster, self.posts, self.events, ids, feed)
        self.triggers = Triggers(clock)
        self.response_urls = ResponseUrls(clock, self.posts, self.conversations, outside.base_url, world.app)
        payloads = Payloads(self.roster, self.triggers)
        self.interactions = Interactions(
            self.roster, self.posts, self.modal_stacks, self.homes, payloads, self.response_urls, self.couriers
        )
        self.pressed = Pressed(
            self.roster,
            self.posts,
            self.conversations,
            payloads,
            self.response_urls,
            self.couriers,
            lambda: ids.next("b"),
        )

    def open_to(self, user: str, channel: str) -> Channel:
        """Return the conversation when this person may write in it; raise Refusal otherwise."""
        where = self.roster.joined_by(user, channel)
        if self.roster.member(user).deactivated:
            raise Refusal("user_disabled")
        if where.archived:
            raise Refusal("is_archived")
        return where

    def typed(self, text: str) -> str:
        """Return typed text as Slack stores it."""
        return typed_text(text, self.roster.members(), self.roster.channels(), self.roster.groups())

    def message(self, channel: str, ts: str, *, parent: bool = False) -> Post:
        """Return the message; with `parent` one that can have replies."""
        post = self.posts.get(channel, ts)
        if post is None or (parent and post.thread_ts):
            raise Refusal("thread_not_found" if parent else "message_not_found")
        return post
