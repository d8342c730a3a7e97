"""Which of our languages a text is in: Chinese or English, by its letters alone."""

from __future__ import annotations

import re

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_OTHER_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d\uac00-\ud7af\u1100-\u11ff]")
_WORD = re.compile(r"[^\W\d_]+")
_TOKEN = re.compile(r"[^\s\u3400-\u9fff]+")
_DIGIT = re.compile(r"\d")
_NEUTRAL = frozenset(
    {"ok", "okay", "k", "yes", "no", "y", "n", "hi", "hey", "hello", "thx", "pls", "sms", "app", "vip"}
)


def language_of(text: str, *, previous: str = "") -> str:
    """Return `zh` when Han characters outnumber the words of other scripts and nothing else East Asian occurs.

    Otherwise `en`. A text that tells nothing (a number, "ok", an emoji) keeps the `previous` language.
    """
    if _OTHER_EAST_ASIAN.search(text):
        return "en"
    han = len(_HAN.findall(text))
    words = _WORD.findall(_HAN.sub(" ", _TOKEN.sub(_unless_it_holds_digits, text)))
    if not han and previous and all(word.lower() in _NEUTRAL for word in words):
        return previous
    return "zh" if han > len(words) else "en"


def _unless_it_holds_digits(token: re.Match[str]) -> str:
    """Return the token, or a blank. One expression for both would look at every tail of a long token: quadratic."""
    return " " if _DIGIT.search(token.group()) else token.group()
