"""Turns what a planner sent into arguments that fit a tool, or into one precise sentence per problem.

Harmless forms are put right ("＃１００２３" is 10023, "12.50 EUR" is 1250 cents, "3 times" is 3). What cannot be read
for sure is a problem that goes back to the planner, never a guess. A tool tells what it takes as a pydantic model or,
where it is not ours, as a JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Protocol

import jsonschema
import re2
import referencing
from jsonschema.protocols import Validator
from pydantic import BaseModel, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from hermes_bot.tools.json_text import MAX_JSON as MAX_JSON
from hermes_bot.tools.json_text import NotJson, object_in
from hermes_bot.tools.outcome import Invalid
from hermes_bot.tools.reading import near, read_object
from hermes_bot.tools.wanted import Cents as Cents
from hermes_bot.tools.wanted import Mark, OrderNumberMark, Wanted, wanted_in

OrderNumber = Annotated[str, OrderNumberMark(), StringConstraints(min_length=1, max_length=64)]

_WRAPPERS = frozenset({"arguments", "parameters", "args", "input", "params", "kwargs"})
_LONGEST = 200  # characters of a problem that another library has found
_MOST_PROBLEMS = 20


class Arguments(Protocol):
    """What a tool takes."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema that planners are shown."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments' names."""
        ...

    def read(self, raw: Mapping[str, Any] | str) -> dict[str, Any] | Invalid:
        """Return the arguments by name, complete and valid, or what is wrong with them."""
        ...

    def plain(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as JSON data, from which `read` makes the same arguments again."""
        ...


class TypedArguments:
    """Those of a function: a pydantic model."""

    def __init__(self, model: type[BaseModel]) -> None:
        self.model = model
        self.schema: Mapping[str, Any] = model.model_json_schema()
        self.names = tuple(model.model_fields)
        self._wanted = wanted_in(self.schema, _marks(model))

    def read(self, raw: Mapping[str, Any] | str) -> dict[str, Any] | Invalid:
        """Return the arguments as the function takes them, or what is wrong."""
        checked = self.checked(raw)
        return checked if isinstance(checked, Invalid) else _fields(checked)

    def checked(self, raw: Mapping[str, Any] | str) -> BaseModel | Invalid:
        """Return the arguments as the model, or what is wrong."""
        read = _normalised(self._wanted, raw)
        if isinstance(read, Invalid):
            return read
        values, problems = read
        try:
            model = self.model.model_validate(values)
        except ValidationError as error:
            seen = {_name_in(problem) for problem in problems}
            found = (_sentence(self.model, each) for each in error.errors(include_url=False))
            problems = [*problems, *(sentence for sentence in found if _name_in(sentence) not in seen)]
            return _invalid(problems)
        return _invalid(problems) if problems else model

    def plain(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as JSON data."""
        return self.model.model_validate(dict(values)).model_dump(mode="json")


class SchemaArguments:
    """Those of a tool that is not ours: a JSON Schema. Raise ValueError for one that is none, or not of an object."""

    def __init__(self, schema: Mapping[str, Any], marks: Mapping[str, Mark] | None = None) -> None:
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            raise ValueError(f"not a JSON Schema: {error.message:.{_LONGEST}}") from error
        if schema.get("type") != "object":
            raise ValueError("the JSON Schema of a tool's arguments must be one of an object")
        self.schema = schema
        self._wanted = wanted_in(schema, marks)
        self.names = tuple(self._wanted.properties)
        self._validator = _Validator(schema, registry=referencing.Registry())  # fetches nothing from elsewhere

    def read(self, raw: Mapping[str, Any] | str) -> dict[str, Any] | Invalid:
        """Return the arguments as JSON data, or what is wrong."""
        read = _normalised(self._wanted, raw)
        if isinstance(read, Invalid):
            return read
        values, problems = read
        seen = {_name_in(problem) for problem in problems}
        try:
            errors = sorted(self._validator.iter_errors(values), key=lambda error: list(map(str, error.absolute_path)))
            found = [_told(error) for error in errors if error.validator != "required" or error.absolute_path]
        except (referencing.exceptions.Unresolvable, RecursionError) as error:
            found = [f"arguments: the tool's own schema cannot be used: {error!s:.{_LONGEST}}"]
        problems = [*problems, *(sentence for sentence in found if _name_in(sentence) not in seen)]
        return _invalid(problems) if problems else values

    def plain(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as they are."""
        return dict(values)


def _normalised(wanted: Wanted, raw: Mapping[str, Any] | str) -> tuple[dict[str, Any], list[str]] | Invalid:
    try:
        given = dict(raw) if isinstance(raw, Mapping) else object_in(raw)
        return read_object(wanted, _unwrapped(wanted, given))
    except NotJson as error:
        return _invalid([str(error)])


def _unwrapped(wanted: Wanted, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that stand in an object of their own, as in `{"arguments": {…}}`."""
    if len(given) != 1 or not wanted.closed or not given.keys() <= _WRAPPERS - wanted.properties.keys():
        return given
    (inner,) = given.values()
    found = object_in(inner) if isinstance(inner, str) else inner
    return found if isinstance(found, dict) else given


def _marks(model: type[BaseModel]) -> dict[str, Mark]:
    found: dict[str, Mark] = {}
    for name, field in model.model_fields.items():
        for mark in field.metadata:
            if isinstance(mark, Cents | OrderNumberMark):
                found[name] = mark
    return found


def _fields(model: BaseModel) -> dict[str, Any]:
    return {name: getattr(model, name) for name in type(model).model_fields}


def _invalid(problems: list[str]) -> Invalid:
    more = len(problems) - _MOST_PROBLEMS
    return Invalid(problems=(*problems[:_MOST_PROBLEMS], *([f"and {more} more"] if more > 0 else [])))


def _name_in(problem: str) -> str:
    return problem.split(":", 1)[0]


def _sentence(model: type[BaseModel], error: ErrorDetails) -> str:
    name = ".".join(str(part) for part in error["loc"]) or "arguments"
    if error["type"] == "missing":
        return f"{name}: is missing"
    if error["type"] == "extra_forbidden":
        return f"{name}: there is no such argument{near(name, model.model_fields)}"
    reason = error["msg"].removeprefix("Value error, ").replace("Input should be", "must be", 1)
    return f"{name}: {reason}, not {error['input']!r:.80}"


def _told(error: jsonschema.ValidationError) -> str:
    name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    return f"{name.lstrip('.') or 'arguments'}: {error.message:.{_LONGEST}}"


def _pattern(_validator: Validator, pattern: str, value: Any, _schema: Any) -> Any:
    """Check a pattern in linear time; one that RE2 does not know is left to the tool itself."""
    if not isinstance(value, str):
        return
    try:
        found = re2.search(pattern, value)
    except re2.error:
        return
    if not found:
        yield jsonschema.ValidationError(f"{value!r:.80} does not match {pattern!r:.80}")


_Validator = jsonschema.validators.extend(  # type: ignore[no-untyped-call] # the stubs leave it untyped
    jsonschema.Draft202012Validator, {"pattern": _pattern}
)
