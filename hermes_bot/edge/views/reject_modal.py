"""The modal that asks why a request is rejected; the reason may stay empty."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.edge.views.look import Json
from hermes_bot.edge.views.values import packed

CALLBACK_ID = "approval:reject"
REASON_BLOCK = "reason"
REASON_CHARACTERS = 500


def reject_modal(fields: Mapping[str, str]) -> Json:
    """Return the modal; `fields` (approval, hash, place of the card) come back with its submission."""
    element = {
        "type": "plain_text_input",
        "action_id": REASON_BLOCK,
        "multiline": True,
        "max_length": REASON_CHARACTERS,
    }
    return {
        "type": "modal",
        "callback_id": CALLBACK_ID,
        "private_metadata": packed(**fields),
        "title": _plain("Reject"),
        "submit": _plain("Reject"),
        "close": _plain("Go back"),
        "blocks": [
            {
                "type": "input",
                "block_id": REASON_BLOCK,
                "optional": True,
                "label": _plain("Why? The customer will read these words."),
                "element": element,
            }
        ],
    }


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}
