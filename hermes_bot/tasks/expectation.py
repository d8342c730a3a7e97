"""Whether a result is what was expected: JSON Schema, checked by code on both sides."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from referencing.exceptions import Unresolvable

from hermes_bot.errors import PermanentError

MOST_SHOWN = 3
LONGEST_SHOWN = 300


def problems(expects: dict[str, Any] | None, result: object) -> tuple[str, ...]:
    """Return what is wrong with the result, each with its place, at most three; empty when it fits."""
    if not expects:
        return ()
    try:
        found = sorted(Draft202012Validator(expects).iter_errors(result), key=lambda error: error.json_path)
    except Unresolvable as error:
        raise PermanentError(f"expects refers to what it does not hold: {error}") from error
    return tuple(f"{error.json_path}: {error.message}"[:LONGEST_SHOWN] for error in found[:MOST_SHOWN])


def check_schema(expects: dict[str, Any] | None) -> None:
    """Raise PermanentError for what is no JSON Schema: it would let every result pass, or none.

    A reference to another document is refused as well: nothing is fetched to check a result.
    """
    if expects is None:
        return
    try:
        Draft202012Validator.check_schema(expects)
    except SchemaError as error:
        raise PermanentError(f"expects is no JSON Schema: {error.json_path}: {error.message}") from error
    if outside := sorted(_outside_references(expects)):
        raise PermanentError(f"expects refers to {outside[0]!r}; only references inside it are followed")


def _outside_references(schema: object) -> set[str]:
    if isinstance(schema, dict):
        own = {value for key, value in schema.items() if key in _REFERENCES and isinstance(value, str)}
        below = set[str]().union(*map(_outside_references, schema.values()))
        return {reference for reference in own if not reference.startswith("#")} | below
    if isinstance(schema, list):
        return set[str]().union(*map(_outside_references, schema))
    return set()


_REFERENCES = frozenset({"$ref", "$dynamicRef", "$id"})
