"""Reads numbers as people and models write them: "3 times", "３", "十二", "12,5", "14 days" for a number of days.

A number is read only where there is one way to read it. "二三" (23, or two or three), "1,234" (a thousand, or one and
a bit), "2 weeks" for a number of days and "3 dozen" are not read.
"""

from __future__ import annotations

import re
import unicodedata

_DIGITS = {
    sign: str(value)
    for value, signs in enumerate(
        ("〇零", "一壹", "二贰貳", "三叁參", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖")
    )
    for sign in signs
}
_TWO = "两兩"
_PLACES = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1_000, "仟": 1_000}
_GROUPS = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
_CHINESE = "".join((*_DIGITS, _TWO, *_PLACES, *_GROUPS))
_ENGLISH = {
    word: number
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
}
_COUNTED = frozenset(
    {"time", "times", "x", "×", "item", "items", "piece", "pieces", "pc", "pcs", "unit", "units", "order", "orders"}
    | {"result", "results", "row", "rows", "entry", "entries", "次", "个", "個", "件", "条", "條", "份", "项", "項"}
    | {"笔", "筆", "单", "單"}
)
_UNITS = (
    frozenset(["second", "seconds", "sec", "secs", "s", "秒", "秒钟"]),
    frozenset(["minute", "minutes", "min", "mins", "分钟"]),
    frozenset(["hour", "hours", "hr", "hrs", "h", "小时", "个小时"]),
    frozenset(["day", "days", "d", "天", "日"]),
    frozenset(["week", "weeks", "周", "星期", "个星期"]),
    frozenset(["month", "months", "个月", "月"]),
    frozenset(["year", "years", "年"]),
    frozenset(["kg", "kilogram", "kilograms", "公斤", "千克"]),
    frozenset(["g", "gram", "grams", "克"]),
    frozenset(["km", "kilometre", "kilometres", "kilometer", "kilometers", "公里", "千米"]),
    frozenset(["m", "metre", "metres", "meter", "meters", "米"]),
    frozenset(["cm", "centimetre", "centimetres", "centimeter", "centimeters", "厘米"]),
    frozenset(["mm", "millimetre", "millimetres", "millimeter", "millimeters", "毫米"]),
    frozenset(["percent", "%", "百分比"]),
)
_WRITTEN = re.compile(
    rf"(?P<number>[-+]?(?:\d+[万萬亿億]|\d[\d.,]*|[{_CHINESE}]+(?:点[{_CHINESE}]+)?|[a-z]+))\s*(?P<word>\D*)"
)
_BELOW = re.compile(
    r"(?:(?P<千>.)[千仟])?(?P<o1>[零〇])?(?:(?P<百>.)[百佰])?(?P<o2>[零〇])?"
    r"(?:(?P<十>.)?(?P<ten>[十拾]))?(?P<o3>[零〇])?(?P<one>.)?"
)
_PLAIN = re.compile(r"[-+]?\d{1,15}(?:\.\d{1,15})?")
_COMMA = re.compile(r"[-+]?\d{1,15},(?:\d{1,2}|\d{4,15})")
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3}){1,4}\.\d{1,15}|[-+]?\d{1,3}(?:\.\d{3}){1,4},\d{1,15}")


def whole_number(text: str, name: str = "") -> int | None:
    """Return the one whole number in the text, with no word but one that counts, or the unit that `name` ends in."""
    number = _number(text, name)
    if number is None:
        return None
    whole, _, part = number.partition(".")
    return None if part.strip("0") else int(whole)


def decimal_number(text: str, name: str = "") -> float | None:
    """Return the one number in the text, on the same terms."""
    number = _number(text, name)
    return None if number is None else float(number)


def digit_by_digit(text: str) -> str:
    """Return the text with each Chinese digit as an ASCII one, as in a number that is spelled out; 十 and 百 stay."""
    return "".join(_DIGITS.get(sign, sign) for sign in text)


def chinese_number(text: str) -> int | None:
    """Return the number that the Chinese numerals write; None where they can be read in two ways, or not at all."""
    if text and all(sign in _DIGITS for sign in text):
        spelled = digit_by_digit(text)
        if len(spelled) == 1 or len(spelled) >= 4 or "〇" in text:
            return int(spelled)
        return None
    total, rest = 0, text
    for sign in ("亿億", "万萬"):
        match = re.fullmatch(rf"(?P<much>[^{sign}]+)[{sign}](?P<rest>[^{sign}]*)", rest)
        if match is None:
            continue
        much = _below_ten_thousand(match["much"])
        if much is None:
            return None
        total, rest = total + much * _GROUPS[sign[0]], match["rest"]
        if rest and (rest[0] not in "零〇" and _below_ten_thousand(rest) is not None and _too_short(rest, sign)):
            return None
    if not rest:
        return total
    below = _below_ten_thousand(rest.lstrip("零〇") if total else rest)
    return None if below is None else total + below


def _too_short(rest: str, sign: str) -> bool:
    """Return whether a place is left out that people mean: 一万二 is 12,000 to one and 10,002 to another."""
    return "亿" not in sign and "千" not in rest and "仟" not in rest


def _below_ten_thousand(text: str) -> int | None:
    match = _BELOW.fullmatch(text)
    if not text or match is None or (match["o2"] and match["ten"]):
        return None
    total, empty = 0, True
    for place, worth in (("千", 1_000), ("百", 100)):
        if match[place]:
            digit = _digit(match[place])
            if not digit:
                return None
            total, empty = total + digit * worth, False
    if match["ten"]:
        digit = 1 if match["十"] is None and empty else _digit(match["十"] or "")
        if not digit:
            return None
        total += digit * 10
    if match["one"]:
        digit = _digit(match["one"])
        skipped = not match["ten"] and not empty
        if digit is None or (skipped and not (match["o1"] or match["o2"] or match["o3"])):
            return None
        total += digit
    return total


def _digit(sign: str) -> int | None:
    return 2 if sign in _TWO and sign else int(_DIGITS[sign]) if sign in _DIGITS else None


def _number(text: str, name: str) -> str | None:
    """Return the number as digits with a point, where nothing else stands in the text that could matter."""
    plain = unicodedata.normalize("NFKC", text).strip().lower()
    match = _WRITTEN.fullmatch(plain)
    if match is None or not _harmless(match["word"].strip(" ."), name):
        return None
    return _digits(match["number"])


def _digits(written: str) -> str | None:
    if _PLAIN.fullmatch(written):
        return written
    if _COMMA.fullmatch(written):
        return written.replace(",", ".")
    if _GROUPED.fullmatch(written):
        point = max(written.rfind("."), written.rfind(","))
        return re.sub(r"[.,]", "", written[:point]) + "." + written[point + 1 :]
    if written in _ENGLISH:
        return str(_ENGLISH[written])
    if match := re.fullmatch(r"(\d{1,8})([万萬亿億])", written):
        return str(int(match[1]) * _GROUPS[match[2]])
    whole, _, part = written.partition("点")
    value = chinese_number(whole)
    if value is None or (part and not all(sign in _DIGITS for sign in part)):
        return None
    return f"{value}.{digit_by_digit(part)}" if part else str(value)


def _harmless(word: str, name: str) -> bool:
    """Return whether the word changes nothing: it counts, or is the unit that the argument is named after."""
    if not word or word in _COUNTED:
        return True
    last = re.split(r"[^a-z]+", name.lower())[-1]
    return any(word in unit and last in unit for unit in _UNITS)
