"""The words of a message: what its writer said, and under it what they forward, marked as a quote.

A forwarded message and one that an app composed may come with an empty text
(https://docs.slack.dev/reference/events/message/). What is forwarded on purpose is `is_share`; the preview of a link to
a message is `is_msg_unfurl` alone, and nobody's words. What is returned is Slack's text, escaped and with its tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hermes_bot.edge.text import clipped, escape

DEEPEST = 8
MOST_CHARACTERS = 40_000
MOST_QUOTES = 5
QUOTE_CHARACTERS = 8_000  # all that is forwarded in one message
FORWARDED = "[forwarded]"
"""Stands above what is forwarded: quoted words are the writer's matter, and never their yes."""
_SEPARATE = frozenset({"rich_text_section", "rich_text_preformatted", "rich_text_quote", "rich_text_list"})
_OF_PROGRAMS = ("pretext", "title", "text")


def spoken(message: Mapping[str, Any]) -> str:
    """Return the writer's words, and what they forward under them; empty where there is neither."""
    own = own_words(message)
    quotes = [_quoted(words) for words in _forwarded(message.get("attachments"), alone=not own)]
    return "\n".join([*filter(None, [own]), *quotes])


def own_words(message: Mapping[str, Any]) -> str:
    """Return the text, else the blocks' words, without what is forwarded."""
    text = message.get("text")
    return text if isinstance(text, str) and text.strip() else _in_blocks(message.get("blocks"))


def reported(message: Mapping[str, Any]) -> str:
    """Return the words of a program's message, which may stand in its attachments alone, or go on there."""
    parts = [own_words(message), *(_report(each) for each in mappings(message.get("attachments")))]
    return clipped("\n".join(dict.fromkeys(part for part in parts if part.strip())), QUOTE_CHARACTERS)


def _report(attachment: Mapping[str, Any]) -> str:
    """Return what a program put into an attachment; the preview of a link is none of its words."""
    if attachment.get("from_url"):
        return ""
    words = [attachment[name] for name in _OF_PROGRAMS if isinstance(attachment.get(name), str)]
    fallback = attachment.get("fallback")
    return "\n".join(words) or _in_blocks(attachment.get("blocks")) or (fallback if isinstance(fallback, str) else "")


def _in_blocks(blocks: object) -> str:
    return clipped("".join(_pieces(blocks, DEEPEST)).strip(), MOST_CHARACTERS)


def _forwarded(attachments: object, *, alone: bool) -> Iterator[str]:
    """Yield the words of shared messages, within a bound; `alone`: the message has no other words."""
    left = QUOTE_CHARACTERS
    shared = [each for each in mappings(attachments) if each.get("is_share") or (alone and each.get("is_msg_unfurl"))]
    for each in shared[:MOST_QUOTES]:
        found = next((words for words in _versions(each) if words.strip()), "")
        if found and left > 0:
            words = clipped(found.strip(), left)
            left -= len(words)
            yield words


def _versions(share: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of a shared message, the best first: its text, its blocks, what stands in for both."""
    yield share["text"] if isinstance(share.get("text"), str) else ""
    for each in mappings(share.get("message_blocks")):
        inner = each.get("message")
        yield _in_blocks(inner.get("blocks")) if isinstance(inner, Mapping) else ""
    yield share["fallback"] if isinstance(share.get("fallback"), str) else ""


def _quoted(words: str) -> str:
    return "\n".join([FORWARDED, *(f"&gt; {line}" for line in words.splitlines())])


def mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the JSON objects of a list, none of what is no list."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _pieces(elements: object, depth: int) -> Iterator[str]:
    for element in elements if isinstance(elements, list) and depth else ():
        if not isinstance(element, Mapping):
            continue
        mark = _code_mark(element)
        yield f"{mark}{_token(element)}"
        yield from _pieces(element.get("elements"), depth - 1)
        yield mark
        if str(element.get("type")) in _SEPARATE:
            yield "\n"


def _code_mark(element: Mapping[str, Any]) -> str:
    """Return what stands on both sides of code in a message's text: whom code names is not called."""
    style = element.get("style")
    inline = isinstance(style, Mapping) and style.get("code") is True
    return "```" if element.get("type") == "rich_text_preformatted" else "`" if inline else ""


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
