"""Keyword rules: exact, explainable, in linear time whatever the text or the pattern.

Words of scripts with blanks match whole words; words of scripts without (Chinese, Japanese, Thai …) and Korean,
whose particles are written on, match anywhere. Everything is compiled once into RE2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import re2

from routing.route import Keywords, Route
from routing.text import fold

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_EDGE = rf"(?:[^\pL\pM\pN_]|[{_UNSPACED}])"
_UNSPACED_CHAR = re2.compile(f"[{_UNSPACED}]")
_MAX_PROGRAM_BYTES = 8 << 20


class BadPattern(ValueError):
    """An expression that RE2 does not take; the text is RE2's own reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordHit:
    """The rule that took a text: its route and the words of the text that made it hit."""

    route: str
    matched: str


def compile_pattern(expression: str) -> Any:
    """Return the compiled expression, case folded. Raises BadPattern."""
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    options.max_mem = _MAX_PROGRAM_BYTES
    try:
        return re2.compile(expression, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "not a valid expression"
        raise BadPattern(reason.decode() if isinstance(reason, bytes) else str(reason)) from error


class _Words:
    """Words and phrases of which one must occur.

    Most texts hold none of them: plain letters are looked for first, and only where they occur are the edges of the
    words looked at, which costs RE2 a hundred times as much.
    """

    def __init__(self, words: Sequence[str]) -> None:
        by_edges: dict[tuple[str, str], list[str]] = {}
        for folded in filter(None, map(fold, words)):
            edges = (_edge(folded[:1], "^"), _edge(folded[-1:], "$"))
            by_edges.setdefault(edges, []).append(r"\s+".join(re2.escape(part) for part in folded.split()))
        bodies = ["|".join(group) for group in by_edges.values()]
        self._letters = compile_pattern("|".join(bodies))
        exact = [f"{left}({body}){right}" for (left, right), body in zip(by_edges, bodies, strict=True)]
        self._exact = compile_pattern("|".join(exact))

    def search(self, text: str) -> str:
        """Return the word that occurs first, or nothing."""
        if self._letters.search(text) is None:
            return ""
        match = self._exact.search(text)
        return next((str(group) for group in match.groups() if group), "") if match is not None else ""


def _edge(char: str, end: str) -> str:
    """Return what must stand beside a word whose first or last character this is."""
    free = not char.isalnum() or _UNSPACED_CHAR.search(char) is not None
    return "" if free else f"(?:{end}|{_EDGE})"


class _Rule:
    """One compiled rule."""

    def __init__(self, keywords: Keywords) -> None:
        self._none = _Words(keywords.none) if keywords.none else None
        self._phrases = _Words(keywords.phrases) if keywords.phrases else None
        self._wanted = [_Words([word]) for word in keywords.all]
        if keywords.any:
            self._wanted.append(_Words(keywords.any))
        self._patterns = [compile_pattern(f"(?:{expression})") for expression in keywords.patterns]

    def search(self, text: str) -> str:
        """Return what hit in the folded text, or nothing."""
        matched = self._phrases.search(text) if self._phrases else ""
        matched = matched or self._words(text) or self._expression(text)
        return "" if matched and self._none and self._none.search(text) else matched

    def _words(self, text: str) -> str:
        found = []
        for words in self._wanted:
            hit = words.search(text)
            if not hit:
                return ""
            found.append(hit)
        return " + ".join(found)

    def _expression(self, text: str) -> str:
        for pattern in self._patterns:
            match = pattern.search(text)
            if match is not None and match.group().strip():
                return str(match.group()).strip()
        return ""


class KeywordRules:
    """The rules of all routes, highest priority first; the first hit is the only one."""

    def __init__(self, routes: Sequence[Route]) -> None:
        ordered = sorted(routes, key=lambda route: -route.priority)
        self._rules = [(route.name, _Rule(keywords)) for route in ordered for keywords in route.keywords]

    def match(self, text: str) -> KeywordHit | None:
        """Return the hit of the route with the highest priority (in the file's order when equal), or None."""
        folded = fold(text)
        if not folded:
            return None
        for name, rule in self._rules:
            matched = rule.search(folded)
            if matched:
                return KeywordHit(route=name, matched=matched[:200])
        return None
