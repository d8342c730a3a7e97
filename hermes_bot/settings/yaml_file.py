"""Reads a YAML file and remembers on which line each key stands.

Values follow YAML 1.2, but a float needs its point: only `true` and `false` are booleans and nothing becomes a date,
so that a channel's mode `off` or a keyword `no` stays the word that was written. Anchors work; merge keys (`<<`) do
not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from hermes_bot.errors import SettingsError
from hermes_bot.settings.problems import Problem, refuse

KeyPath = tuple[str | int, ...]

_MAX_DEPTH = 40
_MAX_NODES = 100_000


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with the scalars of YAML 1.2's core schema."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _expression, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_expression})$"), list(_first))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^$"), [""])


def _integer(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    text = loader.construct_scalar(node)
    return int(text, 16 if "x" in text else 10)


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlFile:
    """A file's content: `data` as plain values, `lines` from the path of a key or list item to its line, from 1.

    `name` is how a person calls the file, relative to the working directory where it lies below it.
    """

    name: str
    data: Any
    lines: Mapping[KeyPath, int] = field(default_factory=dict)

    def line(self, path: KeyPath) -> int:
        """Return the line of `path`, or of the nearest key above it; 0 when not even that is known."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 0)

    def problem(self, path: KeyPath, text: str) -> Problem:
        """Return a problem that points at `path` in this file."""
        return Problem(text=text, place=self.name, line=self.line(path), key=dotted(path))


def dotted(path: KeyPath) -> str:
    """Return `slack.channels.C1.mode` for a path of keys; list items as `[0]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def read_yaml(path: Path) -> YamlFile:
    """Return the file's content with lines; raise SettingsError that tells every syntax error and doubled key."""
    name = shown(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SettingsError("this file does not exist", file=name) from error
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(f"this file cannot be read: {reason}", file=name) from error
    return parse_yaml(text, name=name)


def parse_yaml(text: str, *, name: str) -> YamlFile:
    """Return the content of `text`, called `name` in errors; raise SettingsError as `read_yaml` does."""
    try:
        walk = _Walk(_Loader(text), name)
        data = walk.whole()
    except yaml.YAMLError as error:
        raise _syntax_error(error, name) from error
    except RecursionError as error:
        raise SettingsError("this is nested too deeply", file=name) from error
    except (ValueError, OverflowError) as error:
        raise SettingsError(f"a value cannot be read: {error}", file=name) from error
    if walk.problems:
        refuse(walk.problems)
    return YamlFile(name=name, data=data, lines=walk.lines)


def shown(path: Path) -> str:
    """Return the path as a person would write it: relative where it lies below the working directory."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _syntax_error(error: yaml.YAMLError, name: str) -> SettingsError:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or "not readable"
    line = mark.line + 1 if mark is not None else 0
    return SettingsError(f"this is not valid YAML: {what}; check indentation, colons and quotes", file=name, line=line)


class _Walk:
    """Turns a node tree into plain values and notes lines and problems on the way."""

    def __init__(self, loader: _Loader, name: str) -> None:
        self._loader = loader
        self._name = name
        self.lines: dict[KeyPath, int] = {}
        self.problems: list[Problem] = []

    def whole(self) -> Any:
        node = self._loader.get_single_node()
        return None if node is None else self.value(node, ())

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        if len(path) > _MAX_DEPTH or len(self.lines) > _MAX_NODES:
            refuse([self._problem(node, path, "this is nested too deeply or too large; write it out more simply")])
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self._item(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._loader.construct_object(node)

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value) if isinstance(key_node, yaml.ScalarNode) else ""
            here = (*path, key)
            if not key or key == "<<":
                self.problems.append(self._problem(key_node, path, "a key must be a plain word here"))
            elif key in data:
                text = f"key {dotted(here)!r} stands twice, first on line {self.lines[here]}; keep one"
                self.problems.append(self._problem(key_node, here, text))
            else:
                self.lines[here] = key_node.start_mark.line + 1
                data[key] = self.value(value_node, here)
        return data

    def _item(self, node: yaml.Node, path: KeyPath) -> Any:
        self.lines[path] = node.start_mark.line + 1
        return self.value(node, path)

    def _problem(self, node: yaml.Node, path: KeyPath, text: str) -> Problem:
        return Problem(text=text, place=self._name, line=node.start_mark.line + 1, key=dotted(path))
