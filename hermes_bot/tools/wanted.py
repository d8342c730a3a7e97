"""What an argument is, as its JSON Schema tells: its types, its options, and what its description gives as examples."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

_MAX_DEPTH = 12
_QUOTED = r"['‘\"“]([^'’\"”]*)['’\"”]"
_EXAMPLE = re.compile(
    rf"\b(?:such as|e\.g\.,?|for example:?|like)\s+{_QUOTED}((?:\s*(?:,|or|and)\s*{_QUOTED})*)", re.IGNORECASE
)
_EITHER = re.compile(rf"\b(?:either|one of:?)\s+{_QUOTED}((?:\s*(?:,\s*or|,|or)\s+{_QUOTED})+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cents:
    """Marks a parameter that takes whole cents, or an amount as people write it.

    A currency that stands beside the amount goes to the parameter named `currency_field`.
    """

    currency_field: str = ""


@dataclass(frozen=True, slots=True)
class OrderNumberMark:
    """Marks a parameter that takes an order number as people write it."""


Mark = Cents | OrderNumberMark


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One argument. No `kinds` (JSON Schema's types): anything goes.

    `examples` are texts that the description quotes, and `blank` says that an empty text is one of them. `length` is
    that of a text, where the schema allows one only. `closed`: an object with no other keys than `properties`.
    """

    name: str
    kinds: frozenset[str] = frozenset()
    options: tuple[Any, ...] = ()
    examples: tuple[str, ...] = ()
    blank: bool = False
    format: str = ""
    length: int | None = None
    required: bool = True
    mark: Mark | None = None
    items: Wanted | None = None
    properties: Mapping[str, Wanted] = field(default_factory=dict)
    closed: bool = False


def wanted_in(schema: Mapping[str, Any], marks: Mapping[str, Mark] | None = None) -> Wanted:
    """Return the object that the schema of a tool describes; `marks` belong to its properties."""
    whole = _wanted("", schema, schema, True, 0)
    given = marks or {}
    money = {
        name: Cents("currency" if "currency" in whole.properties else "")
        for name, each in whole.properties.items()
        if name.endswith("_cents") and "integer" in each.kinds
    }
    marked = money | dict(given)
    properties = {name: replace(each, mark=marked.get(name)) for name, each in whole.properties.items()}
    open_ended = schema.get("additionalProperties") not in (None, False)
    return Wanted(name="", kinds=frozenset({"object"}), properties=properties, closed=not open_ended)


def _wanted(name: str, schema: Any, root: Mapping[str, Any], required: bool, depth: int) -> Wanted:
    parts = _parts(schema, root, depth)
    if parts is None:
        return Wanted(name=name, required=required)
    merged = _merged(parts)
    described = str(merged.get("description") or "")
    needed = merged.get("required", ())
    properties = {
        str(key): _wanted(str(key), each, root, key in needed, depth + 1)
        for key, each in (merged.get("properties") or {}).items()
    }
    items = merged.get("items")
    inner = None
    if isinstance(items, Mapping):
        told = {"description": described} | dict(items) if described else items
        inner = _wanted(name, told, root, True, depth + 1)
    examples = _examples(merged, described)
    shortest, longest = merged.get("minLength"), merged.get("maxLength")
    return Wanted(
        name=name,
        kinds=_kinds(parts),
        options=_options(parts, described),
        examples=tuple(each for each in examples if each),
        blank="" in examples,
        format=str(merged.get("format") or ""),
        length=shortest if isinstance(shortest, int) and shortest == longest else None,
        required=required,
        items=inner,
        properties=properties,
        closed=merged.get("additionalProperties") in (None, False) and bool(properties),
    )


def _parts(schema: Any, root: Mapping[str, Any], depth: int) -> list[Mapping[str, Any]] | None:
    """Return the schemas of which one must hold, without references; None for what is not looked into."""
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return None
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = _target(reference, root)
        return None if target is None else _parts(dict(target) | _without(schema, "$ref"), root, depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        choices = schema.get(key)
        if not isinstance(choices, list):
            continue
        if key == "allOf" and len(choices) > 1:
            return None
        found: list[Mapping[str, Any]] = []
        for choice in choices:
            inner = _parts(choice, root, depth + 1)
            if inner is None:
                return None
            found += [dict(each) | _without(schema, key) for each in inner]
        structured = [each for each in found if each.get("properties") or each.get("items")]
        return None if len(structured) > 1 else found
    return [schema]


def _without(schema: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != key}


def _target(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found: Any = root
    if not reference.startswith("#/"):
        return None
    for part in reference[2:].split("/"):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _merged(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the parts say together; the part that has structure or a format wins."""
    merged: dict[str, Any] = {}
    for part in parts:
        merged |= {key: value for key, value in part.items() if key not in merged or part.get("type") != "null"}
    return merged


def _kinds(parts: list[Mapping[str, Any]]) -> frozenset[str]:
    kinds: set[str] = set()
    for part in parts:
        given = part.get("type")
        if given is None and "enum" not in part and "const" not in part:
            return frozenset({"object"}) if part.get("properties") else frozenset()
        options = part.get("enum", [part["const"]] if "const" in part else [])
        kinds |= {given} if isinstance(given, str) else set(given or (_kind_of(each) for each in options))
    return frozenset(kinds)


def _kind_of(value: object) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return names.get(type(value), "object" if isinstance(value, Mapping) else "array")


def _options(parts: list[Mapping[str, Any]], described: str) -> tuple[Any, ...]:
    told = [part for part in parts if part.get("type") != "null"]
    listed = [part.get("enum", [part["const"]] if "const" in part else None) for part in told]
    if listed and all(options is not None for options in listed):
        return tuple(option for options in listed for option in options or ())
    if either := _EITHER.search(described):
        return tuple(re.findall(_QUOTED, either[0]))
    return ()


def _examples(merged: Mapping[str, Any], described: str) -> tuple[str, ...]:
    given = [*(merged.get("examples") or ()), merged.get("example")]
    found = [each for each in given if isinstance(each, str)]
    for example in _EXAMPLE.finditer(described):
        found += re.findall(_QUOTED, example[0])
    return tuple(dict.fromkeys(found))
