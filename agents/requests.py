"""Parts a message into the requests that it holds. Careful: one request told in two sentences stays one.

Two clauses are two requests only where something between them says so ("also", 另外), or where they name different
orders; what leads up to a wish ("my order 10001 came yesterday") belongs to the wish.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.words import READ_CHARACTERS
from hermes_bot.tools.order_number import order_numbers_in

MOST_CLAUSES = 8

_SEAM = re.compile(
    r"(?<=[.!?])\s+(?=\S)|(?<=[。！？；;])\s*|\n+"
    r"|,?\s+(?=(?:and also|and then|also|and i(?:'d| would)? also|besides|in addition|additionally|secondly"
    r"|another (?:thing|question)|one more (?:thing|question)|oh and|by the way|btw)\b)"
    r"|,?\s+(?=and (?:where|when|what|how|can|could|please|i (?:want|need|would)|refund|return|tell|check|track)\b)"
    r"|[，,]?(?=另外|还有|顺便|此外|再就是|对了)|[，,](?=(?:同时)?(?:请|麻烦|帮我|我要|我想|想要|还要|还想))",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\s*(?:and also|and i(?:'d| would)? also|also|besides|in addition|additionally|secondly|another (?:thing|question)"
    r"|one more (?:thing|question)|oh and|by the way|btw|\(?2[.)]|另外|还有|顺便|此外|再就是|对了|还要|还想)",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"\s*(?:and |but |oh |no |sorry )*(?:(?:no,? )?wait|actually,? (?:no|don'?t|do not|forget)|never ?mind|scratch that"
    r"|forget (?:it|that)|(?:please )?(?:don'?t|do not) (?:refund|cancel|return|send)"
    r"|算了|还是算了|等等|不退了|不用退|别退|不要退|不取消了|先别取消|我改主意)",
    re.IGNORECASE,
)


_WHERE = re.compile(
    r"\bwhere(?:'s| is| are)? (?:it|they|my|the|that|order|#?\d)\w*\b(?!.{0,30}\b(?:refund|money)\b)"
    r"|\btrack (?:it|my|the|that)\b"
    r"|(?<!退款)(?<!钱)(?:到哪|在哪)(?:了|里|儿|$)|催一下|催发货|查.{0,3}物流",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A stretch of the message. `more`: its own first words say that it is something further."""

    text: str
    more: bool

    @property
    def orders(self) -> frozenset[str]:
        """The order numbers it names."""
        return frozenset(order_numbers_in(self.text))


def clauses_of(text: str) -> tuple[Clause, ...]:
    """Return the message in clauses; a long or much-divided one is a single clause."""
    if len(text) > READ_CHARACTERS:
        return (Clause(text=text, more=False),)
    pieces = [piece.strip(" ,，;；") for piece in _SEAM.split(text)]
    clauses = tuple(Clause(text=piece, more=bool(_MORE.match(piece))) for piece in pieces if piece)
    return clauses if len(clauses) <= MOST_CLAUSES else (Clause(text=text, more=False),)


def may_hold_several(clauses: Sequence[Clause]) -> bool:
    """Return whether anything says that the clauses are more than one request."""
    if len(clauses) < 2:
        return False
    named = [clause.orders for clause in clauses if clause.orders]
    return any(clause.more for clause in clauses[1:]) or any(one.isdisjoint(named[0]) for one in named[1:])


def takes_back(clauses: Sequence[Clause]) -> bool:
    """Return whether a later clause takes back what an earlier one has asked for."""
    return any(_TAKES_BACK.match(clause.text) for clause in clauses[1:])


def asks_where(text: str) -> bool:
    """Return whether the text asks where something is, or to hurry it: clear in the midst of any other matter."""
    return _WHERE.search(text[:READ_CHARACTERS]) is not None
