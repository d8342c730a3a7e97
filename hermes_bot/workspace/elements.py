"""The interactive elements of Block Kit: their fields and sizes, and the state that a chosen or typed value gives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from hermes_bot.workspace.found import Found
from hermes_bot.workspace.posts import Json

_CHOICES = frozenset({"static_select", "radio_buttons", "overflow"})
_MANY_CHOICES = frozenset({"multi_static_select", "checkboxes"})
_PICKERS: Mapping[str, str] = {
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "users_select": "selected_user",
    "conversations_select": "selected_conversation",
    "channels_select": "selected_channel",
}
_TYPED = frozenset({"plain_text_input", "email_text_input", "number_input", "url_text_input"})
BUTTONLIKE = frozenset({"button"}) | _CHOICES | _MANY_CHOICES | frozenset(_PICKERS)
INPUTS = (BUTTONLIKE | _TYPED) - {"button", "overflow"}

_MAX_OPTIONS: Mapping[str, int] = {"overflow": 5, "radio_buttons": 10, "checkboxes": 10}
_FIELDS: Mapping[str, frozenset[str]] = {
    "button": frozenset({"text", "url", "value", "style", "confirm", "accessibility_label"}),
    "image": frozenset({"image_url", "slack_file", "alt_text"}),
    "overflow": frozenset({"options", "confirm"}),
    "radio_buttons": frozenset({"options", "initial_option", "confirm", "focus_on_load"}),
    "checkboxes": frozenset({"options", "initial_options", "confirm", "focus_on_load"}),
    "static_select": frozenset(
        {"options", "option_groups", "initial_option", "placeholder", "confirm", "focus_on_load"}
    ),
    "multi_static_select": frozenset(
        {"options", "option_groups", "initial_options", "placeholder", "confirm", "focus_on_load", "max_selected_items"}
    ),
    "datepicker": frozenset({"initial_date", "placeholder", "confirm", "focus_on_load"}),
    "timepicker": frozenset({"initial_time", "placeholder", "confirm", "focus_on_load", "timezone"}),
    "users_select": frozenset({"initial_user", "placeholder", "confirm", "focus_on_load"}),
    "conversations_select": frozenset({"initial_conversation", "placeholder", "confirm", "focus_on_load", "filter"}),
    "channels_select": frozenset({"initial_channel", "placeholder", "confirm", "focus_on_load"}),
    "plain_text_input": frozenset(
        {
            "initial_value",
            "multiline",
            "min_length",
            "max_length",
            "placeholder",
            "focus_on_load",
            "dispatch_action_config",
        }
    ),
    "email_text_input": frozenset({"initial_value", "placeholder", "focus_on_load", "dispatch_action_config"}),
    "url_text_input": frozenset({"initial_value", "placeholder", "focus_on_load", "dispatch_action_config"}),
    "number_input": frozenset(
        {"initial_value", "is_decimal_allowed", "min_value", "max_value", "placeholder", "focus_on_load"}
    ),
}


def check_element(found: Found, element: object, at: str, kinds: Collection[str], action_ids: set[str]) -> None:
    """Find what is wrong with an element that may be one of `kinds`; `action_ids` are those taken in its block."""
    if element is None:
        found.add(f"missing required field: {at.rpartition('/')[2]}", at.rpartition("/")[0])
        return
    if not isinstance(element, dict):
        found.add("must be an object", at)
        return
    kind = element.get("type")
    if not isinstance(kind, str) or kind not in kinds:
        found.add(f"unsupported type: {kind}", f"{at}/type")
        return
    common = {"type"} if kind == "image" else {"type", "action_id"}
    found.only(element, _FIELDS[kind] | common, at)
    if "action_id" in element:
        found.string(element["action_id"], f"{at}/action_id", limit=255)
        if element["action_id"] in action_ids:
            found.add(f"action_id {element['action_id']} already exists", f"{at}/action_id")
        action_ids.add(str(element["action_id"]))
    if "placeholder" in element:
        found.text(element["placeholder"], f"{at}/placeholder", limit=150, plain=True)
    if "confirm" in element:
        _confirm(found, element["confirm"], f"{at}/confirm")
    _BY_KIND.get(kind, _nothing_more)(found, element, at)


def _nothing_more(_found: Found, _element: Json, _at: str) -> None:
    return


def _button(found: Found, element: Json, at: str) -> None:
    found.text(element.get("text"), f"{at}/text", limit=75, plain=True)
    for key, limit in (("value", 2000), ("url", 3000), ("accessibility_label", 75)):
        if key in element:
            found.string(element[key], f"{at}/{key}", limit=limit)
    if element.get("style") not in (None, "primary", "danger"):
        found.add(f"failed to match any of the allowed values: {element['style']}", f"{at}/style")


def _image(found: Found, element: Json, at: str) -> None:
    if "slack_file" not in element:
        found.string(element.get("image_url"), f"{at}/image_url", limit=3000)
    found.string(element.get("alt_text"), f"{at}/alt_text", limit=2000)


def _options(found: Found, element: Json, at: str) -> None:
    if "option_groups" in element:
        for number, group in enumerate(found.array(element["option_groups"], f"{at}/option_groups", limit=100)):
            place = f"{at}/option_groups/{number}"
            if not isinstance(group, dict):
                found.add("must be an object", place)
                continue
            found.text(group.get("label"), f"{place}/label", limit=75, plain=True)
            _option_list(found, group.get("options"), f"{place}/options", limit=100)
        return
    _option_list(found, element.get("options"), f"{at}/options", limit=_MAX_OPTIONS.get(element["type"], 100))


def _option_list(found: Found, options: object, at: str, *, limit: int) -> None:
    for number, option in enumerate(found.array(options, at, limit=limit)):
        place = f"{at}/{number}"
        if not isinstance(option, dict):
            found.add("must be an object", place)
            continue
        found.only(option, {"text", "value", "description", "url"}, place)
        found.text(option.get("text"), f"{place}/text", limit=75)
        found.string(option.get("value"), f"{place}/value", limit=150)
        if "description" in option:
            found.text(option["description"], f"{place}/description", limit=75)


def _confirm(found: Found, confirm: object, at: str) -> None:
    if not isinstance(confirm, dict):
        found.add("must be an object", at)
        return
    found.only(confirm, {"title", "text", "confirm", "deny", "style"}, at)
    for key, limit in (("title", 100), ("text", 300), ("confirm", 30), ("deny", 30)):
        found.text(confirm.get(key), f"{at}/{key}", limit=limit, plain=key != "text")


def _plain_text_input(found: Found, element: Json, at: str) -> None:
    for key, least in (("min_length", 0), ("max_length", 1)):
        length = element.get(key)
        if length is not None and not (isinstance(length, int) and least <= length <= 3000):
            found.add(f"must be between {least} and 3000", f"{at}/{key}")


_BY_KIND: Mapping[str, Callable[[Found, Json, str], None]] = {
    "button": _button,
    "image": _image,
    "plain_text_input": _plain_text_input,
    **dict.fromkeys(_CHOICES | _MANY_CHOICES, _options),
}


def state_of(element: Json, value: Any) -> Json | None:
    """Return the element's entry in `state.values` for a value of the client API; None when it cannot have it."""
    kind = element["type"]
    if kind in _CHOICES:
        options = [_option(element, value)] if value else [None]
        return {"type": kind, "selected_option": options[0]} if value in (None, "") or options[0] else None
    if kind in _MANY_CHOICES:
        wanted = value or []
        chosen = [_option(element, one) for one in wanted] if isinstance(wanted, list) else [None]
        return {"type": kind, "selected_options": chosen} if all(chosen) else None
    if value is not None and not isinstance(value, str):
        return None
    return {"type": kind, _PICKERS.get(kind, "value"): value or None}


def initial_value(element: Json) -> Any:
    """Return the value, as the client API has it, that the element starts with."""
    if "initial_option" in element:
        return element["initial_option"]["value"]
    if "initial_options" in element:
        return [option["value"] for option in element["initial_options"]]
    names = ("initial_value", "initial_date", "initial_time", "initial_user", "initial_conversation", "initial_channel")
    return next((element[name] for name in names if name in element), None)


def is_empty(state: Json) -> bool:
    """Return whether nothing was typed or chosen."""
    return not any(value for key, value in state.items() if key != "type")


def _option(element: Json, value: object) -> Json | None:
    options = [*element.get("options", ())]
    for group in element.get("option_groups", ()):
        options += group["options"]
    return next((option for option in options if option["value"] == value), None)
