"""The modal behind Ask customer: one question, which the customer reads in the ticket's conversation."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.edge.views.look import Json
from hermes_bot.edge.views.values import packed

CALLBACK_ID = "approval:ask"
QUESTION_BLOCK = "question"
QUESTION_CHARACTERS = 1_000


def ask_modal(fields: Mapping[str, str]) -> Json:
    """Return the modal; `fields` (approval, hash, place of the card) come back with its submission."""
    return {
        "type": "modal",
        "callback_id": CALLBACK_ID,
        "private_metadata": packed(**fields),
        "title": _plain("Ask the customer"),
        "submit": _plain("Ask"),
        "close": _plain("Go back"),
        "blocks": [
            {
                "type": "input",
                "block_id": QUESTION_BLOCK,
                "label": _plain("Your question"),
                "hint": _plain(
                    "Hermes asks it in the conversation. The answer appears with the card, which stays open."
                ),
                "element": {
                    "type": "plain_text_input",
                    "action_id": QUESTION_BLOCK,
                    "multiline": True,
                    "max_length": QUESTION_CHARACTERS,
                },
            }
        ],
    }


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}
