"""Turns what a planner sent into arguments that fit a tool, or into one precise sentence per problem.

Harmless forms are put right ("＃１００２３" is 10023, "12.50 EUR" is 1250 cents, "3 times" is 3). What cannot be read
for sure is a problem that goes back to the planner, never a guess.
"""

from __future__ import annotations

import difflib
import json
import re
import typing
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, NoReturn

from pydantic import BaseModel, StringConstraints, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from hermes_bot.tools.money import parse_money
from hermes_bot.tools.order_number import canonical, order_numbers_in
from hermes_bot.tools.outcome import Invalid

MAX_JSON = 20_000  # characters; arguments are a few words each
_FENCE = re.compile(r"\s*```[a-zA-Z]*\s*\n?(?P<body>.*?)\n?\s*```\s*", re.DOTALL)
_WORDS_FOR_BOOL = {"yes": True, "true": True, "是": True, "no": False, "false": False, "否": False}


@dataclass(frozen=True, slots=True)
class Cents:
    """Marks a parameter that takes whole cents, or an amount as people write it.

    A currency that stands beside the amount goes to the parameter named `currency_field`.
    """

    currency_field: str = ""


@dataclass(frozen=True, slots=True)
class _OrderNumberMark:
    """Marks a parameter that takes an order number as people write it."""


OrderNumber = Annotated[str, _OrderNumberMark(), StringConstraints(min_length=1, max_length=64)]


class _Unreadable(ValueError):
    """A value that cannot be read for sure; the text says what was wanted."""


def read_arguments(model: type[BaseModel], raw: Mapping[str, Any] | str) -> BaseModel | Invalid:
    """Return the arguments as `model`, or what is wrong with them. `raw` is an object or JSON, fenced or not."""
    try:
        given = dict(raw) if isinstance(raw, Mapping) else _object_in(raw)
    except _Unreadable as error:
        return Invalid(problems=(str(error),))
    normal, problems = _normalised(model, given)
    try:
        checked = model.model_validate(normal)
    except ValidationError as error:
        seen = {problem.split(":", 1)[0] for problem in problems}
        found = (_sentence(model, each) for each in error.errors(include_url=False))
        problems += [sentence for sentence in found if sentence.split(":", 1)[0] not in seen]
        return Invalid(problems=tuple(problems))
    return Invalid(problems=tuple(problems)) if problems else checked


def _object_in(text: str) -> dict[str, Any]:
    if len(text) > MAX_JSON:
        raise _Unreadable(f"the arguments are longer than {MAX_JSON} characters")
    fence = _FENCE.fullmatch(text)
    body = (fence["body"] if fence else text).strip()
    try:
        value = json.loads(body or "{}", parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise _Unreadable(f"the arguments are not a JSON object: {error}") from error
    if not isinstance(value, dict):
        raise _Unreadable(f"the arguments are not a JSON object but {type(value).__name__}")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _normalised(model: type[BaseModel], given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    normal, problems = dict(given), []
    for name, value in given.items():
        field = model.model_fields.get(name)
        try:
            if field is None or value is None:
                continue
            cents = next((mark for mark in field.metadata if isinstance(mark, Cents)), None)
            if cents is not None:
                _read_cents(name, value, cents, normal)
            else:
                normal[name] = _read_value(field, value)
        except _Unreadable as error:
            problems.append(f"{name}: {error}")
            del normal[name]
    return normal, problems


def _read_cents(name: str, value: object, mark: Cents, normal: dict[str, Any]) -> None:
    """Put whole cents under `name`, and the currency that was written beside them under the mark's field."""
    wanted = f'{value!r} is not an amount; give whole cents (1250) or an amount with its currency ("12.50 EUR")'
    if isinstance(value, int) and not isinstance(value, bool):
        return
    if not isinstance(value, str):
        raise _Unreadable(wanted)
    if re.fullmatch(r"\s*\d{1,12}\s*", value):
        normal[name] = int(value)
        return
    money = parse_money(value)
    if money is None:
        raise _Unreadable(wanted)
    normal[name] = money.cents
    if money.currency and mark.currency_field:
        other = str(normal.get(mark.currency_field) or money.currency).strip().upper()
        if other != money.currency:
            raise _Unreadable(f"{value!r} is in {money.currency}, but {mark.currency_field} says {other}")
        normal[mark.currency_field] = money.currency


def _read_value(field: FieldInfo, value: object) -> object:
    kinds = set(_members(field.annotation))
    if any(isinstance(mark, _OrderNumberMark) for mark in field.metadata):
        return _read_order_number(value)
    if isinstance(value, bool) and bool not in kinds and kinds & {int, float}:
        raise _Unreadable(f"{value!r} is not a number")
    if str in kinds:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(value, str):
        return value
    if options := [option for kind in kinds for option in _options(kind)]:
        return _read_option(value, options)
    if bool in kinds:
        return _WORDS_FOR_BOOL.get(value.strip().lower(), value)
    return _read_int(value) if int in kinds else value


def _read_order_number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return value
    found = order_numbers_in(str(value))
    if len(found) > 1:
        raise _Unreadable(f"{value!r} holds {len(found)} order numbers; give one")
    return found[0] if found else canonical(str(value))


def _read_int(value: str) -> int:
    """Return the one whole number in a text such as "3 times"; ASCII or full-width digits."""
    numbers = re.findall(r"[-+]?\d+(?:[.,]\d+)*", unicodedata.normalize("NFKC", value))
    if len(numbers) != 1 or not re.fullmatch(r"[-+]?\d{1,15}", numbers[0]):
        raise _Unreadable(f"{value!r} is not one whole number")
    return int(numbers[0])


def _read_option(value: str, options: list[str]) -> str:
    """Return the option that the text names, as in "JSON format" for json."""
    lowered = value.strip().lower()
    exact = [option for option in options if option.lower() == lowered]
    words = re.findall(r"[\w-]+", lowered)
    named = exact or [option for option in options if option.lower() in words]
    if len(named) != 1:
        raise _Unreadable(f"{value!r} is none of {', '.join(options)}")
    return named[0]


def _options(kind: Any) -> list[str]:
    if typing.get_origin(kind) is Literal:
        return [option for option in typing.get_args(kind) if isinstance(option, str)]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(member.value) for member in kind]
    return []


def _members(annotation: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the type itself."""
    if typing.get_origin(annotation) in (None, Literal):
        arguments: tuple[Any, ...] = ()
    else:
        arguments = typing.get_args(annotation)
    return arguments or (annotation,)


def _sentence(model: type[BaseModel], error: ErrorDetails) -> str:
    name = ".".join(str(part) for part in error["loc"]) or "arguments"
    if error["type"] == "missing":
        return f"{name}: is missing"
    if error["type"] == "extra_forbidden":
        return f"{name}: there is no such argument{_near(name, model.model_fields)}"
    reason = error["msg"].removeprefix("Value error, ").replace("Input should be", "must be", 1)
    return f"{name}: {reason}, not {error['input']!r:.80}"


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known) or 'none'}"
