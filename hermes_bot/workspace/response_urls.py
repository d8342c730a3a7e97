"""Response URLs: five answers to a click in thirty minutes, whatever the app may post otherwise."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace

from hermes_bot.workspace.clock import Clock
from hermes_bot.workspace.content import Content
from hermes_bot.workspace.conversations import Conversations
from hermes_bot.workspace.people import App
from hermes_bot.workspace.posts import Json, Post, PostStore
from hermes_bot.workspace.refusal import Refusal

USES = 5
LIFE_S = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    app: App
    user: str
    channel: str
    ts: str
    thread_ts: str
    until: float
    uses: int = 0


class ResponseUrls:
    """The response URLs that were given out, by the secret at their end."""

    def __init__(
        self, clock: Clock, posts: PostStore, conversations: Conversations, base_url: Callable[[], str], app: App
    ) -> None:
        self._clock = clock
        self._posts = posts
        self._conversations = conversations
        self._base_url = base_url
        self._app = app
        self._places: dict[str, _Place] = {}

    def url(self, user: str, post: Post, app: App) -> str:
        """Return a new response URL for a person's click on an app's message, or on any by a shortcut."""
        return f"{self._base_url()}/response/{self.give(user, post, app)}"

    def give(self, user: str, post: Post, app: App | None = None) -> str:
        """Return the secret of such a URL; for a slash command the post is one without ts."""
        secret = secrets.token_hex(16)
        self._places[secret] = _Place(
            app=app or self._app,
            user=user,
            channel=post.channel,
            ts=post.ts,
            thread_ts=post.thread_ts,
            until=self._clock.now() + LIFE_S,
        )
        return secret

    def respond(self, secret: str, body: Json, content: Content | None) -> None:
        """Do what the app answered: delete, replace, or post anew; `content` is None in a bare deletion."""
        place = self._use(secret)
        clicked = self._posts.get(place.channel, place.ts) or self._posts.ephemeral(place.user, place.channel, place.ts)
        if body.get("delete_original"):
            if clicked is not None and clicked.user == place.app.user:
                self._conversations.delete(clicked)
            return
        if content is None:
            raise Refusal("no_text")
        if body.get("replace_original"):
            self._replace(clicked, content, place.app)
            return
        thread_ts = str(body.get("thread_ts") or "")
        post = Post(
            channel=place.channel,
            ts=self._posts.next_ts(),
            user=place.app.user,
            text=content.text,
            blocks=content.blocks,
            attachments=content.attachments,
            thread_ts=thread_ts if self._posts.get(place.channel, thread_ts) else "",
            bot=True,
        )
        if body.get("response_type") == "in_channel":
            self._conversations.post(post)
        else:
            self._conversations.whisper(replace(post, seen_by=place.user))

    def _replace(self, clicked: Post | None, content: Content, app: App) -> None:
        if clicked is None or clicked.user != app.user:
            raise Refusal("message_not_found")
        new = replace(clicked, text=content.text, blocks=content.blocks, attachments=content.attachments)
        if not clicked.seen_by:
            new = replace(new, edited_ts=self._posts.next_ts(), edited_by=app.user)
        self._conversations.edit(clicked, new)

    def _use(self, secret: str) -> _Place:
        place = self._places.get(secret)
        if place is None:
            raise Refusal("invalid_url")
        if self._clock.now() > place.until:
            raise Refusal("expired_url")
        if place.uses >= USES:
            raise Refusal("used_url")
        self._places[secret] = replace(place, uses=place.uses + 1)
        return place
