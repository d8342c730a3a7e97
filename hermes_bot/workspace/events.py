"""What the apps are told: each happening in a conversation of a bot becomes an event in Slack's wrapper."""

from __future__ import annotations

import json

from hermes_bot.workspace import wire
from hermes_bot.workspace.clock import Clock
from hermes_bot.workspace.couriers import Couriers
from hermes_bot.workspace.ids import Ids
from hermes_bot.workspace.people import App, Channel
from hermes_bot.workspace.posts import Json, Post, PostStore
from hermes_bot.workspace.rate_limits import RateLimits
from hermes_bot.workspace.roster import Roster

_MESSAGE_EVENTS = {"im": "message.im", "mpim": "message.mpim", "group": "message.groups", "channel": "message.channels"}

_SCOPES = {
    "app_mention": "app_mentions:read",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "message.groups": "groups:history",
    "message.channels": "channels:history",
    "file_shared": "files:read",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
    "user_change": "users:read",
    "team_join": "users:read",
    "subteam_created": "usergroups:read",
    "subteam_updated": "usergroups:read",
    "subteam_members_changed": "usergroups:read",
}
"""Without these an app hears nothing of it, whatever it subscribed to."""


class Events:
    """Builds the events and hands them to the couriers. An app hears of the conversations that its bot is in."""

    def __init__(
        self, roster: Roster, posts: PostStore, couriers: Couriers, limits: RateLimits, clock: Clock, ids: Ids
    ) -> None:
        self._roster = roster
        self._posts = posts
        self._couriers = couriers
        self._limits = limits
        self._told_of_limit: dict[str, int] = {}
        self._clock = clock
        self._ids = ids

    def posted(self, post: Post) -> None:
        """Tell of a new message and, where a person names a bot outside of a DM, that bot's app of the mention too."""
        channel = self._roster.channel(post.channel)
        parent = self._posts.get(post.channel, post.thread_ts) if post.thread_ts else None
        body = wire.message(post, self._roster, parent=parent)
        if post.broadcast and parent is not None:
            body["root"] = wire.stored(parent, self._roster, self._posts)
        told = body | {"event_ts": post.ts, "channel_type": wire.channel_type(channel)}
        self.tell(channel, told, author=post.user)
        if channel.kind == "dm" or post.bot or post.subtype not in ("", "file_share", "thread_broadcast"):
            return
        for app in self._roster.apps():
            if _names(post, app.user):
                dropped = ("parent_user_id", "subtype", "root")
                mention = {key: value for key, value in body.items() if key not in dropped}
                event = mention | {"type": "app_mention", "event_ts": post.ts}
                self.tell(channel, event, author=post.user, only=app)

    def changed(self, old: Post, new: Post) -> None:
        """Tell of an edit, or of a deleted parent whose replies remain."""
        body = {
            "message": wire.stored(new, self._roster, self._posts),
            "previous_message": wire.message(old, self._roster),
        }
        self._hidden(new, "message_changed", body)

    def deleted(self, post: Post) -> None:
        """Tell of a message that is gone."""
        body = {"deleted_ts": post.ts, "previous_message": wire.message(post, self._roster)}
        self._hidden(post, "message_deleted", body)

    def reacted(self, post: Post, user: str, name: str, *, added: bool) -> None:
        """Tell of a reaction that came or went; of a webhook's message nobody is the author."""
        event: Json = {
            "type": "reaction_added" if added else "reaction_removed",
            "user": user,
            "reaction": name,
            "item": {"type": "message", "channel": post.channel, "ts": post.ts},
            "event_ts": self._posts.next_ts(),
        }
        if post.user:
            event["item_user"] = post.user
        self.tell(self._roster.channel(post.channel), event, author=user, channel_field=False)

    def tell(
        self, channel: Channel, event: Json, *, author: str = "", only: App | None = None, channel_field: bool = True
    ) -> None:
        """Send an event of a conversation to the apps whose bots are in it, or to one of them."""
        event = event | ({"channel": channel.id} if channel_field else {})
        for app in [only] if only is not None else self._roster.apps():
            if app.user in channel.members:
                self.emit(event, app=app, channel=channel, author=author)

    def emit(self, event: Json, *, app: App | None = None, channel: Channel | None = None, author: str = "") -> None:
        """Send any event to an app (the first, where none is named), if it subscribed to that kind."""
        app = app or self._roster.app
        kind = _kind(event)
        covered = kind not in _SCOPES or app.granted(_SCOPES[kind])
        if not app.subscribed(kind) or not covered:
            return
        if self._limits.event_wait_s(app.id):
            self._limited(app)
        else:
            self._couriers.of(app).send_event(self._wrapped(event, app, channel, author))

    def _wrapped(self, event: Json, app: App, channel: Channel | None, author: str) -> Json:
        """Return the event in its wrapper. In a shared channel `team_id` is the author's team, as on Slack's wire."""
        shared = channel is not None and bool(channel.shared_with)
        enterprise = app.enterprise or None
        wrapper: Json = {
            "token": "local-verification-token",
            "team_id": self._roster.team_of(author) if shared else app.team,
            "context_team_id": app.team,
            "context_enterprise_id": enterprise,
            "api_app_id": app.id,
            "type": "event_callback",
            "event_id": self._ids.next("Ev"),
            "event_time": int(self._clock.now()),
            "event_context": self._ids.next("4-"),
            "is_ext_shared_channel": shared,
            "authorizations": [
                {
                    "enterprise_id": enterprise,
                    "team_id": app.team,
                    "user_id": app.user,
                    "is_bot": True,
                    "is_enterprise_install": app.org_wide,
                }
            ],
            "event": event,
        }
        return wrapper | ({"enterprise_id": enterprise} if enterprise else {})

    def too_many(self, app: App | None = None) -> None:
        """Tell an app that it gets more events than Slack delivers: a body of its own, without an event inside."""
        app = app or self._roster.app
        now = int(self._clock.now())
        body = {"token": "local-verification-token", "type": "app_rate_limited", "team_id": app.team}
        more = {"minute_rate_limited": now - now % 60, "api_app_id": app.id, "event_id": self._ids.next("Ev")}
        self._couriers.of(app).send_event(body | more)

    def _limited(self, app: App) -> None:
        """Let the event go, and tell the app so once a minute."""
        minute = int(self._clock.now()) // 60
        if self._told_of_limit.get(app.id) != minute:
            self._told_of_limit[app.id] = minute
            self.too_many(app)

    def _hidden(self, post: Post, subtype: str, body: Json) -> None:
        channel = self._roster.channel(post.channel)
        ts = self._posts.next_ts()
        head = {"type": "message", "subtype": subtype, "hidden": True, "ts": ts, "event_ts": ts}
        self.tell(channel, head | body | {"channel_type": wire.channel_type(channel)}, author=post.user)


def _names(post: Post, user: str) -> bool:
    """Return whether a message mentions a bot: in its text, inside of code as well, or in its blocks alone."""
    in_text = f"<@{user}>" in post.text or f"<@{user}|" in post.text
    return in_text or f'"user_id": "{user}"' in json.dumps(post.blocks)


def _kind(event: Json) -> str:
    """Return the name under which an app subscribes to this event."""
    kind = str(event.get("type"))
    return _MESSAGE_EVENTS.get(str(event.get("channel_type")), kind) if kind == "message" else kind
