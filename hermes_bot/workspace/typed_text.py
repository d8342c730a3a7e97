"""What Slack's own client makes of the text that a person types."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hermes_bot.workspace.emoji import shortcoded
from hermes_bot.workspace.people import Channel, Member, UserGroup

_CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
_BROADCASTS = re.compile(r"(?<![\w@])@(here|channel|everyone)\b")
_URL = re.compile(r"https?://[^\s<>|]*[^\s<>|.,;:!?)\]}'\"]")
_EMAIL = re.compile(r"(?<![\w.+:|/@-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def escape(text: str) -> str:
    """Return `text` with the three characters that mean something to Slack escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def typed_text(
    text: str, members: Iterable[Member], channels: Iterable[Channel], groups: Iterable[UserGroup] = ()
) -> str:
    """Return typed text as Slack stores it: escaped, names, channels, links and addresses as tokens, emoji by name."""
    parts = _CODE.split(escape(text))
    if "@" in text or "#" in text or "://" in text:
        names = _Names(members, channels, groups)
        parts[::2] = [names.marked(part) for part in parts[::2]]
    parts[::2] = [_outside_tokens(part) for part in parts[::2]]
    return "".join(parts)


def _outside_tokens(text: str) -> str:
    pieces = re.split(r"(<[^>]*>)", text)
    pieces[::2] = [shortcoded(piece) for piece in pieces[::2]]
    return "".join(pieces)


class _Names:
    """The names that typed text may hold."""

    def __init__(self, members: Iterable[Member], channels: Iterable[Channel], groups: Iterable[UserGroup]) -> None:
        self._tokens = {"@" + escape(one.handle).casefold(): f"<!subteam^{one.id}>" for one in groups}
        self._tokens |= {"@" + escape(one.name).casefold(): f"<@{one.id}>" for one in members if not one.deactivated}
        named = [one for one in channels if one.name]
        self._tokens |= {"#" + escape(one.name).casefold(): f"<#{one.id}|{escape(one.name)}>" for one in named}
        longest_first = sorted(self._tokens, key=len, reverse=True)
        names = "|".join(re.escape(name) for name in longest_first) or "(?!)"
        self._pattern = re.compile(rf"(?<![\w@#&])(?:{names})(?![\w-])", re.IGNORECASE)

    def marked(self, text: str) -> str:
        """Return escaped text with its names, links and addresses as tokens."""
        text = _URL.sub(lambda url: f"<{url[0]}>", text)
        pieces = re.split(r"(<[^>]*>)", text)
        pieces[::2] = [self._marked_words(piece) for piece in pieces[::2]]
        return "".join(pieces)

    def _marked_words(self, text: str) -> str:
        text = _EMAIL.sub(lambda address: f"<mailto:{address[0]}|{address[0]}>", text)
        pieces = re.split(r"(<[^>]*>)", text)
        pieces[::2] = [
            self._pattern.sub(
                lambda name: self._tokens.get(name[0].casefold(), name[0]), _BROADCASTS.sub(r"<!\1>", one)
            )
            for one in pieces[::2]
        ]
        return "".join(pieces)
