"""Checks the statements of `configs/connectors.yaml` once, at the start: bound parameters only, one statement each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from hermes_bot.settings.connectors import OperationSpec, ParameterSpec
from hermes_bot.tools.wanted import Cents, Mark, OrderNumberMark

IDENTITY = frozenset({"customer_email", "customer_id"})
FROM_HERMES = IDENTITY | {"ticket_id", "key", "now"}

_READS = re.compile(r"(?:SELECT|WITH|VALUES)\b", re.IGNORECASE)
_ASIDE = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"", re.DOTALL)
_TYPES: Mapping[str, Mapping[str, Any]] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "date-time"},
    "money": {"type": "integer"},
    "order_number": {"type": "string", "minLength": 1, "maxLength": 64},
}


def bound_in(statement: str) -> frozenset[str]:
    """Return the names of the statement's bound parameters."""
    return frozenset(text(statement).compile().params)


def faults_in(operation: OperationSpec) -> Iterator[tuple[str, str]]:
    """Return what is wrong with the operation: the key, and a sentence."""
    try:
        bound = bound_in(operation.statement)
    except SQLAlchemyError as error:
        yield "statement", f"this cannot be read: {error}"
        return
    plain = _ASIDE.sub(" ", operation.statement).strip().rstrip(";").strip()
    if ";" in plain:
        yield "statement", "this is more than one statement; make an operation of each"
    if operation.level == "L0" and not _READS.match(plain):
        yield "statement", "an operation of level L0 reads: its statement begins with SELECT or WITH"
    for name in sorted(operation.parameters.keys() & FROM_HERMES):
        yield f"parameters.{name}", f"{name} comes from Hermes; a planner cannot choose it, so do not list it"
    for name in sorted(bound - operation.parameters.keys() - FROM_HERMES):
        yield "statement", f":{name} is not among the parameters; write \\: for a colon that is none"
    for name in sorted(operation.parameters.keys() - bound - FROM_HERMES):
        yield f"parameters.{name}", f"the statement does not use :{name}"
    if operation.about == "customer" and not bound & IDENTITY:
        yield (
            "statement",
            "this does not bind :customer_email or :customer_id, so that it would tell everybody about everybody; "
            "bind one, or set about: anyone",
        )
    if operation.about == "anyone" and bound & IDENTITY:
        yield "about", "this binds the customer, so it is about: customer"
    yield from _faults_in_title(operation)


def _faults_in_title(operation: OperationSpec) -> Iterator[tuple[str, str]]:
    try:
        fields = [field for _, field, _, _ in Formatter().parse(operation.title) if field is not None]
    except ValueError as error:
        yield "title", f"this cannot be read: {error}"
        return
    for field in fields:
        if field not in operation.parameters:
            yield "title", f"{{{field}}} is none of the parameters"


def schema_of(operation: OperationSpec) -> dict[str, Any]:
    """Return the JSON Schema of what a planner chooses."""
    return {
        "type": "object",
        "properties": {name: _schema(each) for name, each in operation.parameters.items()},
        "required": [name for name, each in operation.parameters.items() if each.required],
        "additionalProperties": False,
    }


def marks_of(operation: OperationSpec) -> dict[str, Mark]:
    """Return how amounts and order numbers are read."""
    marks: dict[str, Mark] = {"money": Cents(), "order_number": OrderNumberMark()}
    return {name: marks[each.type] for name, each in operation.parameters.items() if each.type in marks}


def _schema(parameter: ParameterSpec) -> dict[str, Any]:
    schema = dict(_TYPES[parameter.type])
    if parameter.description:
        schema["description"] = parameter.description
    if parameter.options:
        schema["enum"] = list(parameter.options)
    elif parameter.type == "text":
        schema["maxLength"] = parameter.max_length
    if parameter.type in {"integer", "number", "money"}:
        limits = {"minimum": parameter.minimum, "maximum": parameter.maximum}
        schema |= {key: value for key, value in limits.items() if value is not None}
    return schema
