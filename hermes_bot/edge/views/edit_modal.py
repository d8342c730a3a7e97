"""The modal behind Edit: the tool's arguments as a form, made from its JSON Schema and filled with what would run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.edge.text import head, shorten
from hermes_bot.edge.views.look import Json
from hermes_bot.edge.views.values import packed

CALLBACK_ID = "approval:edit"
ARGUMENT = "argument:"
TEXT_CHARACTERS = 3_000
LONG_TEXT = 100
HINT_CHARACTERS = 150
CENTS = "_cents"
MOST_OPTIONS = 100
MOST_ARGUMENTS = 40

Schema = Mapping[str, Any]


def edit_modal(request: ApprovalRequest, schema: Schema, fields: Mapping[str, str]) -> Json:
    """Return the form; `fields` (approval, hash, tool, place of the card) come back with its submission."""
    properties: Mapping[str, Schema] = schema.get("properties", {})
    required = set(schema.get("required", ()))
    inputs = [
        _input(name, each, request.arguments, required=name in required)
        for name, each in list(properties.items())[:MOST_ARGUMENTS]
    ]
    return {
        "type": "modal",
        "callback_id": CALLBACK_ID,
        "private_metadata": packed(**fields),
        "title": _plain("Change the request"),
        "submit": _plain("Change"),
        "close": _plain("Go back"),
        "blocks": [
            {"type": "context", "elements": [_plain("Whoever changes it cannot be the only one who approves it.")]},
            *inputs,
        ],
    }


def block_of(name: str) -> str:
    """Return the block in which the argument is typed."""
    return f"{ARGUMENT}{name}"


def typed(name: str, text: str, schema: Schema) -> str:
    """Return what was typed for an argument as its tool reads it: an amount in units, a list one thing a line.

    The form shows "25.00", so "25" there means that; elsewhere a whole number is cents.
    """
    written = text.strip()
    if _listed(schema):
        return json.dumps([line.strip() for line in text.splitlines() if line.strip()], ensure_ascii=False)
    return f"{written}.00" if name.endswith(CENTS) and re.fullmatch(r"\d{1,10}", written) else text


def _input(name: str, schema: Schema, arguments: Mapping[str, Any], *, required: bool) -> Json:
    label = name.removesuffix(CENTS).replace("_", " ").capitalize() or name
    currency = arguments.get("currency")
    if name.endswith(CENTS) and isinstance(currency, str) and currency:
        label = f"{label} ({currency})"
    block: Json = {
        "type": "input",
        "block_id": block_of(name),
        "label": _plain(label),
        "element": _element(name, schema, arguments.get(name)),
        "optional": not required,
    }
    description = str(schema.get("description") or "")
    return block | ({"hint": _plain(shorten(description, HINT_CHARACTERS))} if description else {})


def _element(name: str, schema: Schema, value: Any) -> Json:
    options = _options(schema)
    if options:
        return _select(name, options, value)
    longest = min(int(schema.get("maxLength") or TEXT_CHARACTERS), TEXT_CHARACTERS)
    element: Json = {"type": "plain_text_input", "action_id": block_of(name), "max_length": longest}
    if longest > LONG_TEXT and _kinds(schema) & {"string", "array", "object"} and not _short(name):
        element["multiline"] = True
    lines = _listed(schema) and isinstance(value, list)
    written = "\n".join(str(each) for each in value) if lines else written_as(name, value)
    return element | ({"initial_value": head(written, longest)} if written else {})


def _select(name: str, options: list[str], value: Any) -> Json:
    choices = [{"text": _plain(shorten(option, 75)), "value": option} for option in options[:MOST_OPTIONS]]
    now = json.dumps(value) if isinstance(value, bool) else str(value)
    chosen = next((choice for choice in choices if choice["value"] == now), None)
    element: Json = {"type": "static_select", "action_id": block_of(name), "options": choices}
    return element | ({"initial_option": chosen} if chosen else {})


def _options(schema: Schema) -> list[str]:
    if "boolean" in _kinds(schema):
        return ["true", "false"]
    return [str(option) for each in _members(schema) for option in each.get("enum", ()) if option is not None]


def written_as(name: str, value: Any) -> str:
    """Return an argument as a person writes it: an amount in units, a text as it is, else JSON."""
    if value is None:
        return ""
    if name.endswith(CENTS) and isinstance(value, int):
        return f"{value // 100}.{value % 100:02d}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(name: str) -> bool:
    """Return whether it is a code by its name, which one line holds whatever its schema allows."""
    return name == "currency" or name.endswith("_id")


def _listed(schema: Schema) -> bool:
    """Return whether it is a list of texts, which the form takes one a line."""
    return "array" in _kinds(schema) and schema.get("items", {}).get("type") == "string"


def _kinds(schema: Schema) -> set[str]:
    kinds = [each.get("type") for each in _members(schema)]
    return {kind for each in kinds for kind in (each if isinstance(each, list) else [each]) if isinstance(kind, str)}


def _members(schema: Schema) -> list[Schema]:
    return [schema, *schema.get("anyOf", ())]


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}
