"""Finds the one JSON object in what a model wrote: fenced, encoded twice, or with the slips that models make.

What is put right can be read in one way only: single quotes, trailing commas, full-width signs, Python's None. What was
cut off, holds two objects, or gives one key two values is an error.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, NoReturn

MAX_JSON = 20_000  # characters; arguments are a few words each
_MAX_DEPTH = 40
_TIMES_ENCODED = 3
_FENCED = re.compile(r"[^{}\[\]`]*```[a-zA-Z]*\s*(?P<body>.*?)\s*```[^{}\[\]`]*", re.DOTALL)
_WORDS = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
}
_WORD = re.compile(r"[^\W\d][\w-]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?(?:[eE][-+]?\d{1,3})?(?![\w.])", re.ASCII)
_CLOSING = {'"': '"', "'": "'", "“": "”", "”": "”", "‘": "’"}
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SIGNS = {":": ":：", ",": ",，", "}": "}｝", "]": "]］"}


class NotJson(ValueError):
    """The text is not one JSON object; the sentence says why."""


def object_in(text: str) -> dict[str, Any]:
    """Return the one JSON object in the text, an empty one for no text; raise NotJson."""
    if len(text) > MAX_JSON:
        raise NotJson(f"the arguments are longer than {MAX_JSON} characters")
    value: Any = text
    for _ in range(_TIMES_ENCODED):
        if isinstance(value, str):
            value = _value_in(value)
    if not isinstance(value, dict):
        raise NotJson(f"the arguments are not a JSON object but {type(value).__name__}")
    return value


def value_in(text: str) -> Any:
    """Return the JSON array or object that the text is, whole; raise NotJson where it is none."""
    stripped = text.strip()
    if len(stripped) > MAX_JSON or stripped[:1] not in {"[", "{", "［", "｛"}:
        raise NotJson("it is not a JSON value")
    return _parsed(stripped)


def _value_in(text: str) -> Any:
    """Return the value that the text is, or that stands in it in a fence or between words."""
    body = text.strip()
    if not body:
        return {}
    try:
        return _parsed(body)
    except NotJson:
        fenced, start = _FENCED.fullmatch(body), body.find("{")
        if fenced:
            return _parsed(fenced["body"] or "{}")
        if start <= 0 or '"' in body[:start] or "`" in body[:start]:
            raise
        return _only_object(body, start)


def _only_object(body: str, start: int) -> Any:
    """Return the object that begins at `start`, where words stand around it and no second one."""
    reader = _Reader(body)
    reader.at = start
    value = reader.value(0)
    if any(sign in body[reader.at :] for sign in "{}[]"):
        raise NotJson("there is more than one object")
    return value


def _parsed(body: str) -> Any:
    try:
        return json.loads(
            body, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_without_doubles
        )
    except NotJson:
        raise
    except (ValueError, RecursionError) as error:
        strict = str(error)
    reader = _Reader(body)
    try:
        value = reader.value(0)
    except NotJson as error:
        raise NotJson(f"the arguments are not a JSON object: {error}") from None
    if body[reader.at :].strip().rstrip(";"):
        raise NotJson(f"the arguments are not a JSON object: {strict}")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise NotJson(f"the arguments are not a JSON object: {name} is not JSON")


def _finite(number: str) -> float:
    if not math.isfinite(value := float(number)):
        _refuse_constant(number)
    return value


def _without_doubles(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and not _same(found[key], value):
            raise NotJson(f"the arguments give {key!r} twice, with different values")
        found[key] = value
    return found


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)


class _Reader:
    """Reads a value with the slips of models. `at` is where it stands."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    def value(self, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise NotJson("this is nested too deeply")
        sign = self._next()
        if sign in {"{", "｛"}:
            return self._object(depth)
        if sign in {"[", "［"}:
            return self._array(depth)
        if sign in _CLOSING:
            return self._string()
        if number := _NUMBER.match(self._text, self.at):
            self.at = number.end()
            return json.loads(number[0], parse_float=_finite)
        word = _WORD.match(self._text, self.at)
        if word and word[0] in _WORDS:
            self.at = word.end()
            return _WORDS[word[0]]
        raise NotJson(f"there is no value at character {self.at + 1}")

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        pairs: list[tuple[str, Any]] = []
        while not self._take("}"):
            key = self._key()
            if not self._take(":"):
                raise NotJson(f"a colon is missing at character {self.at + 1}")
            pairs.append((key, self.value(depth + 1)))
            if not self._take(",") and not self._at("}"):
                raise NotJson(f"a comma or the end of the object is missing at character {self.at + 1}")
        return _without_doubles(pairs)

    def _array(self, depth: int) -> list[Any]:
        self.at += 1
        items: list[Any] = []
        while not self._take("]"):
            items.append(self.value(depth + 1))
            if not self._take(",") and not self._at("]"):
                raise NotJson(f"a comma or the end of the list is missing at character {self.at + 1}")
        return items

    def _key(self) -> str:
        if self._next() in _CLOSING:
            return self._string()
        word = _WORD.match(self._text, self.at)
        if word is None:
            raise NotJson(f"a key is missing at character {self.at + 1}")
        self.at = word.end()
        return word[0]

    def _string(self) -> str:
        opening = self._text[self.at]
        closing, parts = _CLOSING[opening], list[str]()
        self.at += 1
        while self.at < len(self._text):
            sign = self._text[self.at]
            if sign == closing:
                self.at += 1
                return "".join(parts)
            parts.append(self._escaped() if sign == "\\" else sign)
            self.at += 1
        raise NotJson("a text is cut off")

    def _escaped(self) -> str:
        """Return what the escape means, and stand on its last character."""
        self.at += 1
        sign = self._text[self.at : self.at + 1]
        if sign == "u":
            digits = self._text[self.at + 1 : self.at + 5]
            if not re.fullmatch(r"[0-9a-fA-F]{4}", digits) or 0xD800 <= int(digits, 16) < 0xE000:
                raise NotJson(f"the escape at character {self.at} cannot be read")
            self.at += 4
            return chr(int(digits, 16))
        if sign in _ESCAPES:
            return _ESCAPES[sign]
        if sign and sign in "\"'\\/":
            return sign
        raise NotJson(f"the escape at character {self.at} cannot be read")

    def _next(self) -> str:
        while self._text[self.at : self.at + 1].isspace():
            self.at += 1
        return self._text[self.at : self.at + 1]

    def _at(self, sign: str) -> bool:
        return self._next() != "" and self._next() in _SIGNS[sign]

    def _take(self, sign: str) -> bool:
        here = self._at(sign)
        self.at += here
        return here
