"""The `rich_text` block that Slack's own client makes of what a person typed."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

from hermes_bot.workspace.emoji import form_of

Json = dict[str, Any]

_FENCE = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)
_PIECE = re.compile(
    r"<(?P<token>[^<>]+)>"
    r"|:(?P<emoji>[a-z0-9_+'\-]+(?:::skin-tone-[2-6](?:-[2-6])?)?):"
    r"|`(?P<code>[^`\n]+)`"
    r"|(?<![\w*])\*(?P<bold>[^*\n]+)\*(?![\w*])"
    r"|(?<![\w_])_(?P<italic>[^_\n]+)_(?![\w_])"
    r"|(?<![\w~])~(?P<strike>[^~\n]+)~(?![\w~])"
)
_TEXT: Json = {"type": "text"}
_STYLES = ("code", "bold", "italic", "strike")


def rich_text(text: str, block_id: str) -> Json:
    """Return the block for stored text: escaped, with its tokens."""
    elements: list[Json] = []
    for at, part in enumerate(_FENCE.split(text)):
        if at % 2:
            elements.append({"type": "rich_text_preformatted", "elements": [_text(part)], "border": 0})
        elif part.strip("\n"):
            elements += _prose(part)
    return {"type": "rich_text", "block_id": block_id, "elements": elements}


def _prose(text: str) -> list[Json]:
    """Return the sections and quotes of text outside of code fences, in order."""
    elements: list[Json] = []
    for quoted, lines in _runs(text.strip("\n").split("\n")):
        kind = "rich_text_quote" if quoted else "rich_text_section"
        elements.append({"type": kind, "elements": _inline("\n".join(lines))})
    return elements


def _runs(lines: list[str]) -> list[tuple[bool, list[str]]]:
    runs: list[tuple[bool, list[str]]] = []
    for line in lines:
        quoted = line.startswith("&gt;")
        line = line.removeprefix("&gt;").removeprefix(" ") if quoted else line
        if runs and runs[-1][0] == quoted:
            runs[-1][1].append(line)
        else:
            runs.append((quoted, [line]))
    return runs


def _inline(text: str) -> list[Json]:
    elements: list[Json] = []
    at = 0
    for piece in _PIECE.finditer(text):
        if piece.start() > at:
            elements.append(_text(text[at : piece.start()]))
        elements.append(_element(piece))
        at = piece.end()
    if at < len(text):
        elements.append(_text(text[at:]))
    return _joined(elements)


def _joined(elements: list[Json]) -> list[Json]:
    """Return the elements with neighbours of plain text as one."""
    joined: list[Json] = []
    for element in elements:
        if joined and element.keys() == joined[-1].keys() == {"type", "text"}:
            joined[-1] = _TEXT | {"text": joined[-1]["text"] + element["text"]}
        else:
            joined.append(element)
    return joined


def _element(piece: re.Match[str]) -> Json:
    if piece["token"]:
        return _token(piece["token"])
    if piece["emoji"]:
        return _emoji(piece["emoji"])
    style = next(name for name in _STYLES if piece[name])
    return _text(piece[style]) | {"style": {style: True}}


def _emoji(name: str) -> Json:
    """Return the element of an emoji; what Slack knows none for ("10:30:45") stays text."""
    form = form_of(name)
    if not form:
        return _text(f":{name}:")
    plain, _, tone = name.partition("::skin-tone-")
    element: Json = {"type": "emoji", "name": plain, "unicode": "-".join(f"{ord(one):04x}" for one in form)}
    return element | ({"skin_tone": int(tone)} if tone.isdigit() else {})


def _token(token: str) -> Json:
    target, _, label = token.partition("|")
    kinds: dict[str, Callable[[], Json]] = {
        "@": lambda: {"type": "user", "user_id": target[1:]},
        "#": lambda: {"type": "channel", "channel_id": target[1:]},
    }
    if target[0] in kinds:
        return kinds[target[0]]()
    if target.startswith("!subteam^"):
        return {"type": "usergroup", "usergroup_id": target.removeprefix("!subteam^")}
    if target in ("!here", "!channel", "!everyone"):
        return {"type": "broadcast", "range": target[1:]}
    link: Json = {"type": "link", "url": html.unescape(target)}
    return link | ({"text": html.unescape(label)} if label else {})


def _text(text: str) -> Json:
    return _TEXT | {"text": html.unescape(text)}
