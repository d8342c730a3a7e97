"""Reads `routing.yaml`. Whatever is wrong in it becomes one SettingsError with file, line, key and a remedy."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hermes_bot.errors import SettingsError
from routing.keywords import BadPattern, compile_pattern
from routing.not_sure import NotSure
from routing.route import Keywords, Projection, Route
from routing.router import DEFAULT_THRESHOLD
from routing.similarity import TEMPERATURE, Method

MAX_FILE_BYTES = 16 << 20

Path_ = tuple[int | str, ...]


class RoutesFile(BaseModel):
    """Every key that a routes file may hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decision: Method = "head"
    score_threshold: float = Field(default=DEFAULT_THRESHOLD, ge=0.0, le=1.0)
    temperature: float = Field(default=TEMPERATURE, ge=0.05, le=20.0)
    not_sure: NotSure = NotSure()
    routes: tuple[Route, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteTable:
    """What a routes file says: the routes in its order, disabled ones included, how to decide and when to ask."""

    routes: tuple[Route, ...]
    decision: Method = "head"
    score_threshold: float = DEFAULT_THRESHOLD
    temperature: float = TEMPERATURE
    not_sure: NotSure = NotSure()  # noqa: RUF009 - frozen


_KNOWN_KEYS = [
    *RoutesFile.model_fields,
    *NotSure.model_fields,
    *Route.model_fields,
    *Projection.model_fields,
    *Keywords.model_fields,
]


def load_routes(path: Path) -> tuple[Route, ...]:
    """Return the routes of the file in its order, disabled ones included. Raises SettingsError."""
    return load_table(path).routes


def load_table(path: Path) -> RouteTable:
    """Return what the file says. Raises SettingsError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SettingsError(f"cannot be read: {error.strerror}", file=str(path)) from error
    return read_table(content, file=str(path))


def read_table(content: bytes, *, file: str) -> RouteTable:
    """Return what a file with this content says. Raises SettingsError."""
    if len(content) > MAX_FILE_BYTES:
        raise SettingsError(f"is larger than {MAX_FILE_BYTES >> 20} MiB", file=file)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise SettingsError("is not UTF-8 text", file=file) from error
    return parse_table(text, file=file)


def parse_routes(text: str, *, file: str) -> tuple[Route, ...]:
    """Return the routes written in the text; `file` is named in errors. Raises SettingsError."""
    return parse_table(text, file=file).routes


def parse_table(text: str, *, file: str) -> RouteTable:
    """Return what the text says; `file` is named in errors. Raises SettingsError."""
    document = _Document(text, file)
    try:
        read = RoutesFile.model_validate(document.value)
    except ValidationError as error:
        raise _refused(document, error) from error
    routes = read.routes
    _check_patterns(document, routes)
    for field in ("name", "type"):
        _check_unique(document, routes, field)
    if not any(route.enabled and not route.nobody for route in routes):
        raise document.error("no enabled route leads to an agent", ("routes",))
    return RouteTable(
        routes=routes,
        decision=read.decision,
        score_threshold=read.score_threshold,
        temperature=read.temperature,
        not_sure=read.not_sure,
    )


class _Document:
    """A parsed YAML text that still knows where each key stands."""

    def __init__(self, text: str, file: str) -> None:
        self._file = file
        try:
            loader = _Loader(text)
            self._node = loader.get_single_node()
            self.value: Any = loader.construct_document(self._node) if self._node is not None else None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
            raise SettingsError(str(error.problem), file=file, line=line, column=column) from error
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise SettingsError(f"is not readable YAML: {error}", file=file) from error

    def error(self, message: str, place: Path_) -> SettingsError:
        key = ".".join(str(part) for part in place)
        line, column = self._mark(place)
        text = f"{key}: {message}" if key else message
        return SettingsError(text, file=self._file, line=line, column=column, key=key)

    def _mark(self, place: Path_) -> tuple[int, int]:
        """Return line and column, from 1, of the deepest part of the place that the file has."""
        node, mark = self._node, None if self._node is None else self._node.start_mark
        for part in place:
            found = _child(node, part)
            if found is None:
                continue  # a single rule written without its list: the place names an index that the file has not
            key, node = found
            mark = key.start_mark
        return (1, 1) if mark is None else (mark.line + 1, mark.column + 1)


class _Loader(yaml.SafeLoader):
    """The safe loader, except that a key given twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                continue
            if key_node.value in seen:
                problem = f"the key {key_node.value!r} stands twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            seen.add(key_node.value)
        return super().construct_mapping(node, deep)


def _child(node: Any, part: int | str) -> tuple[Any, Any] | None:
    """Return the node that names the part and the node of its value."""
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    return None


def _refused(document: _Document, error: ValidationError) -> SettingsError:
    """Return one thing that is wrong, in words: an unknown key first, for it explains the missing one."""
    first = min(error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden")
    place = first["loc"]
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(place[-1]), _KNOWN_KEYS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; known keys: {', '.join(sorted(set(_KNOWN_KEYS)))}"
        return document.error(f"unknown key{hint}", place)
    if not place:
        return document.error("the file must be a mapping with the key 'routes'", place)
    more = error.error_count() - 1
    also = f" (and {more} more)" if more else ""
    return document.error(f"{first['msg'].removeprefix('Value error, ')}{also}", place)


def _check_patterns(document: _Document, routes: Sequence[Route]) -> None:
    for position, route in enumerate(routes):
        for rule, keywords in enumerate(route.keywords):
            for index, expression in enumerate(keywords.patterns):
                try:
                    compile_pattern(expression)
                except BadPattern as error:
                    place = ("routes", position, "keywords", rule, "patterns", index)
                    raise document.error(f"RE2 does not take this expression: {error}", place) from error


def _check_unique(document: _Document, routes: Sequence[Route], field: str) -> None:
    seen: set[str] = set()
    for position, route in enumerate(routes):
        value = str(getattr(route, field))
        if value in seen:
            raise document.error(f"{value!r} is used by an earlier route", ("routes", position, field))
        seen.add(value)
