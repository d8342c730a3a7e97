"""What reaches an app in Slack without a person of the workspace typing it: a test lets it happen."""

from __future__ import annotations

from dataclasses import replace

from hermes_bot.workspace import wire
from hermes_bot.workspace.parts import Parts
from hermes_bot.workspace.posts import Json, Post
from hermes_bot.workspace.refusal import Refusal


class Oddities:
    """Each act keeps what it should and tells the apps in Slack's own, odd shapes."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def webhook(self, channel: str, text: str, *, username: str = "alerts", bot_id: str = "B0WEBHOOK") -> str:
        """Return the ts of an incoming webhook's message: `bot_message`, without a user."""
        return self._keep(channel, text, subtype="bot_message", username=username, bot_id=bot_id)

    def other_bot(self, channel: str, text: str, *, user: str, bot_id: str = "B0OTHER", thread_ts: str = "") -> str:
        """Return the ts of another bot's message: with a bot_id and its user, without a subtype."""
        return self._keep(channel, text, user=user, bot_id=bot_id, thread_ts=thread_ts)

    def me_message(self, user: str, channel: str, text: str) -> str:
        """Return the ts of what a person said with `/me`."""
        return self._keep(channel, text, user=user, subtype="me_message", bot=False)

    def forward(self, user: str, channel: str, original_channel: str, original_ts: str, comment: str = "") -> str:
        """Return the ts of a message that forwards another: without a comment its text is empty."""
        original = self._parts.message(original_channel, original_ts)
        shared: Json = {
            "is_share": True,
            "is_msg_unfurl": True,
            "channel_id": original.channel,
            "ts": original.ts,
            "author_id": original.user,
            "text": original.text,
            "fallback": original.text,
            "from_url": f"{self._parts.outside.base_url()}/archives/{original.channel}/p{original.ts.replace('.', '')}",
        }
        return self._keep(channel, comment, user=user, bot=False, attachments=(shared,))

    def unfurl(self, channel: str, ts: str, url: str) -> None:
        """Add the preview of a link to a message: a `message_changed` in which nobody changed the text."""
        old = self._parts.message(channel, ts)
        preview: Json = {"from_url": url, "original_url": url, "fallback": url, "service_name": "Web", "id": 1}
        self._parts.conversations.edit(old, replace(old, attachments=(*old.attachments, preview)))

    def reply_counters(self, channel: str, thread_ts: str) -> None:
        """Tell of a parent's reply counters, as `message_replied` does: hidden, and not a word of it is new."""
        parts = self._parts
        where = parts.roster.channel(channel)
        parent = parts.message(where.id, thread_ts)
        ts = parts.posts.next_ts()
        event: Json = {
            "type": "message",
            "subtype": "message_replied",
            "hidden": True,
            "message": wire.stored(parent, parts.roster, parts.posts),
            "thread_ts": thread_ts,
            "ts": ts,
            "event_ts": ts,
            "channel_type": wire.channel_type(where),
        }
        parts.events.tell(where, event, author=parent.user)

    def assistant_thread(self, user: str, *, context_channel: str = "") -> str:
        """Return the thread that a person opened in the older assistant view (before the agent view)."""
        parts = self._parts
        dm = parts.roster.open_dm(user)[0]
        thread_ts = parts.posts.next_ts()
        root = Post(
            channel=dm.id,
            ts=thread_ts,
            user=parts.app.user,
            text="New Assistant Thread",
            subtype="assistant_app_thread",
            bot=True,
        )
        parts.conversations.post(root)
        thread = self._assistant(user, dm.id, thread_ts, context_channel)
        event: Json = {"type": "assistant_thread_started", "assistant_thread": thread}
        event["event_ts"] = parts.posts.next_ts()
        parts.events.tell(dm, event, author=user, channel_field=False)
        return thread_ts

    def assistant_context(self, user: str, thread_ts: str, context_channel: str) -> None:
        """Tell that a person who has such a thread open went to another channel beside it."""
        dm = self._parts.roster.open_dm(user)[0]
        thread = self._assistant(user, dm.id, thread_ts, context_channel)
        event: Json = {"type": "assistant_thread_context_changed", "assistant_thread": thread}
        event["event_ts"] = self._parts.posts.next_ts()
        self._parts.events.tell(dm, event, author=user, channel_field=False)

    def _assistant(self, user: str, dm: str, thread_ts: str, context_channel: str) -> Json:
        context = {"channel_id": context_channel, "team_id": self._parts.app.team, "enterprise_id": None}
        about: Json = context if context_channel else {}
        return {"user_id": user, "context": about, "channel_id": dm, "thread_ts": thread_ts}

    def looks_at(self, user: str, channel: str = "") -> None:
        """Tell what a person looks at beside the agent view: a channel, or nothing."""
        parts = self._parts
        if not parts.app.agent:
            raise Refusal("not_enabled")
        dm = parts.roster.open_dm(user)[0]
        seen = [{"type": "slack#/types/channel_id", "value": channel, "team_id": parts.app.team}]
        event: Json = {"type": "app_context_changed", "user": user, "event_ts": parts.posts.next_ts()}
        parts.events.tell(dm, event | {"context": {"entities": seen} if channel else {}}, author=user)

    def _keep(
        self,
        channel: str,
        text: str,
        *,
        user: str = "",
        subtype: str = "",
        username: str = "",
        bot_id: str = "",
        thread_ts: str = "",
        bot: bool = True,
        attachments: tuple[Json, ...] = (),
    ) -> str:
        where = self._parts.roster.channel(channel)
        post = Post(
            channel=where.id,
            ts=self._parts.posts.next_ts(),
            user=user,
            text=text,
            subtype=subtype,
            username=username,
            bot_id=bot_id,
            thread_ts=thread_ts,
            bot=bot,
            attachments=attachments,
        )
        self._parts.conversations.post(post)
        return post.ts
