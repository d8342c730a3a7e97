"""Which goods of an order somebody means, by SKU or name, and how many of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hermes_bot.tools.order import Item

MOST_TEXT = 2_000

_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "both": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6,
}  # fmt: skip
_BEFORE = re.compile(
    r"(?P<number>(?<!\d)\d{1,3}|\b(?:one|two|both|three|four|five|six)\b|[一两二三四五六])"
    r"\s?(?:x|×|of|the|my|of the|of my|pieces? of|[个件台双副把条只瓶])?\s?(?:[a-z-]+ )?$"
)
_WRITTEN = re.compile(
    r"(?:(?P<before>\d{1,3})\s*[x×*]\s*)?(?P<name>.*?)(?:\s*[x×*]\s*(?P<after>\d{1,3}))?", re.IGNORECASE | re.DOTALL
)
_EXCEPT = re.compile(r"\b(?:except(?: for)?|but not|apart from|other than|everything but|all but)\b|除了?|除开")
_KEEPS = re.compile(
    r"(?<!to )(?<!not )\bkeep(?:ing)?\b|\b(?:don't|do not|not|never) (?:refund|return|send back)\b|\b(?:is|are) fine\b"
    r"|留着|留下|保留|不退|别退|不用退|不要退|没问题"
)
_CLAUSE = re.compile(r"[.,;!?，。；！？、\n]|\b(?:but|and)\b|但是?|不过")
_TELLS = re.compile(r"\b(?:bought|ordered|purchased|got|received)\b|买了|订了|订购了|下单了|收到了")
_ASKS = re.compile(
    r"\b(?:refund|return|back|want|would|like|please|keep|is|are|was|were|does|doesn't|don't|not|too|broken|damaged|faulty"
    r"|defective|wrong|missing|without|instead)\b|[退坏破错缺少想要请换不]"
)
_EVERY = re.compile(r"\b(?:both|all|every|everything|each|whole|them)\b|都|全|所有|一起")
_MERE_WORDS = 4
_HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """So many pieces of one line of an order."""

    item: Item
    quantity: int

    @property
    def cents(self) -> int:
        """What they cost together."""
        return self.quantity * self.item.price_cents

    @property
    def written(self) -> str:
        """How tools write it: "HD-210 x1"."""
        return f"{self.item.sku} x{self.quantity}"


def wanted_of(written: str, items: Iterable[Item]) -> Wanted | None:
    """Return what "HD-210 x1", "2 x Desk lamp" or "desk lamp" means; None where it is not one line of these items.

    Without a number all pieces of the line are meant; more than there are is nothing.
    """
    match = _WRITTEN.fullmatch(_flat(written).strip())
    if match is None:
        return None
    name = match["name"].strip()
    exact = [item for item in items if name in (_flat(item.sku), _flat(item.name))]
    found = exact or [item for item in items if _place(name, item) is not None]
    if len(found) != 1:
        return None
    number = match["before"] or match["after"]
    return _so_many(found[0], int(number) if number else found[0].quantity)


def goods_in(text: str, items: Sequence[Item]) -> tuple[Wanted, ...]:
    """Return the goods of an order that the text names, in the order's own order; empty where it names none.

    "everything except the kettle" is all the others; "I keep the kettle" is no wish for it, and "I bought a kettle and
    a lamp, refund the lamp" one for the lamp.
    """
    flat = _asked_of(_flat(text[:MOST_TEXT]), items)
    places = {item.sku: place for item in items if (place := _place(flat, item)) is not None}
    kept = _kept(flat, items)
    if kept and not _EXCEPT.search(flat):
        return _besides(kept, places, items)
    exception = _EXCEPT.search(flat)
    if exception:
        kept = {sku for sku, place in places.items() if place > exception.start()}
        return (
            tuple(Wanted(item=item, quantity=item.quantity) for item in items if item.sku not in kept) if kept else ()
        )
    found = (
        _so_many(item, _number_before(flat, places[item.sku]) or item.quantity) for item in items if item.sku in places
    )
    return tuple(wanted for wanted in found if wanted is not None)


def names_goods_unclearly(text: str, items: Sequence[Item]) -> bool:
    """Return whether the text names more pieces than the order has, or keeps what it also wants to give back."""
    flat = _asked_of(_flat(text[:MOST_TEXT]), items)
    places = {item.sku: place for item in items if (place := _place(flat, item)) is not None}
    if any(item.sku in places and _number_before(flat, places[item.sku]) > item.quantity for item in items):
        return True
    if _EXCEPT.search(flat):
        return False
    kept = _kept(flat, items)
    others = [clause for clause in _CLAUSE.split(flat) if not _KEEPS.search(clause)]
    both = any(item.sku in kept and _place(clause, item) is not None for clause in others for item in items)
    return both or (bool(kept) and not _besides(kept, places, items))


def _asked_of(flat: str, items: Sequence[Item]) -> str:
    """Return the text without the clauses that only tell what was bought, where goods are named besides."""
    rest, told, start = [], False, 0
    for end in (*_CLAUSE.finditer(flat), None):
        clause = flat[start : end.start() if end else None]
        mere = len(clause.split()) <= _MERE_WORDS and not _ASKS.search(clause)
        told = bool(_TELLS.search(clause) and not _ASKS.search(clause)) or (told and mere)
        rest.append("" if told else clause)
        rest.append(end[0] if end else "")
        start = end.end() if end else start
    asked = "".join(rest)
    named = any(_place(asked, item) is not None for item in items)
    return asked if named and not _EVERY.search(asked) else flat


def _kept(flat: str, items: Sequence[Item]) -> set[str]:
    """Return the SKUs of what the customer says to keep, clause by clause."""
    clauses = [clause for clause in _CLAUSE.split(flat) if _KEEPS.search(clause)]
    return {item.sku for item in items for clause in clauses if _place(clause, item) is not None}


def _besides(kept: Collection[str], places: Mapping[str, int], items: Sequence[Item]) -> tuple[Wanted, ...]:
    """Return what is named besides the goods that are kept; all other goods where nothing is."""
    others = [item for item in items if item.sku not in kept]
    named = [item for item in others if item.sku in places] or others
    return tuple(Wanted(item=item, quantity=item.quantity) for item in named)


def names_goods(text: str, items: Sequence[Item]) -> bool:
    """Return whether the text names any of these goods."""
    flat = _flat(text[:MOST_TEXT])
    return any(_place(flat, item) is not None for item in items)


def _so_many(item: Item, quantity: int) -> Wanted | None:
    return Wanted(item=item, quantity=quantity) if 0 < quantity <= item.quantity else None


def _place(flat: str, item: Item) -> int | None:
    """Return where the text names the item: by its SKU, its name, or what its name ends in ("headphones", "耳机")."""
    places = (flat.find(name) if _HAN.search(name) else _word(flat, name) for name in _names(item))
    return next((place for place in places if place >= 0), None)


def _names(item: Item) -> list[str]:
    """Return the names by which an item goes, the longest first: of a Chinese one every ending of two or more."""
    sku, name = _flat(item.sku), _flat(item.name).strip()
    if _HAN.search(name):
        return [sku, *(name[start:] for start in range(len(name) - 1))]
    return [sku, name, name.split()[-1]] if name else [sku]


def _word(flat: str, name: str) -> int:
    stem = name[:-1] if name.endswith("s") and not name.endswith("ss") else name
    match = re.search(rf"\b{re.escape(stem)}(?:s|es)?\b", flat)
    return match.start() if match else -1


def _number_before(flat: str, place: int) -> int:
    match = _BEFORE.search(flat[max(0, place - 24) : place])
    if match is None:
        return 0
    number = match["number"]
    return int(number) if number.isdigit() else _NUMBERS[number]


def _flat(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()
