"""How far each person has read, by conversation and thread: one mark for all pages of a seat, kept with the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hermes_bot.workspace.feed import Change, Feed
from hermes_bot.workspace.posts import Post, PostStore

Marks = dict[str, dict[str, str]]
"""By person, then by place: a channel's id, `channel/thread_ts`, or "" for when the seat was first taken."""


class ReadMarks:
    """The marks. What was said before a seat was first taken is nothing that the person missed."""

    def __init__(self, posts: PostStore, feed: Feed) -> None:
        self._posts = posts
        self._feed = feed
        self._marks: Marks = {}

    def begin(self, user: str) -> None:
        """Note that somebody takes the person's seat; from the first time on, what others write is to be read."""
        if user not in self._marks:
            self._marks[user] = {"": self._posts.next_ts()}
            self._feed.wake()

    def look(self, user: str, channel: str, thread_ts: str, ts: str) -> None:
        """Note that the person has read a conversation, or a thread, up to `ts`; their other pages are told."""
        self.begin(user)
        place = _place(channel, thread_ts)
        if ts <= self._marks[user].get(place, ""):
            return
        self._marks[user][place] = ts
        data = {"thread_ts": thread_ts, "ts": ts}
        self._feed.publish(Change(kind="looked", channel=channel, data=data, only_for=user))

    def missed(self, user: str, channels: Collection[str]) -> list[Post]:
        """Return what others wrote there, or to the person alone, and the person has not read; oldest first."""
        marks = self._marks.get(user)
        if marks is None:
            return []
        unread = [
            post
            for post in self._posts.all()
            if post.channel in channels and post.user != user and post.seen_by in ("", user) and not post.tombstone
            if post.ts > max(marks[""], marks.get(_place(post.channel, post.thread_ts), ""))
        ]
        return sorted(unread, key=lambda post: post.ts)

    def saved(self) -> Marks:
        """Return what is to be remembered."""
        return {user: dict(places) for user, places in self._marks.items()}

    def restore(self, marks: Mapping[str, Mapping[str, str]]) -> None:
        """Take up what was remembered."""
        self._marks = {user: {"": "", **places} for user, places in marks.items()}


def _place(channel: str, thread_ts: str) -> str:
    return f"{channel}/{thread_ts}" if thread_ts else channel
