"""Reads which part of an order's money is wanted back: an amount, or the price of some of its goods."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from agents.planner import Run
from agents.rules.goods import goods_in, names_goods_unclearly
from agents.rules.which_order import words_of
from agents.words import says_yes
from hermes_bot.tools.money import money_in, speaks_of_other_money
from hermes_bot.tools.order_number import order_numbers_in

CHOICE_CONFIRM = "confirm:"

_SOME = re.compile(
    r"\bpart(?:ial(?:ly)?|ly| of)\b|(?<![\d/])\d{1,2} ?/ ?\d{1,3}(?![\d/])|\bdifference\b|"
    r"\b(?:shipping|delivery|postage|customs) ?(?:costs?|fees?|charges?|duties)\b|"
    r"运费|邮费|差价|差额|[一二两三四五六七八九\d]成(?!新)|"
    r"\bsome of\b|\bonly (?:one|some|part)\b|\bhalf\b(?! an? )|"
    r"\b(?:a|one) (?:third|quarter)\b|\btwo thirds\b|(?<!\d)\d{1,2} ?(?:%|percent\b)|部分|一部分|其中|一半|分之",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"\bhalf (?:of )?(?:my |the |its )?(?:money|price|amount|sum|total|cost)\b|(?<!\d)50 ?(?:%|percent\b)|"
    r"退(?:我|还|回|款)?一半|一半的?(?:钱|金额|款|价)",
    re.IGNORECASE,
)
_BARE_SUM = re.compile(
    r"(?:\brefund(?: me)?|\bpay (?:me )?back|退(?:款|还|给|我|回)*)\s*(?:only|just|about)?\s*"
    r"(?P<sum>\d[\d.,]*(?![\d%])|[一二两三四五六七八九]?[百千万十][一二三四五六七八九百十零]*)(?!\s*[个件台双副把条只瓶天号])",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"\b(?:make|change|set) (?:it|that|this)\b|\b(?:instead|rather|only|just|actually|no longer)\b|"
    r"改|换成|只[要退]|就退|不用全|还是",
    re.IGNORECASE,
)
_BARE_CHANGE = re.compile(
    r"\b(?:make|change|set) (?:it|that|this)(?: to)?(?: only| just)? \d[\d.,]*(?=\s*(?:instead|please|then|[.!]|$))|"
    r"(?:改成|改为|换成|只退|就退)\s*\d[\d.,]*(?=\s*(?:吧|就好|就行|[。！]|$))",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:everything|all of (?:it|them)|(?:whole|entire|full) (?:order|amount|sum|price|money|thing)|in full|fully)\b"
    r"|全部|全额|全退|整单|都退",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What is wanted: `cents`, 0 for all that is left; the goods as tools and as customers write them.

    `problem` is why it cannot be: currency (another one), above_open (more than is left), unclear (which part).
    """

    cents: int = 0
    items: tuple[str, ...] = ()
    goods: str = ""
    problem: str = ""


def part_of(run: Run, facts: dict[str, Any], order: dict[str, Any]) -> Part:
    """Return the part that the customer's words name; all that is left where they name none."""
    offer = run.memory.get("offers", {}).get(facts["order_id"])
    if offer is not None and _agrees(run) and (run.choice or not _names_part(run.text, facts, order)):
        part = Part(cents=int(offer["cents"]), items=tuple(offer["items"]), goods=str(offer["goods"]))
        return part if part.cents <= facts["open_cents"] else Part(problem="above_open")
    said = _named(run.text, facts, order) if not run.choice else None
    if said is None and run.memory.get("waiting") == "part" and _ALL.search(run.text):
        return Part()
    said = said or _named(words_of(run), facts, order)
    if said is not None:
        return said
    some = _SOME.search(f"{run.text} {words_of(run)}") is not None and not run.choice
    return Part(problem="unclear") if some else Part()


def wants_other_part(words: str) -> bool:
    """Return whether a text changes how much is wanted back: "make it 30", "only half of it, please"."""
    if _BARE_CHANGE.search(words):
        return True
    names = bool(money_in(words)) or speaks_of_other_money(words) or bool(_SOME.search(words) or _HALF.search(words))
    return names and _INSTEAD.search(words) is not None


def _names_part(words: str, facts: dict[str, Any], order: dict[str, Any]) -> bool:
    """Return whether a yes is one to something else than was offered: "yes, but only the charger"."""
    return _named(words, facts, order) is not None or _SOME.search(words) is not None


def _agrees(run: Run) -> bool:
    """Return whether the customer says yes to what was offered."""
    if run.choice:
        return run.choice.startswith(CHOICE_CONFIRM)
    return run.memory.get("waiting") == "confirm" and says_yes(run.text)


def _named(words: str, facts: dict[str, Any], order: dict[str, Any]) -> Part | None:
    amounts = money_in(words)
    goods = goods_in(words, order["items"])
    unread = len(amounts) > 1 or speaks_of_other_money(words) or any(not amount.cents for amount in amounts)
    if unread or names_goods_unclearly(words, order["items"]):
        return Part(problem="unclear")
    whole = [amount.cents for amount in amounts] == [order.get("total_cents")]
    if amounts and not (whole and goods):
        amount = amounts[0]
        if amount.currency != facts["currency"]:
            return Part(problem="currency")
        if amount.cents == order.get("total_cents"):
            return None
        return Part(problem="above_open") if not 0 < amount.cents <= facts["open_cents"] else Part(cents=amount.cents)
    if not goods and _names_bare_sum(words):
        return Part(problem="unclear")
    if not goods:
        half = order.get("total_cents", 0) // 2 if _HALF.search(words) else 0
        return Part(problem="above_open") if half > facts["open_cents"] else Part(cents=half) if half else None
    cents = sum(wanted.cents for wanted in goods)
    if cents > facts["open_cents"]:
        return Part(problem="above_open")
    if cents == order.get("total_cents"):
        return None
    names = ", ".join(f"{wanted.quantity} × {wanted.item.name}" for wanted in goods)
    return Part(cents=cents, items=tuple(wanted.written for wanted in goods), goods=names)


def _names_bare_sum(words: str) -> bool:
    """Return whether a number follows the wish that is no order's: "refund me 50", "退款一百"."""
    plain = unicodedata.normalize("NFKC", words)
    numbers = order_numbers_in(plain)
    return any(match["sum"].rstrip(".,") not in numbers for match in _BARE_SUM.finditer(plain))
