"""The words of a message: its text, or, where that is empty, what stands in its blocks or in a message it forwards.

A forwarded message and one that an app composed may come with an empty text
(https://docs.slack.dev/reference/events/message/). What is returned is Slack's text, escaped and with its tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hermes_bot.edge.text import clipped, escape

DEEPEST = 8
MOST_CHARACTERS = 40_000
_SEPARATE = frozenset({"rich_text_section", "rich_text_preformatted", "rich_text_quote", "rich_text_list"})


def spoken(message: Mapping[str, Any]) -> str:
    """Return the text, else the blocks' words, else those of what is forwarded; empty where there are none."""
    text = message.get("text")
    if isinstance(text, str) and text.strip():
        return text
    return _in_blocks(message.get("blocks")) or "\n".join(_forwarded(message.get("attachments")))


def _in_blocks(blocks: object) -> str:
    return clipped("".join(_pieces(blocks, DEEPEST)).strip(), MOST_CHARACTERS)


def _forwarded(attachments: object) -> Iterator[str]:
    """Yield the words of shared messages; previews of links and the like are nobody's words."""
    for each in attachments if isinstance(attachments, list) else ():
        if isinstance(each, Mapping) and (each.get("is_share") or each.get("is_msg_unfurl")):
            words = each.get("text") or each.get("fallback")
            if isinstance(words, str) and words.strip():
                yield words


def _pieces(elements: object, depth: int) -> Iterator[str]:
    for element in elements if isinstance(elements, list) and depth else ():
        if not isinstance(element, Mapping):
            continue
        yield _token(element)
        yield from _pieces(element.get("elements"), depth - 1)
        if str(element.get("type")) in _SEPARATE:
            yield "\n"


def _token(element: Mapping[str, Any]) -> str:
    """Return an element as it would stand in a message's text."""
    kind, text = str(element.get("type")), element.get("text")
    inner = text.get("text") if isinstance(text, Mapping) else None
    if isinstance(inner, str):  # a section: its text is Slack's already
        return f"{inner}\n"
    label = escape(text) if isinstance(text, str) else ""
    if kind == "link" and isinstance(element.get("url"), str):
        url = escape(element["url"])
        return f"<{url}|{label}>" if label else f"<{url}>"
    of_kind = {"user": ("@", "user_id"), "channel": ("#", "channel_id"), "usergroup": ("!subteam^", "usergroup_id")}
    if kind in of_kind:
        mark, name = of_kind[kind]
        return f"<{mark}{escape(str(element.get(name) or ''))}>"
    if kind == "emoji":
        return f":{element.get('name')}:"
    return label if kind == "text" else ""
