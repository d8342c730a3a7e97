"""Money in whole cents: read from what people write, shown as people read it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from babel.numbers import format_currency

MOST_TEXT = 2_000
_CURRENCY_WORDS = {
    "EUR": ("eur", "euro", "euros", "€"),
    "USD": ("usd", "us$", "$", "dollar", "dollars", "bucks"),
    "CNY": ("cny", "rmb", "yuan", "元", "块", "块钱", "人民币", "¥", "cn¥"),
    "GBP": ("gbp", "£", "pound", "pounds"),
}
_CODE_OF = {word: code for code, words in _CURRENCY_WORDS.items() for word in words}
_MONEY = re.compile(r"(?P<before>[^\d\s.,+-]*)\s*(?P<number>\d[\d.,]*)\s*(?P<after>[^\d\s.,+-]*)")
_SPOKEN = re.compile(
    r"(?:us\$|cn¥|[€$£¥])\s?\d[\d.,]*\d|(?:us\$|cn¥|[€$£¥])\s?\d"
    r"|(?<![\d.,-])\d[\d.,]*\s?(?:(?:eur|euros?|usd|us\$|dollars?|bucks|cny|rmb|yuan|gbp|pounds?)\b|[€$£¥元块])"
)
_WHOLE = re.compile(r"\d{1,12}")
_PARTED = (
    re.compile(r"(?P<whole>\d{1,12})[.,](?P<part>\d{1,2})"),
    re.compile(r"(?P<whole>\d{1,3}(?:,\d{3})+)\.(?P<part>\d{1,2})"),
    re.compile(r"(?P<whole>\d{1,3}(?:\.\d{3})+),(?P<part>\d{1,2})"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """An amount in cents. `currency` is an ISO 4217 code, or empty where none was written."""

    cents: int
    currency: str = ""


def parse_money(text: str) -> Money | None:
    """Return the amount in a text such as "12.50 EUR", "€12,50" or "199元"; None where it cannot be read for sure.

    "1,234" is not read: whether it means a thousand depends on who wrote it. "¥" means CNY here.
    """
    match = _MONEY.fullmatch(unicodedata.normalize("NFKC", text).strip().lower())
    if match is None or (match["before"] and match["after"]):
        return None
    word = match["before"] or match["after"]
    cents = _cents(match["number"])
    if cents is None or (word and word not in _CODE_OF):
        return None
    return Money(cents=cents, currency=_CODE_OF.get(word, ""))


def money_in(text: str) -> tuple[Money, ...]:
    """Return the amounts that stand in a text with their currency, in order of appearance, each once."""
    plain = unicodedata.normalize("NFKC", text[:MOST_TEXT]).lower()
    read = (parse_money(match.group()) for match in _SPOKEN.finditer(plain))
    return tuple(dict.fromkeys(money for money in read if money is not None))


def format_money(cents: int, currency: str, language: str = "en") -> str:
    """Return the amount as a reader of `language` (en, zh) expects it, such as "€12.50"."""
    return format_currency(cents / 100, currency, locale="zh_CN" if language.startswith("zh") else "en_US")


def _cents(number: str) -> int | None:
    if _WHOLE.fullmatch(number):
        return int(number) * 100
    for form in _PARTED:
        if match := form.fullmatch(number):
            return int(re.sub(r"\D", "", match["whole"])) * 100 + int(match["part"].ljust(2, "0"))
    return None
