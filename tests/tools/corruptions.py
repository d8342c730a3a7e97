"""Twelve ways in which models spoil valid arguments, each in several forms, drawn from a seed.

Each form says whether the right value can still be told for certain: then it should be put right, else sent back.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from hermes_bot.tools.outcome import Invalid
from tests.tools.calls import Call, Values, readers

Raw = Values | str
Form = tuple[bool, Raw]
CURRENCIES = {"EUR": "€", "USD": "$", "CNY": "¥"}
NUMBERED = ("order_id", "item_id", "product_id", "zip")
WORDS = {"order_id": "order", "item_id": "item", "product_id": "product", "zip": "zip code"}
CHINESE = str.maketrans("0123456789", "〇一二三四五六七八九")
FULL_WIDTH = {ord(chr(code)): chr(code + 0xFEE0) for code in range(ord("0"), ord("9") + 1)}


def broken_json(call: Call) -> Iterator[Form]:
    text = json.dumps(call.values)
    yield True, f"```json\n{json.dumps(call.values, indent=2)}\n```"
    yield True, f"Here are the arguments:\n```\n{text}\n```"
    yield True, text[:-1] + ",}"
    yield True, json.dumps(text)
    yield "'" not in text and "\\" not in text, repr(call.values)
    yield False, text[:-1]
    yield False, text[: len(text) * 2 // 3]
    yield False, text + text


def units(call: Call) -> Iterator[Form]:
    for name in call.values.keys() & set(NUMBERED):
        yield True, call.values | {name: f"{WORDS[name]} {call.values[name]}"}
        yield False, call.values | {name: f"{call.values[name]} or {str(call.values[name])[:-1]}0"}
    if "window_days" in call.values:
        days = call.values["window_days"]
        yield True, call.values | {"window_days": f"{days} days"}
        yield True, call.values | {"window_days": f"{days}天"}
        yield True, call.values | {"parcels": f"{call.values['parcels']} pieces"}
        yield False, call.values | {"window_days": f"{days // 7} weeks"}
        yield False, call.values | {"parcels": f"{call.values['parcels']} dozen"}
        yield False, call.values | {"parcels": f"about {call.values['parcels']}k"}


def near_enums(call: Call) -> Iterator[Form]:
    for name in call.values.keys() & {"reason", "speed", "form", "currency"}:
        option = call.values[name]
        yield True, call.values | {name: option.upper() if option.islower() else option.lower()}
        yield True, call.values | {name: f" '{option.replace(' ', '_').replace('-', ' ')}'. "}
        yield False, call.values | {name: option[:-2] + option[-1]}
        yield False, call.values | {name: f"not {option}"}
        yield False, call.values | {name: "something else"}
    if "form" in call.values:
        yield True, call.values | {"form": f"{call.values['form'].upper()} format"}


def wrong_types(call: Call) -> Iterator[Form]:
    for name, value in call.values.items():
        if isinstance(value, str):
            yield True, call.values | {name: [value]}
            yield False, call.values | {name: {"value": value}}
            yield False, call.values | {name: True}
            if name in NUMBERED and value.isdigit():
                yield True, call.values | {name: int(value)}
                yield False, call.values | {name: float(value)}
                yield False, call.values | {name: int("1" + value[2:])}
        elif isinstance(value, list):
            yield len(value) == 1, call.values | {name: value[0] if len(value) == 1 else True}
            yield True, call.values | {name: [int(each) for each in value]}
            yield False, call.values | {name: dict(enumerate(value))}
        elif isinstance(value, bool):
            yield True, call.values | {name: "yes" if value else "no"}
            yield False, call.values | {name: "maybe"}
        elif isinstance(value, int | float):
            yield name != "amount_cents", call.values | {name: float(value)}
            yield True, call.values | {name: str(value)}
            yield False, call.values | {name: value > 0}


def extra_keys(call: Call) -> Iterator[Form]:
    yield False, call.values | {"customer_id": "sara_doe_496"}
    yield False, call.values | {"confirmed": True}
    yield False, {"tool": call.tool} | call.values


def missing_keys(call: Call) -> Iterator[Form]:
    for name in call.values:
        rest = {key: value for key, value in call.values.items() if key != name}
        yield False, rest
        camel = "".join(part.capitalize() if number else part for number, part in enumerate(name.split("_")))
        yield True, rest | {camel: call.values[name]}
        yield False, rest | {name + "x": call.values[name]}


def nested_strings(call: Call) -> Iterator[Form]:
    yield True, {"arguments": call.values}
    yield True, {"arguments": json.dumps(call.values)}
    for name, value in call.values.items():
        if isinstance(value, list | dict):
            yield True, call.values | {name: json.dumps(value)}
            yield False, call.values | {name: json.dumps(value)[:-3]}
        elif name in {"order_id", "user_id", "city", "state", "first_name", "payment_method_id"}:
            yield True, call.values | {name: f'"{value}"'}


def chinese_numerals(call: Call) -> Iterator[Form]:
    for name in call.values.keys() & {*NUMBERED, "payment_method_id", "user_id"}:
        yield True, call.values | {name: str(call.values[name]).translate(CHINESE)}
    if "expression" in call.values:
        yield True, call.values | {"expression": call.values["expression"].translate(CHINESE)}
    if "parcels" in call.values:
        parcels, ones = divmod(call.values["parcels"], 10)
        digits = "零一二三四五六七八九"
        tens = "" if not parcels else "十" if parcels == 1 else f"{digits[parcels]}十"
        yield True, call.values | {"parcels": f"{tens}{digits[ones] if ones or not tens else ''}件"}
        yield False, call.values | {"parcels": "二三件"}
        yield False, call.values | {"window_days": "一百二"}
        yield False, call.values | {"parcels": "几件"}


def full_width(call: Call) -> Iterator[Form]:
    names = {*NUMBERED, "payment_method_id", "user_id", "expression", "address1", "address2", "email", "day"}
    for name in call.values.keys() & names:
        yield True, call.values | {name: str(call.values[name]).translate(FULL_WIDTH)}
    for name in ("parcels", "window_days", "amount_cents"):
        if name in call.values:
            yield True, call.values | {name: str(call.values[name]).translate(FULL_WIDTH)}
    if "item_ids" in call.values:
        yield True, call.values | {"item_ids": [each.translate(FULL_WIDTH) for each in call.values["item_ids"]]}


def dates(call: Call) -> Iterator[Form]:
    for name in call.values.keys() & {*NUMBERED, "user_id"}:
        yield False, call.values | {name: "2026-05-01"}
    if "day" not in call.values:
        return
    day = date.fromisoformat(call.values["day"])
    yield True, call.values | {"day": f"{day.year}年{day.month}月{day.day}日"}
    yield True, call.values | {"day": f"{day.year}/{day.month}/{day.day}"}
    yield True, call.values | {"day": f"{day:%B} {day.day}, {day.year}"}
    yield True, call.values | {"day": f"{day.isoformat()}T00:00:00Z"}
    yield day.day > 12 or day.day == day.month, call.values | {"day": f"{day:%d/%m/%Y}"}
    yield day.day > 12 or day.day == day.month, call.values | {"day": f"{day:%m/%d/%Y}"}
    yield False, call.values | {"day": "tomorrow"}
    yield False, call.values | {"day": f"{day:%B} {day.day}"}
    yield False, call.values | {"day": f"{day:%m/%d/%y}"}
    yield False, call.values | {"day": 1_780_000_000}


def money(call: Call) -> Iterator[Form]:
    for name in call.values.keys() & {"zip", "item_id", "product_id"}:
        yield False, call.values | {name: f"${call.values[name]}"}
        yield False, call.values | {name: f"{int(call.values[name]):,}"}
        yield False, call.values | {name: f"{call.values[name]} USD"}
    if "amount_cents" not in call.values:
        return
    cents, currency = call.values["amount_cents"], call.values["currency"]
    whole, part = divmod(cents, 100)
    other = next(each for each in CURRENCIES if each != currency)
    without = {key: value for key, value in call.values.items() if key != "currency"}
    yield True, call.values | {"amount_cents": f"{whole}.{part:02} {currency}"}
    yield True, call.values | {"amount_cents": f"{CURRENCIES[currency]}{whole:,}.{part:02}"}
    yield True, without | {"amount_cents": f"{whole}.{part:02} {currency}"}
    yield False, call.values | {"amount_cents": f"{whole}.{part:02} {other}"}
    yield False, call.values | {"amount_cents": cents / 100}
    yield False, call.values | {"amount_cents": f"1,{part:03} {currency}"}
    yield False, call.values | {"amount_cents": f"about {whole} {currency}"}


def nulls(call: Call) -> Iterator[Form]:
    for name, value in call.values.items():
        yield False, call.values | {name: None}
        yield False, call.values | {name: "null"}
        yield False, call.values | {name: "None"}
        yield False, call.values | {name: "N/A"}
        if name in NUMBERED or not isinstance(value, str):
            yield False, call.values | {name: ""}
    if "amount_cents" in call.values:
        yield True, call.values | {"note": None}


CORRUPTIONS: Sequence[Callable[[Call], Iterator[Form]]] = (
    broken_json,
    units,
    near_enums,
    wrong_types,
    extra_keys,
    missing_keys,
    nested_strings,
    chinese_numerals,
    full_width,
    dates,
    money,
    nulls,
)


@dataclass(slots=True)
class Score:
    """What became of the corrupted calls of one kind. `wrong` are values that were passed on and are not right."""

    total: int = 0
    repaired: int = 0
    sent_back: int = 0
    needless: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def right(self) -> float:
        """The share that was put right, or sent back where it could not be."""
        return (self.repaired + self.sent_back) / self.total if self.total else 1.0


def scores(calls: Sequence[Call], seed: int) -> Mapping[str, Score]:
    """Return the score of each corruption over all calls, every form of it at most once a call."""
    reading, drawn = readers(calls), random.Random(seed)
    found = {corrupt.__name__: Score() for corrupt in CORRUPTIONS}
    for call in calls:
        for corrupt in CORRUPTIONS:
            forms = list(corrupt(call))
            for recoverable, raw in drawn.sample(forms, min(len(forms), 6)):
                _count(found[corrupt.__name__], call, recoverable, raw, reading[call.tool].read(raw))
    return found


def unspoilt(calls: Sequence[Call]) -> Counter[str]:
    """Return how many valid calls are read as they are, and how many are not."""
    reading = readers(calls)
    return Counter("same" if reading[call.tool].read(call.values) == call.values else call.tool for call in calls)


def _count(score: Score, call: Call, recoverable: bool, raw: Raw, outcome: Any) -> None:
    score.total += 1
    if isinstance(outcome, Invalid):
        if recoverable:
            score.needless.append(f"{call.tool} {raw!r:.200}: {outcome.problems}")
        else:
            score.sent_back += 1
    elif outcome == call.values:
        score.repaired += 1
    else:
        score.wrong.append(f"{call.tool} {raw!r:.300} was read as {outcome!r:.300}")
