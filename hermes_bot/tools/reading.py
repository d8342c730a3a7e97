"""Reads one argument, whatever form it was sent in, as its `Wanted` says; what cannot be read for sure is a problem."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hermes_bot.tools.json_text import NotJson, value_in
from hermes_bot.tools.money import parse_money
from hermes_bot.tools.numerals import decimal_number, whole_number
from hermes_bot.tools.order_number import canonical, order_numbers_in
from hermes_bot.tools.texts import NOTHING, Unreadable, confirmed, read_option, read_text
from hermes_bot.tools.wanted import Cents, OrderNumberMark, Wanted

_WORDS_FOR_BOOL = {"yes": True, "true": True, "是": True, "no": False, "false": False, "否": False}
_MOST_ITEMS = 1_000
_LISTED = re.compile(r"[,，、;；\n]")
_PARTS = re.compile(r"\s*[,，、;；]\s*|\s+(?:and|和)\s+|\s+")


def read_object(wanted: Wanted, given: Mapping[str, Any], at: str = "") -> tuple[dict[str, Any], list[str]]:
    """Return the object's values, each as it is wanted, and one sentence for each that cannot be read.

    A null for what may be left out counts as left out. Names are read across their spellings (`orderId`, `order-id`).
    """
    values, problems, unknown = dict[str, Any](), list[str](), list[str]()
    seen = set[str]()
    for written, value in given.items():
        name = _name_of(written, given, wanted.properties)
        each = wanted.properties.get(name)
        if each is None and wanted.closed:
            unknown.append(f"{at}{written}: there is no such argument{near(written, wanted.properties)}")
            continue
        seen.add(name)
        try:
            _put(each, name, value, given, values)
        except Unreadable as error:
            problems.append(f"{at}{name}: {error}")
        except _Inside as inner:
            problems += [f"{at}{name}{'' if text.startswith('[') else '.'}{text}" for text in inner.problems]
    needed = (each.name for each in wanted.properties.values() if each.required)
    missing = [f"{at}{name}: is missing" for name in needed if name not in seen | values.keys()]
    return values, problems + missing + unknown


def _put(wanted: Wanted | None, name: str, value: Any, given: Mapping[str, Any], values: dict[str, Any]) -> None:
    if wanted is None:
        values[name] = value
    elif isinstance(wanted.mark, Cents) and value is not None:
        _read_cents(name, value, wanted.mark, given, values)
    elif value is not None or "null" in wanted.kinds or not wanted.kinds:
        values.setdefault(name, read_value(wanted, value))
    elif wanted.required:
        raise Unreadable("is null, but needs a value")


def read_value(wanted: Wanted, value: Any) -> Any:
    """Return the value as it is wanted; raise Unreadable."""
    if not wanted.kinds or (value is None and "null" in wanted.kinds):
        return value
    if isinstance(wanted.mark, OrderNumberMark):
        return _read_order_number(value)
    if wanted.options:
        return _read_option(wanted, value)
    return _READERS[type(value)](wanted, value) if type(value) in _READERS else _unfit(wanted, value)


class _Inside(Exception):
    """What is wrong inside of an object or a list."""

    def __init__(self, problems: Iterable[str]) -> None:
        super().__init__()
        self.problems = tuple(problems)


def _name_of(written: str, given: Mapping[str, Any], known: Mapping[str, Wanted]) -> str:
    """Return the argument that the key means: the same but for case and the signs between words, and not given too."""
    if written in known:
        return written
    same = [name for name in known if _folded(name) == _folded(written)]
    twins = [other for other in given if _folded(other) == _folded(written)]
    return same[0] if len(same) == 1 and len(twins) == 1 else written


def _folded(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()


def near(name: str, known: Iterable[str]) -> str:
    """Return what to say about a name that is not known."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(names) or 'none'}"


def _read_cents(name: str, value: Any, mark: Cents, given: Mapping[str, Any], values: dict[str, Any]) -> None:
    """Put whole cents under `name`, and the currency that was written beside them under the mark's field."""
    wanted = f'{value!r} is not an amount; give whole cents (1250) or an amount with its currency ("12.50 EUR")'
    if isinstance(value, int) and not isinstance(value, bool):
        values[name] = value
        return
    if not isinstance(value, str):
        raise Unreadable(wanted)
    if re.fullmatch(r"\s*\d{1,12}\s*", value):
        values[name] = int(value)
        return
    money = parse_money(value)
    if money is None:
        raise Unreadable(wanted)
    values[name] = money.cents
    if money.currency and mark.currency_field:
        other = str(given.get(mark.currency_field) or money.currency).strip().upper()
        if other != money.currency:
            del values[name]
            raise Unreadable(f"{value!r} is in {money.currency}, but {mark.currency_field} says {other}")
        values[mark.currency_field] = money.currency


def _read_order_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Unreadable(f"must be an order number, not {_told(value)}")
    found = order_numbers_in(str(value))
    if len(found) > 1:
        raise Unreadable(f"{value!r} holds {len(found)} order numbers; give one")
    return found[0] if found else canonical(str(value))


def _read_option(wanted: Wanted, value: Any) -> Any:
    options = wanted.options
    if any(type(option) is type(value) and option == value for option in options):
        return value
    if isinstance(value, list) and len(value) == 1:
        return _read_option(wanted, value[0])
    words = [option for option in options if isinstance(option, str)]
    if isinstance(value, str) and words:
        return read_option(value, words)
    number = whole_number(value, wanted.name) if isinstance(value, str) else None
    if number is not None and any(type(option) is int and option == number for option in options):
        return number
    raise Unreadable(f"{_told(value)} is none of {', '.join(map(str, options))}")


def _from_text(wanted: Wanted, value: str) -> Any:
    kinds = wanted.kinds
    if "string" in kinds:
        return read_text(wanted, value)
    if "null" in kinds and value.strip().lower() in NOTHING:
        return None
    if "boolean" in kinds and (word := value.strip().lower()) in _WORDS_FOR_BOOL:
        return _WORDS_FOR_BOOL[word]
    if "integer" in kinds and (number := whole_number(value, wanted.name)) is not None:
        return number
    if "number" in kinds and (decimal := decimal_number(value, wanted.name)) is not None:
        return decimal
    if kinds & {"array", "object"}:
        return _from_json(wanted, value)
    if "integer" in kinds:
        raise Unreadable(f"{value!r} is not one whole number")
    return _unfit(wanted, value)


def _from_json(wanted: Wanted, value: str) -> Any:
    """Return the list or object that stands in the text; a list may also be one item, or ids with commas."""
    try:
        return read_value(wanted, value_in(value))
    except NotJson:
        if "array" not in wanted.kinds or wanted.items is None or "string" not in wanted.items.kinds:
            return _unfit(wanted, value)
    if value.strip()[:1] in {"[", "{", ""} or (_LISTED.search(value) and not wanted.items.examples):
        return _unfit(wanted, value)
    try:
        return [read_value(wanted.items, value)]
    except Unreadable:
        parts = [part for part in _PARTS.split(value.strip()) if part]
        if len(parts) < 2 or not all(any(map(str.isdigit, part)) for part in parts):
            raise
        return [read_value(wanted.items, part) for part in parts]


def _from_bool(wanted: Wanted, value: bool) -> Any:
    if "boolean" in wanted.kinds:
        return value
    if wanted.kinds & {"integer", "number"}:
        raise Unreadable(f"{value!r} is not a number")
    return _unfit(wanted, value)


def _from_int(wanted: Wanted, value: int) -> Any:
    if wanted.kinds & {"integer", "number"}:
        return value
    if "boolean" in wanted.kinds and value in {0, 1}:
        return bool(value)
    if "array" in wanted.kinds and wanted.items is not None:
        return [read_value(wanted.items, value)]
    if "string" in wanted.kinds:
        if not confirmed(wanted, str(value)):
            raise Unreadable(f'{value} must be text; put it in quotes, since 7 and "007" are not the same')
        return read_text(wanted, str(value))
    return _unfit(wanted, value)


def _from_float(wanted: Wanted, value: float) -> Any:
    if "number" in wanted.kinds:
        return value
    if "integer" in wanted.kinds and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return _unfit(wanted, value)


def _from_list(wanted: Wanted, value: list[Any]) -> Any:
    if "array" in wanted.kinds:
        return _read_items(wanted, value) if wanted.items is not None else value
    if len(value) == 1 and not isinstance(value[0], list | dict):
        return read_value(wanted, value[0])
    return _unfit(wanted, value)


def _read_items(wanted: Wanted, value: list[Any]) -> list[Any]:
    if wanted.items is None or len(value) > _MOST_ITEMS:
        raise Unreadable(f"holds {len(value)} items, which is more than {_MOST_ITEMS}")
    items, problems = list[Any](), list[str]()
    for number, each in enumerate(value):
        try:
            items.append(read_value(wanted.items, each))
        except Unreadable as error:
            problems.append(f"[{number}]: {error}")
        except _Inside as inner:
            problems += [f"[{number}].{text}" for text in inner.problems]
    if problems:
        raise _Inside(problems)
    return items


def _from_object(wanted: Wanted, value: dict[str, Any]) -> Any:
    if "object" not in wanted.kinds:
        return _unfit(wanted, value)
    if not wanted.properties:
        return value
    values, problems = read_object(wanted, value)
    if problems:
        raise _Inside(problems)
    return values


def _unfit(wanted: Wanted, value: Any) -> Any:
    names = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
    names |= {"array": "a list", "object": "an object", "null": "null"}
    kinds = " or ".join(names.get(kind, kind) for kind in sorted(wanted.kinds))
    raise Unreadable(f"must be {kinds}, not {_told(value)}")


def _told(value: Any) -> str:
    return f"{value!r:.80}"


_READERS: dict[type, Callable[[Wanted, Any], Any]] = {
    str: _from_text,
    bool: _from_bool,
    int: _from_int,
    float: _from_float,
    list: _from_list,
    dict: _from_object,
}
