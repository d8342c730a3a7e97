"""What Slack asks of a modal or a home."""

from __future__ import annotations

import json

from hermes_bot.workspace.blocks import MAX_MODAL_BLOCKS, faults_of
from hermes_bot.workspace.found import Found
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal

MAX_VIEW_BYTES = 250_000
_LABEL_LIMIT = 24
_FIELDS = frozenset(
    {
        "type",
        "title",
        "blocks",
        "close",
        "submit",
        "private_metadata",
        "callback_id",
        "clear_on_close",
        "notify_on_close",
        "external_id",
        "submit_disabled",
    }
)


_HOME_FIELDS = frozenset({"type", "blocks", "private_metadata", "callback_id", "external_id"})


def checked_view(view: object, kind: str = "modal") -> Json:
    """Return the view ("modal" or "home") when Slack would take it.

    Raise `invalid_arguments` with the faults, or `view_too_large`.
    """
    if not isinstance(view, dict):
        raise Refusal("invalid_arguments", ["[ERROR] must be an object [json-pointer:/view]"])
    if len(json.dumps(view, ensure_ascii=False).encode()) > MAX_VIEW_BYTES:
        raise Refusal("view_too_large")
    sentences = view_faults(view, kind)
    if sentences:
        raise Refusal("invalid_arguments", sentences)
    return view


def view_faults(view: Json, kind: str) -> list[str]:
    """Return what is wrong with a view, in Slack's sentences."""
    found = Found()
    found.only(view, _FIELDS if kind == "modal" else _HOME_FIELDS, "/view")
    if view.get("type") != kind:
        found.add(f"unsupported type: {view.get('type')}", "/view/type")
    if kind == "modal":
        found.text(view.get("title"), "/view/title", limit=_LABEL_LIMIT, plain=True)
    for key in ("submit", "close"):
        if key in view:
            found.text(view[key], f"/view/{key}", limit=_LABEL_LIMIT, plain=True)
    for key, limit in (("private_metadata", 3000), ("callback_id", 255), ("external_id", 255)):
        if view.get(key):
            found.string(view[key], f"/view/{key}", limit=limit)
    if "blocks" not in view:
        found.add("missing required field: blocks", "/view")
        return found.sentences
    sentences = found.sentences + faults_of(view["blocks"], limit=MAX_MODAL_BLOCKS, at="/view/blocks", surface=kind)
    inputs = isinstance(view["blocks"], list) and any(
        isinstance(block, dict) and block.get("type") == "input" for block in view["blocks"]
    )
    if kind == "modal" and inputs and "submit" not in view:
        sentences.append("[ERROR] missing required field: submit [json-pointer:/view]")
    return sentences
