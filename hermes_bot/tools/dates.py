"""Reads dates as people and models write them, where there is one way to read them.

"2026/5/1", "2026年5月1日", "1 May 2026" and "13/05/2026" are. "01/05/2026" (January or May), "tomorrow" and a date
without its year are not.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sept", "sep"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ),
        start=1,
    )
    for name in names
}
_MONTH = "(?P<month>" + "|".join(_MONTHS) + r")\.?"
_YEAR_FIRST = re.compile(
    r"(?P<year>\d{4})(?:-(?P<m1>\d{1,2})-(?P<d1>\d{1,2})|/(?P<m2>\d{1,2})/(?P<d2>\d{1,2})"
    r"|\.(?P<m3>\d{1,2})\.(?P<d3>\d{1,2})|\s?年\s?(?P<m4>\d{1,2})\s?月\s?(?P<d4>\d{1,2})\s?[日号])"
)
_YEAR_LAST = re.compile(r"(?P<first>\d{1,2})(?P<sign>[/.-])(?P<second>\d{1,2})(?P=sign)(?P<year>\d{4})")
_DAY_MONTH = re.compile(rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH},?\s(?P<year>\d{{4}})")
_MONTH_DAY = re.compile(rf"{_MONTH}\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<year>\d{{4}})")
_MIDNIGHT = re.compile(r"(?P<day>\d{4}-\d{2}-\d{2})[t ]00:00(?::00(?:\.0+)?)?(?:z|\+00:00)?")


def read_date(text: str) -> date | None:
    """Return the day that the text names, None where it names none or could name two."""
    plain = " ".join(unicodedata.normalize("NFKC", text).lower().split())
    if midnight := _MIDNIGHT.fullmatch(plain):
        plain = midnight["day"]
    for form in (_YEAR_FIRST, _DAY_MONTH, _MONTH_DAY, _YEAR_LAST):
        if match := form.fullmatch(plain):
            return _day(*_parts(match))
    return None


def read_moment(text: str) -> datetime | None:
    """Return the time that the text gives in ISO 8601, None where it gives a day alone or cannot be read."""
    plain = unicodedata.normalize("NFKC", text).strip()
    if not re.match(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}", plain, re.IGNORECASE):
        return None
    try:
        return datetime.fromisoformat(plain)
    except ValueError:
        return None


def looks_like_a_date(text: str) -> bool:
    """Return whether the text has the form of a date, such as a spreadsheet makes of a number."""
    plain = unicodedata.normalize("NFKC", text).strip().lower()
    return any(form.fullmatch(plain) for form in (_YEAR_FIRST, _YEAR_LAST, _DAY_MONTH, _MONTH_DAY, _MIDNIGHT))


def _parts(match: re.Match[str]) -> tuple[int, int, int]:
    """Return year, month and day; a day of 0 where month and day could change places."""
    found = {name: value for name, value in match.groupdict().items() if value}
    year = int(found["year"])
    if "first" in found:
        first, second = int(found["first"]), int(found["second"])
        if first == second or first > 12:
            return year, second, first
        return (year, first, second) if second > 12 else (year, first, 0)
    if "month" in found:
        return year, _MONTHS[found["month"]], int(found["day"])
    month, day = (int(value) for name, value in sorted(found.items(), reverse=True) if name != "year")
    return year, month, day


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
