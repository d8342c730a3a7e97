"""Text between people and Slack: decoded once on the way in, escaped once on the way out, split below limits.

Slack escapes `&`, `<` and `>` alone, both ways (https://docs.slack.dev/messaging/formatting-message-text/).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

import regex

SECTION_CHARACTERS = 3_000
TEXT_CHARACTERS = 40_000
UPDATE_CHARACTERS = 4_000

_TOKEN = re.compile(r"<([^<>]*)>")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_GRAPHEME = regex.compile(r"\X")
# Where a text may be cut, best first: after a paragraph, a line, a sentence (also Chinese), a clause, a word.
_SEAMS = tuple(re.compile(seam) for seam in (r"\n\n+", r"\n", r"[.!?…]\s|[。！？]", r"[,;:]\s|[，；：]", r"\s"))
# What reads as one thing and is cut only where it alone is longer than a piece: code, links, emphasis.
_WHOLE = re.compile(
    r"```.*?```|`[^`\n]+`|https?://[^\s<>]+|(?<![\w*_~])([*_~])(?=\S)[^\n*_~]{1,200}(?<=\S)\1(?![\w*_~])", re.DOTALL
)
_ATOM = regex.compile(r"<[^<>\n]*>|&(?:amp|lt|gt);|\X")  # of an escaped text
_FENCE = "```"
_LEAST_CODE = 20  # of a code that is cut, so much at least stands in a piece
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
    inside a link, code or emphasis that fits into a piece. Code that does not is closed at the end of a piece and
    opened again in the next. An empty text has no pieces.
    """
    pieces: list[str] = []
    rest = text.strip()
    while rest:
        piece, rest = _parted(rest, limit)
        pieces.append(piece.rstrip())
    return [piece for piece in pieces if piece]


def shorten(text: str, limit: int) -> str:
    """Return the text, cut with an ellipsis where its escaped form would be longer than `limit`."""
    if len(escape(text)) <= limit:
        return text
    cut = _fitting(text, limit - 1)
    start = next((start for start, end in _spans(text, cut) if start < cut < end), cut)
    return text[: start if start >= cut * _EARLIEST_SEAM else cut].rstrip() + "…"


def clipped(text: str, limit: int) -> str:
    """Return what is escaped already, cut with an ellipsis where it is longer than `limit`.

    No entity (`&amp;`), no link or mention (`<…>`) and no character is cut in two, and code is closed.
    """
    if len(text) <= limit:
        return text
    head = _head(_ATOM, text, limit - 1)
    if head.count(_FENCE) % 2:
        head = _head(_ATOM, text, limit - 1 - len(_FENCE))
        return f"{head}…{_FENCE}" if head.count(_FENCE) % 2 else f"{head}…"
    return head.rstrip() + "…"


def head(text: str, limit: int) -> str:
    """Return the first characters of a text, at most `limit`, none of those that people see as one in two."""
    return text if len(text) <= limit else _head(_GRAPHEME, text, limit)


def _head(atom: regex.Pattern[str], text: str, limit: int) -> str:
    end = 0
    for found in atom.finditer(text):
        if found.end() > limit:
            break
        end = found.end()
    return text[:end]


def _parted(text: str, limit: int) -> tuple[str, str]:
    """Return the first piece and what is left."""
    fitting = _fitting(text, limit)
    if fitting >= len(text):
        return text, ""
    whole = _spans(text, fitting)
    start, end = next(((start, end) for start, end in whole if start < fitting < end), (0, 0))
    if text.startswith("`", start, end) and fitting - start >= _LEAST_CODE < limit < len(escape(text[start:end])):
        return _code_parted(text, start, end, limit)
    cut = _seam(text, fitting, whole) or start or fitting
    return text[:cut], text[cut:].lstrip()


def _code_parted(text: str, start: int, end: int, limit: int) -> tuple[str, str]:
    """Return the two sides of a cut inside code: after a line, if there is one; each side is code of its own."""
    mark, glue = (_FENCE, "\n") if text.startswith(_FENCE, start) else ("`", "")
    opened, closing = start + len(mark), end - len(mark)
    cut = min(_fitting(text, limit - len(mark) - len(glue)), closing)
    line_end = text.rfind("\n", opened, cut)
    cut, skipped = (line_end, 1) if text[opened : max(line_end, opened)].strip() else (cut, 0)
    before, inside, left = text[:start], text[opened:cut], text[cut + skipped : closing]
    piece = f"{before}{mark}{inside}{glue}{mark}" if inside.strip() else before
    return piece, (f"{mark}{glue}{left}{text[closing:]}" if left.strip() else text[end:].lstrip())


def _seam(text: str, fitting: int, whole: Sequence[tuple[int, int]]) -> int:
    """Return the best place for a cut that leaves no piece too short; 0 where there is none."""
    for seam in _SEAMS:
        ends = [found.end() for found in seam.finditer(text, 0, fitting) if not _inside(found.end(), whole)]
        if ends and ends[-1] >= fitting * _EARLIEST_SEAM:
            return ends[-1]
    return 0


def _spans(text: str, before: int) -> list[tuple[int, int]]:
    """Return where what reads as one thing starts and ends, if it starts before that place."""
    found = takewhile(lambda match: match.start() < before, _WHOLE.finditer(text))
    return [match.span() for match in found]


def _inside(cut: int, whole: Sequence[tuple[int, int]]) -> bool:
    return any(start < cut < end for start, end in whole)


def _fitting(text: str, limit: int) -> int:
    """Return how many characters of the text fit, whole graphemes alone; at least one, so that a cut moves on."""
    used = end = 0
    for found in _GRAPHEME.finditer(text):
        used += len(escape(found.group()))
        if used > limit:
            break
        end = found.end()
    return end or min(len(text), max(1, limit // len("&amp;")))
