"""Checks data from a YAML file against a pydantic model and tells what is wrong in a person's words."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import pydantic
from pydantic_core import ErrorDetails

from hermes_bot.settings.problems import Problem, did_you_mean, refuse
from hermes_bot.settings.yaml_file import KeyPath, YamlFile, dotted

Model = TypeVar("Model", bound=pydantic.BaseModel)
_WORDS = {
    "bool_type": "must be true or false",
    "dict_type": "must hold `key: value` pairs",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "list_type": "must be a list, such as [A, B]",
    "model_type": "must hold `key: value` pairs",
    "string_type": "must be text; put it in quotes",
    "too_short": "must have at least 1 item",
    "tuple_type": "must be a list, such as [A, B]",
}

PointAt = Callable[[KeyPath, str], Problem]


def checked(model: type[Model], file: YamlFile) -> Model:
    """Return the file's data as `model`; raise SettingsError with file and line for every unknown key and value."""
    try:
        return model.model_validate({} if file.data is None else file.data)
    except pydantic.ValidationError as error:
        problems = problems_of(model, error, file.problem)
    refuse(problems)


def problems_of(model: type[pydantic.BaseModel], error: pydantic.ValidationError, point_at: PointAt) -> list[Problem]:
    """Return what pydantic found, in words; `point_at` makes a problem that names where a key path was written."""
    found = error.errors(include_url=False)
    return [_problem(model, each, point_at) for each in found if not _follows(each, found)]


def _follows(error: ErrorDetails, found: Sequence[ErrorDetails]) -> bool:
    """Whether a list is too short only because what stands in it is wrong."""
    path = error["loc"]
    inside = (one for one in found if len(one["loc"]) > len(path) and one["loc"][: len(path)] == path)
    return error["type"] == "too_short" and any(inside)


def keys_of(model: type[pydantic.BaseModel]) -> list[str]:
    """Return the keys that a mapping for `model` may have."""
    return [each.alias or name for name, each in model.model_fields.items()]


def _problem(model: type[pydantic.BaseModel], error: ErrorDetails, point_at: PointAt) -> Problem:
    path: KeyPath = error["loc"]
    if error["type"] == "extra_forbidden":
        return point_at(path, _unknown(model, path))
    name = dotted(path) or "the file"
    if error["type"] == "missing":
        return point_at(path, f"{name} is missing; add it")
    reason = _WORDS.get(error["type"]) or error["msg"].replace("Input should be", "must be", 1)
    if error["type"] == "value_error":
        return point_at(path, f"{name}: {reason.removeprefix('Value error, ')}")
    return point_at(path, f"{name} {reason}, not {error['input']!r}")


def _unknown(model: type[pydantic.BaseModel], path: KeyPath) -> str:
    parent = model_at(model, path[:-1])
    known = keys_of(parent) if parent is not None else []
    above = dotted(path[:-1])
    near = did_you_mean(str(path[-1]), known)
    if near:
        remedy = f"did you mean {dotted((*path[:-1], near))!r}?"
    else:
        remedy = f"{above or 'the file'} takes {', '.join(known)}"
    return f"unknown key {dotted(path)!r}; {remedy}"


def model_at(model: type[pydantic.BaseModel], path: KeyPath) -> type[pydantic.BaseModel] | None:
    """Return the model that describes the value at `path`, None where that is not a section."""
    return _as_model(annotation_at(model, path))


def annotation_at(model: type[pydantic.BaseModel], path: KeyPath) -> Any:
    """Return the type of the value at `path`, None where there is no such key."""
    annotation: Any = model
    for part in path:
        annotation = _below(annotation, part)
    return annotation


def _below(annotation: Any, part: str | int) -> Any:
    model = _as_model(annotation)
    if model is not None:
        for name, each in model.model_fields.items():
            if part == (each.alias or name):
                return each.annotation
        return None
    for candidate in _members(annotation):
        origin, arguments = typing.get_origin(candidate), typing.get_args(candidate)
        if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
            return arguments[1]
        if origin in {tuple, list} and arguments:
            return arguments[0]
    return None


def _as_model(annotation: Any) -> type[pydantic.BaseModel] | None:
    for candidate in _members(annotation):
        if isinstance(candidate, type) and issubclass(candidate, pydantic.BaseModel):
            return candidate
    return None


def _members(annotation: Any) -> tuple[Any, ...]:
    if typing.get_origin(annotation) is typing.Annotated:
        return _members(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in {typing.Union, types.UnionType}:
        return typing.get_args(annotation)
    return (annotation,)
