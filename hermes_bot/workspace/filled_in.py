"""What can be pressed and filled in in blocks, and the state that it has: of messages, modals and homes alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes_bot.workspace.element_state import initial_value, is_empty, state_of
from hermes_bot.workspace.elements import EXTERNAL
from hermes_bot.workspace.posts import Json, Post
from hermes_bot.workspace.refusal import Refusal

Values = Mapping[str, Mapping[str, Any]]
"""What a person filled in: {block_id: {action_id: string | list of strings | None}}."""

_WITHOUT_STATE = frozenset({"button", "overflow", "icon_button", "feedback_buttons", "workflow_button"})


def container_of(post: Post) -> Json:
    """Return the `container` of a click on a message or ephemeral."""
    container = {
        "type": "message",
        "message_ts": post.ts,
        "channel_id": post.channel,
        "is_ephemeral": bool(post.seen_by),
    }
    return container | ({"thread_ts": post.thread_ts} if post.thread_ts else {})


def leaves_of(blocks: Any, suggested: Mapping[str, list[Json]]) -> list[Json]:
    """Return the blocks without those that only hold others, and with the options that an app suggested.

    `suggested` are the options by the action_id of their select.
    """
    leaves: list[Json] = []
    for block in blocks:
        inner = {"container": "child_blocks", "carousel": "elements"}.get(block["type"])
        if inner is not None:
            leaves += leaves_of(block[inner], suggested)
        else:
            leaves.append(_with_options(block, suggested))
    return leaves


def _with_options(block: Json, suggested: Mapping[str, list[Json]]) -> Json:
    def filled(element: Any) -> Any:
        if not isinstance(element, dict) or element.get("type") not in EXTERNAL:
            return element
        initial = [*element.get("initial_options", ()), *filter(None, [element.get("initial_option")])]
        return {**element, "options": [*initial, *suggested.get(element["action_id"], ())]}

    for key in ("accessory", "element"):
        if key in block:
            block = {**block, key: filled(block[key])}
    return {**block, "elements": [filled(one) for one in block["elements"]]} if block["type"] == "actions" else block


def _elements(block: Json) -> list[Json]:
    """Return what can be pressed in a block."""
    single = [block[key] for key in ("accessory", "element") if key in block]
    found = (*block.get("elements", ()), *block.get("actions", ()), *single)
    return [one for one in found if isinstance(one, dict) and "action_id" in one]


def element_of(blocks: Any, action_id: str, block_id: str) -> tuple[Json, Json]:
    """Return the block and the element that was pressed; raise Refusal when it is not there (any more)."""
    for block in blocks:
        for element in _elements(block):
            if element["action_id"] == action_id and block_id in ("", block["block_id"]):
                return block, element
    raise Refusal("action_not_found")


def state_in(blocks: Any, values: Values) -> Json:
    """Return `state.values` with what was filled in, and with the initial value of what was left alone."""
    state: Json = {}
    for block in blocks:
        for element in _elements(block):
            if element["type"] in _WITHOUT_STATE:
                continue
            given = values.get(block["block_id"], {})
            value = given.get(element["action_id"], initial_value(element))
            entry = state_of(element, value)
            if entry is None:
                raise Refusal("invalid_value")
            state.setdefault(block["block_id"], {})[element["action_id"]] = entry
    return state


def missing_in(blocks: Any, state: Json) -> dict[str, str]:
    """Return what the client itself says of inputs, before the app is asked."""
    sentences: dict[str, str] = {}
    for block in blocks:
        if block["type"] != "input":
            continue
        element = block["element"]
        entry = state[block["block_id"]][element["action_id"]]
        length = len(entry.get("value") or "")
        if is_empty(entry):
            if not block.get("optional"):
                sentences[block["block_id"]] = "Please complete this required field."
        elif length < element.get("min_length", 0):
            sentences[block["block_id"]] = f"Must be at least {element['min_length']} characters."
        elif element["type"] == "plain_text_input" and length > element.get("max_length", 3000):
            sentences[block["block_id"]] = f"Must be at most {element.get('max_length', 3000)} characters."
    return sentences
