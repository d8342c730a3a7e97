"""What an answer may state: the numbers, dates and numbers of things that stand in what its writer was shown."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

_CURRENCY = r"(?:[$€£¥￥]|\b(?:USD|EUR|GBP|CNY|RMB|CHF|JPY)\b|元|块钱?|dollars?|euros?|cents?)"
_NUMBER = (
    r"\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?(?![\d])|\d{1,3}(?:[,'\u202f\u00a0 ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,2})?"
)
_MONEY = re.compile(rf"{_CURRENCY}\s?(?P<before>{_NUMBER})|(?P<after>{_NUMBER})\s?{_CURRENCY}", re.IGNORECASE)
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_TOKEN = re.compile(r"(?<![\w-])(?=[A-Z0-9-]*\d)[A-Z][A-Z0-9-]{5,}(?![\w-])|(?<!\d)\d{5,}(?!\d)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_HAN_DATE = re.compile(r"(?:(\d{4})\s*年\s*)?(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = "|".join(rf"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in _MONTHS)
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b\.?", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b", re.IGNORECASE)
CENTS_KEY = re.compile(r"cents", re.IGNORECASE)


class Evidence:
    """What was shown: texts as they were, and data, whose amounts in cents count as amounts too."""

    def __init__(self) -> None:
        self._numbers: set[Decimal] = set()
        self._days: set[tuple[int, int]] = set()
        self._tokens: set[str] = set()
        self._words = ""

    def add_text(self, text: str) -> None:
        """Take a text: what it states may be repeated."""
        plain = unicodedata.normalize("NFKC", text)
        self._words += f"\n{plain.casefold()}"
        figures = [*_FIGURE.findall(plain), *_amounts_in(plain), *_amounts_in(without_code(plain))]
        self._numbers |= {figure for figure in map(_decimal, figures) if figure is not None}
        self._days |= set(days_in(plain))
        self._tokens |= {each.upper() for each in _TOKEN.findall(plain)}

    def add_data(self, value: Any, key: str = "") -> None:
        """Take data, however deep."""
        if isinstance(value, dict):
            for name, each in value.items():
                self.add_data(each, str(name))
        elif isinstance(value, list | tuple):
            for each in value:
                self.add_data(each, key)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            number = Decimal(str(value))
            self._numbers |= {number, number / 100} if CENTS_KEY.search(key) else {number}
            self.add_text(json.dumps(value))
        elif value is not None:
            self.add_text(str(value))

    def missing(self, text: str) -> tuple[str, ...]:
        """Return what the text states and nothing shown does: amounts, dates, numbers of orders and parcels."""
        plain = without_code(unicodedata.normalize("NFKC", text))
        found: dict[str, None] = {}
        for match in _MONEY.finditer(plain):
            amount = _decimal(match["before"] or match["after"])
            if amount is not None and amount not in self._numbers:
                found[match.group().strip()] = None
        for token in _TOKEN.findall(plain):
            if token.upper() not in self._tokens and token.casefold() not in self._words:
                found[token] = None
        for month, day in days_in(plain):
            if (month, day) not in self._days:
                found[f"{_MONTHS[month - 1].capitalize()} {day}"] = None
        return tuple(found)


def _amounts_in(plain: str) -> list[str]:
    """Return the figures of the amounts, groups of digits together."""
    return [match["before"] or match["after"] for match in _MONEY.finditer(plain)]


def without_code(text: str) -> str:
    """Return the text without what stands between backticks, which is written in no human language."""
    return _CODE.sub(" ", text)


def days_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield (month, day) for each date in the text, in the ways in which English and Chinese write it."""
    found = [(int(month), int(day)) for _, month, day in _ISO.findall(text)]
    found += [(int(month), int(day)) for _, month, day in _HAN_DATE.findall(text)]
    found += [(_month(name), int(day)) for day, name in _DAY_MONTH.findall(text)]
    found += [(_month(name), int(day)) for name, day in _MONTH_DAY.findall(text)]
    for month, day in found:
        try:
            date(2024, month, day)
        except ValueError:
            continue
        yield month, day


def _month(name: str) -> int:
    return next(number for number, each in enumerate(_MONTHS, start=1) if each.startswith(name.lower()[:3]))


def _decimal(written: str) -> Decimal | None:
    """Return the number; the last separator before one or two digits is the point, every other one groups."""
    plain = re.sub(r"['\s\u00a0\u202f]", "", written)
    last = max(plain.rfind("."), plain.rfind(","))
    if last >= 0 and len(plain) - last - 1 in {1, 2}:
        plain = f"{re.sub('[.,]', '', plain[:last])}.{plain[last + 1 :]}"
    else:
        plain = re.sub("[.,]", "", plain)
    try:
        return Decimal(plain)
    except InvalidOperation:
        return None
