"""The interactive elements of Block Kit: where each may stand, its fields and its sizes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from hermes_bot.workspace.found import Found
from hermes_bot.workspace.posts import Json

CHOICES = frozenset({"static_select", "radio_buttons", "overflow"})
MANY_CHOICES = frozenset({"multi_static_select", "checkboxes"})
EXTERNAL = frozenset({"external_select", "multi_external_select"})
_PICKERS = frozenset({"datepicker", "timepicker", "users_select", "conversations_select", "channels_select"})
_MULTI_PICKERS = frozenset({"multi_users_select", "multi_conversations_select", "multi_channels_select"})
_TYPED = frozenset({"plain_text_input", "email_text_input", "number_input", "url_text_input", "rich_text_input"})

IN_SECTION = frozenset({"button", "image"}) | EXTERNAL | CHOICES | MANY_CHOICES | _PICKERS | _MULTI_PICKERS
IN_ACTIONS = (
    (IN_SECTION | {"datetimepicker"}) - {"image", "multi_static_select", "multi_external_select"} - _MULTI_PICKERS
)
IN_INPUT = (IN_SECTION | _TYPED | {"datetimepicker", "file_input"}) - {"button", "image", "overflow"}
IN_CONTEXT_ACTIONS = frozenset({"feedback_buttons", "icon_button"})
INTERACTIVE = (IN_SECTION | IN_ACTIONS | IN_INPUT | IN_CONTEXT_ACTIONS) - {"image"}

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
    "conversations_select": frozenset(
        {
            "initial_conversation",
            "default_to_current_conversation",
            "response_url_enabled",
            "placeholder",
            "confirm",
            "focus_on_load",
            "filter",
        }
    ),
    "channels_select": frozenset(
        {"initial_channel", "response_url_enabled", "placeholder", "confirm", "focus_on_load"}
    ),
    "external_select": frozenset({"initial_option", "min_query_length", "placeholder", "confirm", "focus_on_load"}),
    "multi_external_select": frozenset(
        {"initial_options", "min_query_length", "placeholder", "confirm", "focus_on_load", "max_selected_items"}
    ),
    "datetimepicker": frozenset({"initial_date_time", "confirm", "focus_on_load"}),
    "multi_users_select": frozenset({"initial_users", "placeholder", "confirm", "focus_on_load", "max_selected_items"}),
    "multi_conversations_select": frozenset(
        {
            "initial_conversations",
            "default_to_current_conversation",
            "placeholder",
            "confirm",
            "focus_on_load",
            "max_selected_items",
            "filter",
        }
    ),
    "multi_channels_select": frozenset(
        {"initial_channels", "placeholder", "confirm", "focus_on_load", "max_selected_items"}
    ),
    "feedback_buttons": frozenset({"positive_button", "negative_button"}),
    "icon_button": frozenset({"icon", "text", "accessibility_label", "value", "visible_to_user_ids", "confirm"}),
    "rich_text_input": frozenset({"initial_value", "dispatch_action_config", "focus_on_load", "placeholder"}),
    "file_input": frozenset({"filetypes", "max_files"}),
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


def _feedback_buttons(found: Found, element: Json, at: str) -> None:
    for name in ("positive_button", "negative_button"):
        button, place = element.get(name), f"{at}/{name}"
        if not isinstance(button, dict):
            found.add(f"missing required field: {name}", at)
            continue
        found.only(button, {"text", "value", "accessibility_label"}, place)
        found.text(button.get("text"), f"{place}/text", limit=75, plain=True)
        found.string(button.get("value"), f"{place}/value", limit=2000)
        if "accessibility_label" in button:
            found.string(button["accessibility_label"], f"{place}/accessibility_label", limit=75)


def _icon_button(found: Found, element: Json, at: str) -> None:
    found.one_of(element.get("icon"), ("trash",), f"{at}/icon")
    found.text(element.get("text"), f"{at}/text", limit=75, plain=True)
    for key, limit in (("value", 2000), ("accessibility_label", 75)):
        if key in element:
            found.string(element[key], f"{at}/{key}", limit=limit)
    if "visible_to_user_ids" in element:
        found.array(element["visible_to_user_ids"], f"{at}/visible_to_user_ids", limit=10)


_BY_KIND: Mapping[str, Callable[[Found, Json, str], None]] = {
    "button": _button,
    "image": _image,
    "plain_text_input": _plain_text_input,
    "feedback_buttons": _feedback_buttons,
    "icon_button": _icon_button,
    **dict.fromkeys(CHOICES | MANY_CHOICES, _options),
}
