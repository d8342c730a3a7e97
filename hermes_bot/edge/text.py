"""Text between people and Slack: decoded once on the way in, escaped once on the way out, split below limits.

Slack escapes `&`, `<` and `>` alone, both ways (https://docs.slack.dev/messaging/formatting-message-text/).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import regex

SECTION_CHARACTERS = 3_000
TEXT_CHARACTERS = 40_000
UPDATE_CHARACTERS = 4_000

_TOKEN = re.compile(r"<([^<>]*)>")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_GRAPHEME = regex.compile(r"\X")
# Where a text may be cut, best first: after a paragraph, a line, a sentence (also Chinese), a clause, a word.
_SEAMS = tuple(re.compile(seam) for seam in (r"\n\n+", r"\n", r"[.!?…]\s|[。！？]", r"[,;:]\s|[，；：]", r"\s"))
# What reads as one thing and is cut only where it alone is longer than a piece.
_WHOLE = re.compile(r"```.*?```|`[^`\n]+`|https?://[^\s<>]+", re.DOTALL)
_EARLIEST_SEAM = 0.5  # a seam in the first half would leave a piece too short


def escape(text: str) -> str:
    """Return the text so that Slack shows it as it is: no mention, no link, no entity comes out of it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    """Return the text with Slack's three entities resolved, each once."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def decode(text: str, *, bot_user: str = "") -> str:
    """Return what a person would read in Slack's text; a mention of the bot itself is left out."""
    pieces: list[str] = []
    end = 0
    for token in _TOKEN.finditer(text):
        pieces += (unescape(text[end : token.start()]), _spoken(token.group(1), bot_user))
        end = token.end()
    return storable("".join((*pieces, unescape(text[end:])))).strip()


def mentions(text: str, user: str) -> bool:
    """Return whether Slack's text calls the user: a mention inside of code is an example of one."""
    return _names(_CODE.sub(" ", text), user)


def quotes_mention(text: str, user: str) -> bool:
    """Return whether the text mentions the user inside of code, and nowhere else."""
    return _names(text, user) and not mentions(text, user)


def _names(text: str, user: str) -> bool:
    return bool(user) and re.search(rf"<@{re.escape(user)}(?:\|[^<>]*)?>", text) is not None


def storable(text: str) -> str:
    """Return the text without what UTF-8 and SQL cannot hold: lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")


def _spoken(token: str, bot_user: str) -> str:
    target, _, label = token.partition("|")
    target, label = unescape(target), unescape(label)
    if target.startswith("@"):
        return "" if bot_user and target == f"@{bot_user}" else f"@{label.removeprefix('@') or target[1:]}"
    if target.startswith("#"):
        return f"#{label.removeprefix('#') or target[1:]}"
    if target.startswith("!date^"):
        return label or target.split("^")[2] if target.count("^") > 1 else label
    if target.startswith("!subteam^"):
        return label or f"@{target.removeprefix('!subteam^')}"
    if target.startswith("!"):
        return label or f"@{target[1:]}"
    address = target.removeprefix("mailto:")
    return f"{label} ({address})" if label and label not in address else label or address


def split(text: str, limit: int) -> list[str]:
    """Return pieces of plain text, each at most `limit` characters once escaped, cut where a reader would.

    No piece is blank, and no cut falls inside a character that people see as one (an emoji with its modifiers), nor
    inside a link or code between backquotes that fits into a piece.
    An empty text has no pieces.
    """
    pieces: list[str] = []
    rest = text.strip()
    while rest:
        cut = _cut(rest, limit)
        pieces.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return [piece for piece in pieces if piece]


def shorten(text: str, limit: int) -> str:
    """Return the text, cut with an ellipsis where its escaped form would be longer than `limit`."""
    if len(escape(text)) <= limit:
        return text
    return text[: _fitting(text, limit - 1)].rstrip() + "…"


def _cut(text: str, limit: int) -> int:
    fitting = _fitting(text, limit)
    if fitting >= len(text):
        return len(text)
    whole = [(found.start(), found.end()) for found in _WHOLE.finditer(text) if found.start() < fitting]
    for seam in _SEAMS:
        ends = [found.end() for found in seam.finditer(text, 0, fitting) if not _inside(found.end(), whole)]
        if ends and ends[-1] >= fitting * _EARLIEST_SEAM:
            return ends[-1]
    start = next((start for start, end in whole if start < fitting < end), 0)
    return start or fitting


def _inside(cut: int, whole: Sequence[tuple[int, int]]) -> bool:
    return any(start < cut < end for start, end in whole)


def _fitting(text: str, limit: int) -> int:
    """Return how many characters of the text fit, whole graphemes alone; at least one, so that a cut moves on."""
    used = end = 0
    for start, stop in _graphemes(text):
        used += len(escape(text[start:stop]))
        if used > limit:
            break
        end = stop
    return end or min(len(text), max(1, limit // len("&amp;")))


def _graphemes(text: str) -> Iterator[tuple[int, int]]:
    for found in _GRAPHEME.finditer(text):
        yield found.span()
