"""Emoji as Slack stores them: what a person types as a character is kept as `:shortcode:`.

The names are those of the page's picker; `emoji.json` is made with it, by deploy/write_emoji.mjs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import regex

_DATA = Path(__file__).with_name("emoji.json")
_COLOURED = "\N{VARIATION SELECTOR-16}"
_GRAPHEME = regex.compile(r"\X")
_TONE = "::skin-tone-"


@dataclass(frozen=True, slots=True)
class _Table:
    """`names` by the form without variation selectors; `text_first` are characters that are emoji only with one."""

    names: dict[str, str]
    text_first: frozenset[str]
    forms: dict[str, str]


@cache
def _table() -> _Table:
    forms: dict[str, str] = json.loads(_DATA.read_text(encoding="utf-8"))["forms"]
    first = {form.replace(_COLOURED, ""): names.partition(",")[0] for form, names in forms.items()}
    text_first = frozenset(form[0] for form in forms if form[1:] == _COLOURED)
    known = {name: form for form, names in forms.items() for name in names.split(",")}
    return _Table(first, text_first, known)


def shortcoded(text: str) -> str:
    """Return the text with every emoji that Slack has a name for as `:name:`, its skin tone beside it."""
    if text.isascii():
        return text
    return str(_GRAPHEME.sub(lambda found: _named(found[0]), text))


def form_of(name: str) -> str:
    """Return the emoji that a shortcode (without its outer colons) stands for, "" when Slack has none of that name."""
    known = _table().forms
    plain, _, tone = name.partition(_TONE)
    return known.get(name) or known.get(_first_name(plain) + _TONE + tone, "") if tone else known.get(name, "")


def _first_name(name: str) -> str:
    table = _table()
    return table.names.get(table.forms.get(name, "").replace(_COLOURED, ""), name)


def _named(grapheme: str) -> str:
    table = _table()
    if grapheme in table.text_first:
        return grapheme
    name = table.names.get(grapheme.replace(_COLOURED, ""))
    return f":{name}:" if name else grapheme
