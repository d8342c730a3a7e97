"""Messages that an app wants posted later."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hermes_bot.workspace.clock import Clock, Timer
from hermes_bot.workspace.conversations import Conversations
from hermes_bot.workspace.ids import Ids
from hermes_bot.workspace.posts import Post, PostStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """One message that waits for its time."""

    id: str
    post: Post
    post_at: int
    timer: Timer


class Schedule:
    """The messages that wait, on the workspace's clock; they end with the process."""

    def __init__(self, clock: Clock, ids: Ids, posts: PostStore, conversations: Conversations) -> None:
        self._clock = clock
        self._ids = ids
        self._posts = posts
        self._conversations = conversations
        self._waiting: dict[str, Scheduled] = {}

    def add(self, post: Post, post_at: int) -> Scheduled:
        """Return the message as it waits for `post_at`."""
        id_ = self._ids.next("Q")
        timer = self._clock.call_later(post_at - self._clock.now(), lambda: self._due(id_))
        self._waiting[id_] = Scheduled(id=id_, post=post, post_at=post_at, timer=timer)
        return self._waiting[id_]

    def waiting(self) -> list[Scheduled]:
        """Return all that wait, the next first."""
        return sorted(self._waiting.values(), key=lambda planned: planned.post_at)

    def find(self, id_: str) -> Scheduled | None:
        """Return the waiting message, None when it is posted, cancelled or was never there."""
        return self._waiting.get(id_)

    def cancel(self, planned: Scheduled) -> None:
        """Forget the message."""
        planned.timer.cancel()
        del self._waiting[planned.id]

    def _due(self, id_: str) -> None:
        planned = self._waiting.pop(id_)
        self._conversations.post(replace(planned.post, ts=self._posts.next_ts()))
