"""Small pieces of mrkdwn that several cards use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from hermes_bot.edge.text import escape, shorten


def name_of(user: str, names: Mapping[str, str]) -> str:
    """Return the person's name; a mention where the name is not known."""
    if not user:
        return "nobody"
    return escape(names[user]) if names.get(user) else f"<@{user}>"


def moment(at: datetime) -> str:
    """Return a time that Slack shows in the reader's own zone."""
    return f"<!date^{int(at.timestamp())}^{{date_short_pretty}} {{time}}|{at:%Y-%m-%d %H:%M} UTC>"


def fitted(text: str, limit: int) -> str:
    """Return people's words escaped, at most `limit` characters."""
    return escape(shorten(text, limit))


def link(url: str, label: str) -> str:
    """Return a link, empty without an address."""
    return f"<{url}|{label}>" if url else ""
