"""Lays the environment's `HERMES_…` variables over a file's data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from hermes_bot.errors import SettingsError
from hermes_bot.settings.checked import annotation_at, keys_of, model_at
from hermes_bot.settings.models import FileSettings
from hermes_bot.settings.problems import Problem, did_you_mean
from hermes_bot.settings.yaml_file import KeyPath, parse_yaml

PREFIX = "HERMES_"
CONFIG = "HERMES_CONFIG"
SHORT_NAMES: Mapping[str, KeyPath] = {
    "HERMES_DATABASE_URL": ("store", "url"),
    "HERMES_REDIS_URL": ("bus", "url"),
    "OTEL_EXPORTER_OTLP_ENDPOINT": ("observe", "otlp_endpoint"),
}
_NOT_SETTINGS = frozenset({CONFIG, "HERMES_REQUIRE_SHARED", "HERMES_SHARED"})  # the last two are for tests


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """A variable that sets the key at `path`."""

    name: str
    path: KeyPath
    value: Any


def overrides(environ: Mapping[str, str], problems: list[Problem]) -> list[Override]:
    """Return what the variables set, those that win last; what cannot be read is added to `problems`."""
    found = []
    for name in sorted(environ, key=lambda each: (each not in SHORT_NAMES, each)):
        ours = name.startswith(PREFIX) or name in SHORT_NAMES
        if not ours or name in _NOT_SETTINGS or not environ[name]:
            continue
        path = SHORT_NAMES.get(name) or _path(name)
        if path is None:
            problems.append(_unknown(name))
            continue
        try:
            found.append(Override(name=name, path=path, value=_value(name, path, environ[name])))
        except SettingsError as error:
            problems.append(Problem(text=str(error), key=name))
    return found


def lay_over(data: dict[str, Any], override: Override) -> None:
    """Set the override's key in `data`, in place."""
    for part in override.path[:-1]:
        below = data.get(str(part))
        if not isinstance(below, dict):
            below = data[str(part)] = {}
        data = below
    data[str(override.path[-1])] = override.value


def _path(name: str) -> KeyPath | None:
    """Return the key that `name` stands for, None where there is none or where it is a whole section."""
    path: KeyPath = ()
    for part in name.removeprefix(PREFIX).split("__"):
        section = model_at(FileSettings, path)
        path = (*path, part.lower() if section is not None else part)
    annotation = annotation_at(FileSettings, path)
    return path if part and annotation is not None and model_at(FileSettings, path) is None else None


def _value(name: str, path: KeyPath, raw: str) -> Any:
    if annotation_at(FileSettings, path) is str:
        return raw
    try:
        return parse_yaml(raw, name=name).data
    except SettingsError as error:
        cause = error.__cause__
        what = getattr(cause, "problem", None) if isinstance(cause, yaml.YAMLError) else None
        raise SettingsError(f"{name} is neither YAML nor JSON ({what or 'a key stands twice'})") from error


def _unknown(name: str) -> Problem:
    known = [*variable_names(), *SHORT_NAMES, CONFIG]
    near = did_you_mean(name, known)
    remedy = f"did you mean {near}?" if near else "docs/configuration.md lists them all"
    return Problem(text=f"unknown variable {name}; {remedy}", key=name)


def variable_names() -> Iterator[str]:
    """Return the variable of every key that has a fixed name."""
    for path in leaves(("",)):
        yield PREFIX + "__".join(str(part).upper() for part in path)


def leaves(start: Iterable[str] = ()) -> Iterator[KeyPath]:
    """Return the path of every key that is no section, in the order of the file."""
    above: KeyPath = tuple(part for part in start if part)
    section = model_at(FileSettings, above)
    if section is None:
        yield above
        return
    for key in keys_of(section):
        yield from leaves((*(str(part) for part in above), key))
