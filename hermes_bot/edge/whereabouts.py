"""Where the bot is: what to tell somebody who called it from a conversation that it cannot read."""

from __future__ import annotations

from typing import Any

from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.errors import SlackRefused, TransientError

INVITE, NOT_HERE = "command.invite", "command.not_here"
UNSEEN = "channel_not_found"


class Whereabouts:
    """Asks Slack about conversations."""

    def __init__(self, api: SlackApi) -> None:
        self._api = api

    async def about(self, channel: str) -> dict[str, Any] | None:
        """Return what Slack says of the conversation; None for one that the bot cannot see.

        Where Slack does not say (a scope is missing), it is one like any other: whether the bot may write there shows
        when it does.
        """
        try:
            answer = await self._api.call("conversations.info", channel=channel)
        except SlackRefused as error:
            return None if error.error == UNSEEN else {"is_im": channel.startswith("D")}
        found: dict[str, Any] = answer.get("channel") or {}
        return found

    async def hint(self, channel: str) -> str:
        """Return the key of the text that tells how to have the bot there; empty where it is, or Slack is away."""
        if not channel:
            return ""
        try:
            about = await self.about(channel)
        except TransientError:
            return ""
        if about is None:
            return NOT_HERE if channel.startswith("D") else INVITE
        return "" if present(about) else INVITE


def present(about: dict[str, Any] | None) -> bool:
    """Return whether the bot may write there, as far as it is known."""
    return about is not None and bool(about.get("is_im") or about.get("is_mpim") or about.get("is_member", True))


def kind_of(about: dict[str, Any]) -> str:
    """Return the conversation's kind as events name it."""
    if about.get("is_im"):
        return "im"
    if about.get("is_mpim"):
        return "mpim"
    return "group" if about.get("is_private") or about.get("is_group") else "channel"
