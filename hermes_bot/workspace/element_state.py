"""The state that a chosen or typed value gives an interactive element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes_bot.workspace.elements import CHOICES, MANY_CHOICES
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.rich_text import rich_text
from hermes_bot.workspace.typed_text import escape

_PICKED: Mapping[str, str] = {
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "users_select": "selected_user",
    "conversations_select": "selected_conversation",
    "channels_select": "selected_channel",
}
_PICKED_MANY: Mapping[str, str] = {
    "multi_users_select": "selected_users",
    "multi_conversations_select": "selected_conversations",
    "multi_channels_select": "selected_channels",
    "file_input": "files",
}
_INITIAL = (
    "initial_value",
    "initial_date",
    "initial_time",
    "initial_date_time",
    "initial_user",
    "initial_users",
    "initial_conversation",
    "initial_conversations",
    "initial_channel",
    "initial_channels",
)


def state_of(element: Json, value: Any) -> Json | None:
    """Return the element's entry in `state.values` for a value of the client API; None when it cannot have it."""
    kind = element["type"]
    if kind in CHOICES or kind == "external_select":
        options = [_option(element, value)] if value else [None]
        return {"type": kind, "selected_option": options[0]} if value in (None, "") or options[0] else None
    if kind in MANY_CHOICES or kind == "multi_external_select":
        wanted = value or []
        chosen = [_option(element, one) for one in wanted] if isinstance(wanted, list) else [None]
        return {"type": kind, "selected_options": chosen} if all(chosen) else None
    if kind in _PICKED_MANY:
        picked = value or []
        strings = isinstance(picked, list) and all(isinstance(one, str) for one in picked)
        return {"type": kind, _PICKED_MANY[kind]: picked} if strings else None
    if kind == "datetimepicker":
        return _moment(value)
    if value is not None and not isinstance(value, str):
        return None
    if kind == "feedback_buttons":
        return _feedback(element, value)
    if kind == "rich_text_input":
        return {"type": kind, "rich_text_value": rich_text(escape(value), "rich") if value else None}
    return {"type": kind, _PICKED.get(kind, "value"): value or None}


def initial_value(element: Json) -> Any:
    """Return the value, as the client API has it, that the element starts with."""
    if "initial_option" in element:
        return element["initial_option"]["value"]
    if "initial_options" in element:
        return [option["value"] for option in element["initial_options"]]
    if element["type"] == "rich_text_input":
        return None
    return next((element[name] for name in _INITIAL if name in element), None)


def is_empty(state: Json) -> bool:
    """Return whether nothing was typed or chosen."""
    return not any(value for key, value in state.items() if key != "type")


def _moment(value: Any) -> Json | None:
    if value in (None, ""):
        return {"type": "datetimepicker", "selected_date_time": None}
    seconds = str(value)
    return {"type": "datetimepicker", "selected_date_time": int(seconds)} if seconds.isdigit() else None


def _feedback(element: Json, value: object) -> Json | None:
    """Return which of the two buttons was pressed, named by its value."""
    for name in ("positive_button", "negative_button"):
        if element[name]["value"] == value:
            return {"type": "feedback_buttons", "value": value, "text": element[name]["text"]}
    return None


def _option(element: Json, value: object) -> Json | None:
    options = [*element.get("options", ())]
    for group in element.get("option_groups", ()):
        options += group["options"]
    return next((option for option in options if option["value"] == value), None)
