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


def _word_expression(word: str) -> str:
    """Return an expression for one word or phrase: blanks stretch, edges count only beside spaced scripts."""
    folded = fold(word)
    body = r"\s+".join(re2.escape(part) for part in folded.split())
    left = "" if _UNSPACED_CHAR.search(folded[:1]) or not folded[:1].isalnum() else rf"(?:^|{_EDGE})"
    right = "" if _UNSPACED_CHAR.search(folded[-1:]) or not folded[-1:].isalnum() else rf"(?:$|{_EDGE})"
    return f"{left}({body}){right}"


def _one_of(words: Sequence[str]) -> Any:
    return compile_pattern("|".join(_word_expression(word) for word in words)) if words else None


def _found(pattern: Any, text: str) -> str:
    """Return the words that matched, or nothing."""
    match = pattern.search(text) if pattern is not None else None
    if match is None:
        return ""
    inner = next((group for group in match.groups() if group), None)
    return str(inner or match.group()).strip()


class _Rule:
    """One compiled rule."""

    def __init__(self, keywords: Keywords) -> None:
        self._none = _one_of(keywords.none)
        self._any = _one_of(keywords.any)
        self._all = [_one_of([word]) for word in keywords.all]
        self._phrases = _one_of(keywords.phrases)
        self._patterns = [compile_pattern(f"(?:{expression})") for expression in keywords.patterns]

    def search(self, text: str) -> str:
        """Return what hit in the folded text, or nothing."""
        matched = _found(self._phrases, text) or self._words(text) or self._expression(text)
        return "" if matched and _found(self._none, text) else matched

    def _words(self, text: str) -> str:
        wanted = [*self._all, self._any] if self._any is not None else self._all
        found = []
        for pattern in wanted:
            hit = _found(pattern, text)
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
