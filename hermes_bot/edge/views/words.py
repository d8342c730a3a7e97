"""Small pieces of mrkdwn that several cards use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from hermes_bot.edge.text import escape, shorten

_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")  # a text could turn round what stands beside it
_BOLD = re.compile(r"[*`]")
_FORMATTING = re.compile(r"[*_~`\s]+")


def name_of(user: str, names: Mapping[str, str]) -> str:
    """Return the person's name; a mention where the name is not known."""
    if not user:
        return "nobody"
    name = _FORMATTING.sub(" ", _DIRECTION.sub("", names.get(user, ""))).strip()
    return escape(name) if name else f"<@{user}>"


def moment(at: datetime) -> str:
    """Return a time that Slack shows in the reader's own zone."""
    return f"<!date^{int(at.timestamp())}^{{date_short_pretty}} {{time}}|{at:%Y-%m-%d %H:%M} UTC>"


def fitted(text: str, limit: int) -> str:
    """Return people's words escaped, at most `limit` characters, and none that turn the direction of reading."""
    return escape(shorten(_DIRECTION.sub("", text), limit))


def one_line(text: str, limit: int) -> str:
    """Return people's words as `fitted` does, on one line."""
    return fitted(" ".join(text.split()), limit)


def heading(text: str, limit: int) -> str:
    """Return people's words as `one_line` does, for between asterisks: none of them can end the bold."""
    return one_line(_BOLD.sub("", text), limit)


def link(url: str, label: str) -> str:
    """Return a link, empty without an address."""
    return f"<{url}|{label}>" if url else ""


def mention(member: str) -> str:
    """Return what calls a user (U…) or a user group (S…); nothing for anything else."""
    if not member.isalnum():
        return ""
    return f"<!subteam^{member}>" if member.startswith("S") else f"<@{member}>"
