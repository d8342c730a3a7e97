"""What people write in a workspace: messages, files, edits, deletions, reactions."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace

from hermes_bot.workspace.parts import Parts
from hermes_bot.workspace.posts import Json, Post
from hermes_bot.workspace.refusal import Refusal


class Writing(Parts):
    """Acts of people; a Refusal says what Slack's client would not let them do."""

    async def post(
        self,
        user: str,
        channel: str,
        text: str,
        thread_ts: str = "",
        *,
        broadcast: bool = False,
        raw: bool = False,
        blocks: Sequence[Json] = (),
    ) -> str:
        """Return the ts of what a person typed, once it is kept and its events are on their way to the apps.

        `broadcast` shows a reply in the channel as well; with `raw` the text is taken as Slack stores it; `blocks`
        stand in the place of those that Slack's client would make of the text.
        """
        if not text.strip() and not blocks:
            raise Refusal("no_text")
        stored = text if raw else self.typed(text)
        return self._said(user, channel, stored, thread_ts, broadcast=broadcast, blocks=tuple(blocks)).ts

    async def upload(
        self, user: str, channel: str, name: str, content: bytes, *, text: str = "", thread_ts: str = ""
    ) -> str:
        """Return the ts of a message that shares a file; the apps hear of it as `file_share`."""
        where = self.open_to(user, channel)
        file = self.files.add(name, content, user=user, team=self.roster.team_of(user))
        self.files.share(file.id, where.id)
        shown = (self.files.wire(file.id),)
        post = self._said(user, channel, self.typed(text), thread_ts, files=shown, subtype="file_share")
        event: Json = {"type": "file_shared", "file_id": file.id, "user_id": user, "file": {"id": file.id}}
        event |= {"channel_id": where.id, "event_ts": self.posts.next_ts()}
        self.events.tell(where, event, author=user, channel_field=False)
        return post.ts

    async def edit(self, user: str, channel: str, ts: str, text: str) -> None:
        """Change what a person typed before."""
        old = self._own(user, channel, ts)
        new = replace(old, text=self.typed(text), blocks=(), edited_by=user, edited_ts=self.posts.next_ts())
        self.conversations.edit(old, new)

    async def delete(self, user: str, channel: str, ts: str) -> None:
        """Take away what a person typed before; a parent with replies leaves a tombstone."""
        self.conversations.delete(self._own(user, channel, ts))

    async def react(self, user: str, channel: str, ts: str, name: str, *, on: bool = True) -> None:
        """Add a person's reaction, or take it away."""
        post = self.message(self.open_to(user, channel).id, ts)
        if on:
            self.conversations.react(post, user, name)
        else:
            self.conversations.unreact(post, user, name)

    def _said(
        self,
        user: str,
        channel: str,
        text: str,
        thread_ts: str,
        *,
        broadcast: bool = False,
        files: tuple[Json, ...] = (),
        blocks: tuple[Json, ...] = (),
        subtype: str = "",
    ) -> Post:
        where = self.open_to(user, channel)
        if thread_ts:
            self.message(where.id, thread_ts, parent=True)
        shown_in_channel = bool(broadcast and thread_ts)
        post = Post(
            channel=where.id,
            ts=self.posts.next_ts(),
            user=user,
            text=text,
            thread_ts=thread_ts,
            files=files,
            blocks=blocks,
            subtype=subtype or ("thread_broadcast" if shown_in_channel else ""),
            broadcast=shown_in_channel,
            client_msg_id=str(uuid.UUID(int=self.chance.getrandbits(128), version=4)),
        )
        self.conversations.post(post)
        return post

    def _own(self, user: str, channel: str, ts: str) -> Post:
        post = self.message(self.open_to(user, channel).id, ts)
        if post.user != user:
            raise Refusal("cant_update_message")
        return post
