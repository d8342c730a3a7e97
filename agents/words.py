"""Reads the few things in a text that need no routing: small talk, bare follow-ups, a yes or a no."""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from typing import Any

import re2

from agents import vocabulary
from hermes_bot.tools.order_number import order_numbers_in

READ_CHARACTERS = 2_000
SHORT_WORDS = 8
SHORT_HAN = 15
FORWARDED = "[forwarded]"  # what the edge puts above words that somebody forwards


class SmallTalk(StrEnum):
    """What a text without a concern is."""

    GREETING = "greeting"
    THANKS = "thanks"
    BYE = "bye"
    WHO = "who"


_PERSON = re.compile(vocabulary.PERSON)
_YES = re.compile(vocabulary.YES)
_NO = re.compile(vocabulary.NO)
_NOT_NOW = re.compile(r"\b(?:keep|wait|tomorrow|later|yet|unless)\b|等|先别|明天|以后|暂")
_ASKS_ABOUT_REFUND = re.compile(vocabulary.ASKS_ABOUT_REFUND)
_ASKS_ABOUT_ORDER = re.compile(vocabulary.ASKS_ABOUT_ORDER)
_MARKS = re.compile(r"[^\w\s']+|_")


def plain(text: str) -> str:
    """Return the head of the text in lower case, signs as blanks, so that a pattern sees words only."""
    flat = unicodedata.normalize("NFKC", text[:READ_CHARACTERS]).lower().replace("’", "'")
    return " ".join(_MARKS.sub(" ", flat).split())


def _talk(kind: str, *beside: str) -> Any:
    """Return an expression for a text with `kind` in it and nothing but what may stand beside it.

    RE2, because these words overlap and a backtracking engine would take exponential time on a hostile text.
    """
    around = rf"(?:(?:{'|'.join((kind, vocabulary.FILLER, *beside))})\s*)*"
    return re2.compile(rf"{around}(?:{kind})\s*{around}")


_KINDS = {
    SmallTalk.WHO: _talk(vocabulary.WHO, vocabulary.GREETING),
    SmallTalk.BYE: _talk(vocabulary.BYE, vocabulary.THANKS),
    SmallTalk.THANKS: _talk(vocabulary.THANKS, vocabulary.BYE, vocabulary.GREETING),
    SmallTalk.GREETING: _talk(vocabulary.GREETING),
}
_BARE_TALK = _talk(vocabulary.BARE)
_CALL = _talk(vocabulary.CALL, vocabulary.BESIDE_A_CALL, vocabulary.GREETING, vocabulary.THANKS)
_OPENS_WITH_THANKS = re.compile(r"(?:ok |okay |great |perfect |oh )?(?:thanks|thank you|谢谢|多谢|感谢)")
_WITH_DIGITS = re.compile(r"[a-z]*\d[a-z0-9-]*")
_BESIDE_A_NUMBER = re.compile(
    r"\b(?:it'?s|it|is|the|order|number|no|nr|id|my|and|so|this one|this)\b|[我的就是这个单号订编码]+|[单]?号是?"
)
LOOSE_CHARACTERS = 200


def small_talk(text: str) -> SmallTalk | None:
    """Return what kind of small talk the whole text is; None when it says anything else."""
    flat = plain(text)
    if not flat or len(flat) > LOOSE_CHARACTERS:
        return None
    return next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(flat)), None)


def calls_for_help(text: str) -> bool:
    """Return whether the whole text asks to look at what stands elsewhere, and says nothing of it: "see above"."""
    flat = plain(text)
    return len(flat) <= LOOSE_CHARACTERS and _CALL.fullmatch(flat) is not None


def is_thanks(text: str) -> bool:
    """Return whether a text that no agent took is a longer way to say thanks."""
    flat = plain(text)
    asks = "?" in text or "？" in text or bool(order_numbers_in(text))
    return len(flat) <= LOOSE_CHARACTERS and not asks and bool(_OPENS_WITH_THANKS.match(flat))


def is_bare(text: str) -> bool:
    """Return whether the text only makes sense as an answer to what was said before: "10002", "yes", "any news?"."""
    flat = plain(text)
    if _BARE_TALK.fullmatch(flat):
        return True
    rest = _BESIDE_A_NUMBER.sub(" ", _WITH_DIGITS.sub(" ", flat))
    return bool(order_numbers_in(text)) and not rest.strip()


def is_short(text: str) -> bool:
    """Return whether the text is as short as a follow-up usually is."""
    flat = plain(text)
    han = len(re.findall(r"[\u4e00-\u9fff]", flat))
    return han <= SHORT_HAN and len(flat.split()) <= SHORT_WORDS


def asks_for_a_person(text: str) -> bool:
    """Return whether the whole text asks for a person, such as the word "human" that the bot offers."""
    return _PERSON.fullmatch(plain(text)) is not None


def says_yes(text: str) -> bool:
    """Return whether the text agrees to what was asked, now, and does nothing else."""
    asks = any(mark in text for mark in "?？吗")
    flat = plain(text)
    return not asks and is_short(text) and _YES.match(flat) is not None and _NOT_NOW.search(flat) is None


def says_no(text: str) -> bool:
    """Return whether the text declines what was asked."""
    return _NO.match(plain(text)) is not None


def own_part(text: str) -> str:
    """Return what the writer says themselves, without what they forward under it."""
    return text.partition(FORWARDED)[0]


def only_asks_about_refunds(text: str) -> bool:
    """Return whether the text asks about refunds (rules, time, whether one is possible) and does not ask for one."""
    return _ASKS_ABOUT_REFUND.search(plain(text)) is not None


def asks_about_order(text: str) -> bool:
    """Return whether the text wants something of an order, and does not only name one, or say that it cannot."""
    return _ASKS_ABOUT_ORDER.search(plain(text)) is not None
