"""Slash commands and shortcuts: what a person starts that is no message and no click."""

from __future__ import annotations

from collections.abc import Callable

from hermes_bot.workspace import wire
from hermes_bot.workspace.content import content_of_command
from hermes_bot.workspace.conversations import Conversations
from hermes_bot.workspace.couriers import Couriers
from hermes_bot.workspace.emoji import shortcoded
from hermes_bot.workspace.interactions import Outcome
from hermes_bot.workspace.payloads import Payloads, named
from hermes_bot.workspace.people import App, Channel
from hermes_bot.workspace.posts import Json, Post, PostStore
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.response_urls import ResponseUrls
from hermes_bot.workspace.roster import Roster


class Pressed:
    """Brings commands and shortcuts to the app that offers them. Each is tried once, as Slack does it."""

    def __init__(
        self,
        roster: Roster,
        posts: PostStore,
        conversations: Conversations,
        payloads: Payloads,
        response_urls: ResponseUrls,
        couriers: Couriers,
        new_id: Callable[[], str],
    ) -> None:
        self._roster = roster
        self._posts = posts
        self._conversations = conversations
        self._payloads = payloads
        self._response_urls = response_urls
        self._couriers = couriers
        self._new_id = new_id

    async def command(
        self, user: str, channel: Channel, command: str, text: str, typed: Callable[[str], str]
    ) -> Outcome:
        """Send a slash command; what the app answers at once is shown in the channel, to the person or to all.

        `typed` makes tokens of names, for a command whose app wants them.
        """
        app = self._that_knows(command)
        text = typed(text) if command in app.escaped_commands else shortcoded(text)
        place = Post(channel=channel.id, ts="", user=app.user)
        url = self._response_urls.url(user, place, app)
        payload = self._payloads.command(user, app, channel, command, text, url)
        try:
            answer = await self._couriers.of(app).send_command(payload)
            self._show(answer, user, channel, app)
        except Refusal as refusal:
            return Outcome(ok=False, error=refusal.error)
        return Outcome(ok=True)

    async def shortcut(self, user: str, callback_id: str, post: Post | None) -> Outcome:
        """Use a shortcut of the workspace, or of a message where one is given."""
        app = self._that_offers(callback_id, of_message=post is not None)
        kind = "shortcut" if post is None else "message_action"
        payload = self._payloads.head(kind, user, app)
        payload |= {"callback_id": callback_id, "action_ts": self._posts.next_ts()}
        if post is not None:
            channel = self._roster.channel(post.channel)
            payload |= {
                "channel": {"id": channel.id, "name": named(channel)},
                "message_ts": post.ts,
                "message": wire.stored(post, self._roster, self._posts),
                "response_url": self._response_urls.url(user, post, app),
            }
        try:
            await self._couriers.of(app).send_interaction(payload, answerable=False)
        except Refusal as refusal:
            return Outcome(ok=False, error=refusal.error)
        return Outcome(ok=True)

    def _show(self, answer: Json, user: str, channel: Channel, app: App) -> None:
        content = content_of_command(answer, self._new_id)
        if content is None:
            return
        post = Post(
            channel=channel.id,
            ts=self._posts.next_ts(),
            user=app.user,
            text=content.text,
            blocks=content.blocks,
            attachments=content.attachments,
            bot=True,
            seen_by="" if answer.get("response_type") == "in_channel" else user,
        )
        if post.seen_by:
            self._conversations.whisper(post)
        else:
            self._conversations.post(post)

    def _that_knows(self, command: str) -> App:
        if not command.startswith("/") or " " in command:
            raise Refusal("invalid_command")
        apps = self._roster.apps()
        found = next((app for app in apps if command in app.commands), None)
        found = found or next((app for app in apps if not app.commands and not app.declared), None)
        if found is None:
            raise Refusal("unknown_command")
        return found

    def _that_offers(self, callback_id: str, *, of_message: bool) -> App:
        apps = self._roster.apps()
        for app in apps:
            if any(one.callback_id == callback_id and one.of_message == of_message for one in app.shortcuts):
                return app
        found = next((app for app in apps if not app.shortcuts and not app.declared), None)
        if found is None:
            raise Refusal("unknown_shortcut")
        return found
