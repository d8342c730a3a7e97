"""Reads `routing.yaml`. Whatever is wrong in it becomes one SettingsError with file, line, key and a remedy."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from hermes_bot.errors import SettingsError
from routing.keywords import BadPattern, compile_pattern
from routing.route import Keywords, Route

MAX_FILE_BYTES = 16 << 20

Path_ = tuple[int | str, ...]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    routes: tuple[Route, ...]


_KNOWN_KEYS = [*_File.model_fields, *Route.model_fields, *Keywords.model_fields]


def load_routes(path: Path) -> tuple[Route, ...]:
    """Return the routes of the file in its order, disabled ones included. Raises SettingsError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SettingsError(f"cannot be read: {error.strerror}", file=str(path)) from error
    if len(content) > MAX_FILE_BYTES:
        raise SettingsError(f"is larger than {MAX_FILE_BYTES >> 20} MiB", file=str(path))
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise SettingsError("is not UTF-8 text", file=str(path)) from error
    return parse_routes(text, file=str(path))


def parse_routes(text: str, *, file: str) -> tuple[Route, ...]:
    """Return the routes written in the text; `file` is named in errors. Raises SettingsError."""
    document = _Document(text, file)
    try:
        routes = _File.model_validate(document.value).routes
    except ValidationError as error:
        raise _refused(document, error) from error
    _check_patterns(document, routes)
    for field in ("name", "type"):
        _check_unique(document, routes, field)
    if not any(route.enabled and not route.nobody for route in routes):
        raise document.error("no enabled route leads to an agent", ("routes",))
    return routes


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
            raise SettingsError(f"column {column}: {error.problem}", file=file, line=line) from error
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise SettingsError(f"is not readable YAML: {error}", file=file) from error

    def error(self, message: str, place: Path_) -> SettingsError:
        key = ".".join(str(part) for part in place)
        return SettingsError(f"{key}: {message}" if key else message, file=self._file, line=self._line(place), key=key)

    def _line(self, place: Path_) -> int:
        """Return the line of the deepest part of the place that the file has."""
        node, line = self._node, 1 if self._node is None else self._node.start_mark.line + 1
        for part in place:
            found = _child(node, part)
            if found is None:
                continue  # a single rule written without its list: the place names an index that the file has not
            key, node = found
            line = key.start_mark.line + 1
        return line


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
