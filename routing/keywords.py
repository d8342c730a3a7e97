"""Keyword rules: exact, explainable, in linear time whatever the text or the pattern.

Words of scripts with blanks match whole words; words of scripts without (Chinese, Japanese, Thai …) and Korean,
whose particles are written on, match anywhere. Expressions are RE2's. One filter over all rules says which of them
can hit at all, so the number of rules hardly counts; only those are looked at one by one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from routing.route import Keywords, Route
from routing.text import fold, for_rules

_UNSPACED = re2.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_MAX_PROGRAM_BYTES = 8 << 20
_LONGEST_MATCH = 200


class BadPattern(ValueError):
    """An expression that RE2 does not take; the text is RE2's own reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordHit:
    """A rule that hit: its route and the words of the text that made it hit.

    `silenced_by` is the word of the rule's `none` that stands in the text as well, so that the rule does not count.
    """

    route: str
    matched: str
    silenced_by: str = ""


def compile_pattern(expression: str) -> Any:
    """Return the compiled expression, case folded. Raises BadPattern."""
    try:
        return re2.compile(expression, _options())
    except re2.error as error:
        reason = error.args[0] if error.args else "not a valid expression"
        raise BadPattern(reason.decode() if isinstance(reason, bytes) else str(reason)) from error


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    options.max_mem = _MAX_PROGRAM_BYTES
    return options


class _Words:
    """Words and phrases of which one must occur in a folded text."""

    def __init__(self, words: Sequence[str]) -> None:
        folded = dict.fromkeys(filter(None, map(fold, words)))
        self._words = [(word, _joins(word[0]), _joins(word[-1])) for word in folded]

    @property
    def trigger(self) -> str:
        """An expression that every text with one of the words matches."""
        return "|".join(re2.escape(word) for word, _, _ in self._words)

    def search(self, text: str) -> str:
        """Return the word that occurs first, or nothing."""
        first, found = len(text), ""
        for word, bound_left, bound_right in self._words:
            at = text.find(word)
            while -1 < at < first:
                end = at + len(word)
                left_free = not bound_left or at == 0 or not _joins(text[at - 1])
                if left_free and (not bound_right or end == len(text) or not _joins(text[end])):
                    first, found = at, word
                    break
                at = text.find(word, at + 1)
        return found


@lru_cache(maxsize=4096)
def _joins(char: str) -> bool:
    """Whether a character of a script with blanks goes on a word: a letter, mark, digit or underscore."""
    written = char == "_" or unicodedata.category(char)[0] in "LMN"
    return written and _UNSPACED.search(char) is None


class _Rule:
    """One compiled rule. `triggers` are expressions of which one matches every text that it can hit."""

    def __init__(self, keywords: Keywords) -> None:
        self._none = _Words(keywords.none)
        self._phrases = _Words(keywords.phrases)
        self._wanted = [_Words([word]) for word in keywords.all]
        if keywords.any:
            self._wanted.append(_Words(keywords.any))
        self._patterns = [compile_pattern(f"(?:{expression})") for expression in keywords.patterns]
        words = [self._phrases.trigger, self._wanted[-1].trigger if self._wanted else ""]
        self.triggers = [*filter(None, words), *(f"(?:{expression})" for expression in keywords.patterns)]

    def search(self, text: str) -> tuple[str, str]:
        """Return what hit in the folded text, or nothing, and the word that silences the rule, or nothing."""
        matched = self._phrases.search(text) or self._all_words(text) or self._expression(text)
        return (matched[:_LONGEST_MATCH], self._none.search(text)) if matched else ("", "")

    def _all_words(self, text: str) -> str:
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
        self._filter = re2.Filter()
        self._owner: list[int] = []
        for number, (_, rule) in enumerate(self._rules):
            for trigger in rule.triggers:
                self._filter.Add(trigger, _options())
                self._owner.append(number)
        if self._owner:
            self._filter.Compile()

    def match(self, text: str) -> KeywordHit | None:
        """Return the hit of the route with the highest priority (in the file's order when equal), or None."""
        return next((hit for hit in self._hits(for_rules(text)) if not hit.silenced_by), None)

    def hits(self, text: str) -> list[KeywordHit]:
        """Return every rule that hits, and every one that would if no word silenced it, highest priority first."""
        return list(self._hits(for_rules(text)))

    def _hits(self, folded: str) -> Iterator[KeywordHit]:
        if not folded or not self._owner:
            return
        possible = self._filter.Match(folded.encode("utf-8", "surrogatepass"), potential=True) or ()
        for number in sorted({self._owner[index] for index in possible}):
            name, rule = self._rules[number]
            matched, silenced_by = rule.search(folded)
            if matched:
                yield KeywordHit(route=name, matched=matched, silenced_by=silenced_by)
