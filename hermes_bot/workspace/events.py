"""What the app is told: each happening in a conversation of the bot becomes an event in Slack's wrapper."""

from __future__ import annotations

from typing import Protocol

from hermes_bot.workspace import wire
from hermes_bot.workspace.clock import Clock
from hermes_bot.workspace.ids import Ids
from hermes_bot.workspace.people import Channel
from hermes_bot.workspace.posts import Json, Post, PostStore
from hermes_bot.workspace.roster import Roster


class Courier(Protocol):
    """Brings events and interactions to the app: over Socket Mode or over signed HTTP."""

    def send_event(self, body: Json) -> None:
        """Take the event; it is delivered, and delivered again where needed, from now on."""
        ...

    def undelivered(self) -> list[Json]:
        """Return the events that the app has neither taken nor let lapse."""
        ...

    async def send_interaction(self, payload: Json, *, answerable: bool) -> Json:
        """Return the app's answer, {} for an empty one; raise Refusal when it does not answer within 3 s."""
        ...


class Events:
    """Builds the events and hands them to the courier. Nothing is sent for channels that the bot is not in."""

    def __init__(self, roster: Roster, posts: PostStore, courier: Courier, clock: Clock, ids: Ids) -> None:
        self._roster = roster
        self._posts = posts
        self._courier = courier
        self._clock = clock
        self._ids = ids

    def posted(self, post: Post) -> None:
        """Tell of a new message and, where a person names the bot outside of a DM, of the mention as well."""
        channel = self._roster.channel(post.channel)
        parent = self._posts.get(post.channel, post.thread_ts) if post.thread_ts else None
        body = wire.message(post, self._roster, parent=parent)
        self._send(channel, body | {"event_ts": post.ts, "channel_type": wire.channel_type(channel)})
        if f"<@{self._roster.app.user}>" in post.text and channel.kind != "dm" and not post.bot:
            mention = {key: value for key, value in body.items() if key != "parent_user_id"}
            self._send(channel, mention | {"type": "app_mention", "event_ts": post.ts})

    def changed(self, old: Post, new: Post) -> None:
        """Tell of an edit, or of a deleted parent whose replies remain."""
        self._hidden(
            new.channel,
            "message_changed",
            {
                "message": wire.stored(new, self._roster, self._posts),
                "previous_message": wire.message(old, self._roster),
            },
        )

    def deleted(self, post: Post) -> None:
        """Tell of a message that is gone."""
        body = {"deleted_ts": post.ts, "previous_message": wire.message(post, self._roster)}
        self._hidden(post.channel, "message_deleted", body)

    def reacted(self, post: Post, user: str, name: str, *, added: bool) -> None:
        """Tell of a reaction that came or went."""
        self._send(
            self._roster.channel(post.channel),
            {
                "type": "reaction_added" if added else "reaction_removed",
                "user": user,
                "reaction": name,
                "item": {"type": "message", "channel": post.channel, "ts": post.ts},
                "item_user": post.user,
                "event_ts": self._posts.next_ts(),
            },
            channel_field=False,
        )

    def emit(self, event: Json) -> None:
        """Send any event, as it is: for what people cannot do in this workspace (webhooks, file shares, forwards)."""
        app = self._roster.app
        self._courier.send_event(
            {
                "token": "local-verification-token",
                "team_id": app.team,
                "context_team_id": app.team,
                "context_enterprise_id": None,
                "api_app_id": app.id,
                "type": "event_callback",
                "event_id": self._ids.next("Ev"),
                "event_time": int(self._clock.now()),
                "event_context": self._ids.next("4-"),
                "is_ext_shared_channel": False,
                "authorizations": [
                    {
                        "enterprise_id": None,
                        "team_id": app.team,
                        "user_id": app.user,
                        "is_bot": True,
                        "is_enterprise_install": False,
                    }
                ],
                "event": event,
            }
        )

    def _hidden(self, channel_id: str, subtype: str, body: Json) -> None:
        channel = self._roster.channel(channel_id)
        ts = self._posts.next_ts()
        head = {"type": "message", "subtype": subtype, "hidden": True, "ts": ts, "event_ts": ts}
        self._send(channel, head | body | {"channel_type": wire.channel_type(channel)})

    def _send(self, channel: Channel, event: Json, *, channel_field: bool = True) -> None:
        if self._roster.app.user in channel.members:
            self.emit(event | ({"channel": channel.id} if channel_field else {}))
