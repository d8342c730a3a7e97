"""A running workspace without its HTTP: what people do in it, what there is to see, and what is remembered.

Tests and the client API act as people through `Workspace`; the apps act through `methods`.
"""

from __future__ import annotations

from collections.abc import Callable

from hermes_bot.workspace import wire
from hermes_bot.workspace.oddities import Oddities
from hermes_bot.workspace.parts import Outside, Parts
from hermes_bot.workspace.posts import Json, Post
from hermes_bot.workspace.pressing import Pressing
from hermes_bot.workspace.staffing import Staffing
from hermes_bot.workspace.state_file import VERSION, SavedState
from hermes_bot.workspace.writing import Writing

__all__ = ["Outside", "Workspace"]


class Workspace(Writing, Pressing, Staffing, Parts):
    """The whole: people write and press here, and tests look into its parts."""

    @property
    def odd(self) -> Oddities:
        """What happens in Slack without anybody of this workspace doing it: webhooks, unfurls, forwards, counters."""
        return Oddities(self)

    def saved(self) -> SavedState:
        """Return what is to be remembered."""
        return SavedState(
            version=VERSION,
            team=self.app.team,
            channels=tuple(self.roster.channels()),
            posts=tuple(self.posts.all()),
            undelivered=tuple(self.couriers.undelivered()),
            files=tuple(self.files.remembered()),
            read_marks=self.read_marks.saved(),
        )

    def restore(self, state: SavedState) -> None:
        """Take up what was remembered, before anybody is connected."""
        for channel in state.channels:
            self.roster.put_channel(channel)
        for post in sorted(state.posts, key=lambda post: post.ts):
            self.posts.add(post)
        for file in state.files:
            self.files.recall(file)
        self.read_marks.restore(state.read_marks)
        for body in state.undelivered:
            self.couriers.send_again(body)

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

    async def wait_for(self, predicate: Callable[[], object], limit_s: float = 30.0) -> None:
        """Return once `predicate()` is true; asked again whenever something happens. TimeoutError at the limit."""
        await self.feed.wait_for(predicate, limit_s)
