"""Money in whole cents: read from what people write, shown as people read it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from babel.numbers import format_currency

from hermes_bot.tools.numerals import chinese_number

MOST_TEXT = 2_000
_CURRENCY_WORDS = {
    "EUR": ("eur", "euro", "euros", "€", "欧元"),
    "USD": ("usd", "us$", "$", "dollar", "dollars", "bucks", "美元", "美金"),
    "CNY": ("cny", "rmb", "yuan", "元", "块", "块钱", "人民币", "元人民币", "¥", "cn¥"),
    "GBP": ("gbp", "£", "pound", "pounds"),
}
_CODE_OF = {word: code for code, words in _CURRENCY_WORDS.items() for word in words}
_MONEY = re.compile(r"(?P<before>[^\d\s.,+-]*)\s*(?P<number>\d[\d.,]*)\s*(?P<after>[^\d\s.,+-]*)")
_BEFORE = r"(?:us\$|cn¥|[€$£¥]|人民币|(?:eur|usd|cny|rmb|gbp)(?![a-z]))"
_AFTER = (
    r"(?:(?:eur|euros?|usd|us\$|dollars?|bucks|cny|rmb|yuan|gbp|pounds?)\b"
    r"|[€$£¥]|元人民币|欧元|美元|美金|人民币|块钱|[元块])"
)
_SPOKEN = re.compile(
    rf"(?<![a-z\d.,-]){_BEFORE}\s?(?:\d[\d.,]*\d|\d)(?![\d%千万萬亿]|[.,-]\d|\s?{_AFTER})"
    rf"|(?<![a-z\d.,-])\d[\d.,]*\s?{_AFTER}"
)
_HAN_NUMBER = re.compile(
    r"(?<![\d.,-])(?P<number>\d{1,4}[千万萬]|[零〇一二两三四五六七八九十百千万]+)(?P<unit>块钱|元人民币|欧元|美元|美金|[元块])"
)
_THOUSANDS = {"千": 1_000, "万": 10_000, "萬": 10_000}
_TOGETHER = "一块"  # "together" as often as one yuan
_NAMED = re.compile(
    r"[€$£¥]|(?<![a-z])(?:eur|euros?|usd|dollars?|bucks|cny|rmb|yuan|gbp|pounds?|cents?)(?![a-z])|人民币|[\d千万百十]\s?[元块]"
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
    return tuple(dict.fromkeys(money for _, money in _spoken(_plain(text)) if money is not None))


def speaks_of_other_money(text: str) -> bool:
    """Return whether the text speaks of an amount that `money_in` does not read, such as "-5 EUR" or "twenty euros"."""
    plain = _plain(text)
    for place, money in reversed(_spoken(plain)):
        if money is not None:
            plain = f"{plain[: place.start]} {plain[place.stop :]}"
    return _NAMED.search(plain) is not None


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text[:MOST_TEXT]).lower()


def _spoken(plain: str) -> list[tuple[slice, Money | None]]:
    """Return what looks like an amount, by place, and what it is; None where it cannot be read for sure."""
    found = [(slice(*match.span()), parse_money(match.group())) for match in _SPOKEN.finditer(plain)]
    for match in _HAN_NUMBER.finditer(plain):
        if match.group() != _TOGETHER:
            found.append((slice(*match.span()), _han_money(match["number"], match["unit"])))
    return sorted(found, key=lambda each: each[0].start)


def _han_money(number: str, unit: str) -> Money | None:
    whole = int(number[:-1]) * _THOUSANDS[number[-1]] if number[0].isascii() else chinese_number(number)
    return None if whole is None else Money(cents=whole * 100, currency=_CODE_OF[unit])


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
