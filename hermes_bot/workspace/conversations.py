"""What can be done in conversations, by people and by the bot alike: each deed is kept, told to the app and shown."""

from __future__ import annotations

from hermes_bot.workspace.events import Events
from hermes_bot.workspace.feed import Change, Feed
from hermes_bot.workspace.posts import Post, PostStore
from hermes_bot.workspace.refusal import Refusal


class Conversations:
    """The one place where messages change."""

    def __init__(self, posts: PostStore, events: Events, feed: Feed) -> None:
        self._posts = posts
        self._events = events
        self._feed = feed

    def post(self, post: Post) -> None:
        """Add a message."""
        self._posts.add(post)
        self._events.posted(post)
        self._feed.publish(Change(kind="message", post=post))
        self._show_parent(post)

    def whisper(self, post: Post) -> None:
        """Add an ephemeral; no event tells of it."""
        self._posts.add(post)
        self._feed.publish(Change(kind="ephemeral", post=post, only_for=post.seen_by))

    def edit(self, old: Post, new: Post) -> None:
        """Put a changed message or ephemeral in the place of the old."""
        self._posts.replace(new)
        if not new.seen_by:
            self._events.changed(old, new)
        self._feed.publish(Change(kind="changed", post=new, only_for=new.seen_by))

    def delete(self, post: Post) -> None:
        """Take a message or ephemeral away; a parent with replies leaves a tombstone in its place."""
        if not post.seen_by and not post.tombstone and self._posts.replies(post.channel, post.ts):
            grave = Post(
                channel=post.channel,
                ts=post.ts,
                user="USLACKBOT",
                text="This message was deleted.",
                subtype="tombstone",
            )
            self.edit(post, grave)
            return
        self._posts.remove(post)
        if not post.seen_by:
            self._events.deleted(post)
        self._feed.publish(Change(kind="deleted", post=post, only_for=post.seen_by))
        self._close_grave(post)
        self._show_parent(post)

    def react(self, post: Post, user: str, name: str) -> None:
        """Add a person's reaction; raise Refusal when it is there already."""
        if user in post.reacted(name):
            raise Refusal("already_reacted")
        self._set_reactions(post.with_reaction(name, user))
        self._events.reacted(post, user, name, added=True)

    def unreact(self, post: Post, user: str, name: str) -> None:
        """Take a person's reaction away; raise Refusal when there is none."""
        if user not in post.reacted(name):
            raise Refusal("no_reaction")
        self._set_reactions(post.without_reaction(name, user))
        self._events.reacted(post, user, name, added=False)

    def redraw(self, post: Post, *, only_for: str = "") -> None:
        """Show a message anew of which the apps are told nothing yet: one that is still being written."""
        self._posts.replace(post)
        self._feed.publish(Change(kind="changed", post=post, only_for=only_for))

    def _close_grave(self, reply: Post) -> None:
        """Take a tombstone away with the last of its replies."""
        parent = self._posts.get(reply.channel, reply.thread_ts) if reply.thread_ts else None
        if parent is not None and parent.tombstone and not self._posts.replies(parent.channel, parent.ts):
            self.delete(parent)

    def _set_reactions(self, post: Post) -> None:
        self._posts.replace(post)
        self._feed.publish(Change(kind="reaction", post=post))

    def _show_parent(self, post: Post) -> None:
        parent = self._posts.get(post.channel, post.thread_ts) if post.thread_ts else None
        if parent is not None:
            self._feed.publish(Change(kind="changed", post=parent))
