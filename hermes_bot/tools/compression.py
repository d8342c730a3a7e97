"""Bounds what a tool's result takes up in a planner's memory: keeps its structure and says what was left out."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

LEFT_OUT = "_left_out"  # the key under which a result says so
SMALLEST = 300  # characters; there must be room to say what was left out
_MOST_NOTES = 8
_MAX_DEPTH = 30
_MARGIN = 24  # characters of a note's own key, brackets and quotes


@dataclass(frozen=True, slots=True)
class _Cut:
    """How much is kept of each text, list and object."""

    text: int
    items: int
    keys: int
    depth: int


_NO_CUT = _Cut(sys.maxsize, sys.maxsize, sys.maxsize, _MAX_DEPTH)
_CUTS = (
    _Cut(4_000, 200, 200, _MAX_DEPTH),
    _Cut(2_000, 50, 100, 12),
    _Cut(1_000, 30, 60, 8),
    _Cut(500, 20, 40, 8),
    _Cut(250, 10, 30, 6),
    _Cut(120, 5, 20, 5),
    _Cut(80, 3, 15, 4),
    _Cut(40, 2, 10, 3),
    _Cut(20, 1, 5, 3),
)


def size_of(value: Any) -> int:
    """Return the characters of the value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def compressed(result: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Return the result as plain JSON data in at most `limit` characters; the same data where it fits.

    Lists keep their first items, texts their beginning; `_left_out` says of what something is gone. `limit` is at
    least `SMALLEST`. What JSON has no word for, such as a time or a NaN, becomes text.
    """
    whole = _kept_object(result, _NO_CUT, "", 0, _Left())
    limit = max(limit, SMALLEST)
    size = size_of(whole)
    if size <= limit:
        return whole
    for cut in _CUTS:
        left = _Left()
        kept = _kept_object(whole, cut, "", 0, left)
        if size_of(kept) + left.size <= limit:
            return kept | {LEFT_OUT: left.told()}
    return {LEFT_OUT: [f"the whole result: {size} characters"]}


@dataclass(slots=True)
class _Left:
    """What was left out, in words; the first few are told, the others counted."""

    notes: list[str] = field(default_factory=list)
    more: int = 0

    def add(self, place: str, text: str) -> None:
        """Note what is gone at a place."""
        if len(self.notes) < _MOST_NOTES:
            self.notes.append(f"{place[:60] or 'result'}: {text}")
        else:
            self.more += 1

    def told(self) -> list[str]:
        """Return the notes."""
        return [*self.notes, *([f"and at {self.more} more places"] if self.more else [])]

    @property
    def size(self) -> int:
        """The characters that the notes take."""
        return size_of(self.told()) + _MARGIN


def _kept(value: Any, cut: _Cut, place: str, depth: int, left: _Left) -> Any:
    if isinstance(value, str) and len(value) > cut.text:
        left.add(place, f"{len(value) - cut.text} of {len(value)} characters")
        return value[: cut.text] + "…"
    if isinstance(value, Mapping):
        return _kept_object(value, cut, place, depth, left)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return _kept_list(value, cut, place, depth, left)
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)


def _kept_object(value: Mapping[str, Any], cut: _Cut, place: str, depth: int, left: _Left) -> dict[str, Any]:
    if depth >= cut.depth and value:
        left.add(place, f"an object of {len(value)} keys")
        return {}
    if len(value) > cut.keys:
        left.add(place, f"{len(value) - cut.keys} of {len(value)} keys")
    first = islice(value.items(), cut.keys)
    return {str(key): _kept(each, cut, f"{place}.{key}" if place else str(key), depth + 1, left) for key, each in first}


def _kept_list(value: Sequence[Any], cut: _Cut, place: str, depth: int, left: _Left) -> list[Any]:
    if depth >= cut.depth and value:
        left.add(place, f"a list of {len(value)} items")
        return []
    if len(value) > cut.items:
        left.add(place, f"{len(value) - cut.items} of {len(value)} items")
    return [_kept(each, cut, f"{place}[{n}]", depth + 1, left) for n, each in enumerate(value[: cut.items])]
