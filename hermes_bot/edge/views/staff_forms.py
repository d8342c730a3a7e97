"""The forms behind a ticket card's buttons: words for the customer, and a note for the bot that gets it back."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.edge.views.look import Json, section
from hermes_bot.edge.views.values import packed

REPLY_CALLBACK, RETURN_CALLBACK = "ticket:reply", "ticket:return"
TEXT_BLOCK = "text"
TEXT_CHARACTERS = 3_000


def reply_form(fields: Mapping[str, str]) -> Json:
    """Return the form for an answer; `fields` (ticket, place of the card) come back with its submission."""
    told = (
        "The customer reads this in their conversation, under your name. Whatever is written under the card stays here."
    )
    return _form(REPLY_CALLBACK, "Reply to customer", "Send", told, "What do you want to say?", fields, optional=False)


def return_form(fields: Mapping[str, str]) -> Json:
    """Return the form for giving a ticket back to the bot."""
    told = "Hermes answers the customer again. Your note stays with the ticket; the customer does not see it."
    return _form(RETURN_CALLBACK, "Give back", "Give back", told, "What should Hermes know?", fields, optional=True)


def _form(
    callback_id: str, title: str, submit: str, told: str, label: str, fields: Mapping[str, str], *, optional: bool
) -> Json:
    element = {
        "type": "plain_text_input",
        "action_id": TEXT_BLOCK,
        "multiline": True,
        "max_length": TEXT_CHARACTERS,
    }
    return {
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": packed(**fields),
        "title": _plain(title),
        "submit": _plain(submit),
        "close": _plain("Go back"),
        "blocks": [
            section(told),
            {
                "type": "input",
                "block_id": TEXT_BLOCK,
                "optional": optional,
                "label": _plain(label),
                "element": element,
            },
        ],
    }


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}
