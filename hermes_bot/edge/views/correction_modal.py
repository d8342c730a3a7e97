"""The form behind "Wrong team?": which route it should have been, and the words that may be kept as an example."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.edge.text import head, shorten
from hermes_bot.edge.views.look import BUTTON_CHARACTERS, Json, section
from hermes_bot.edge.views.values import packed
from hermes_bot.triage.corrections import Form

CALLBACK_ID = "route:correct"
ROUTE_BLOCK, ROUTE_ACTION = "route", "route"
TEXT_BLOCK, TEXT_ACTION = "text", "text"
TEXT_CHARACTERS = 300
MOST_ROUTES = 100  # Slack's limit for a select
HINT = "What the customer wrote, as an example for the future. Leave out everything personal."


def correction_modal(form: Form, fields: Mapping[str, str]) -> Json:
    """Return the form; `fields` (ticket, place of the card) come back with its submission."""
    now = f"Ticket {form.ticket_id} went to *{form.route or 'nobody'}*. An admin decides whether the example is kept."
    options = [_option(name, description) for name, description in form.routes[:MOST_ROUTES]]
    return {
        "type": "modal",
        "callback_id": CALLBACK_ID,
        "private_metadata": packed(**fields),
        "title": _plain("Wrong team?"),
        "submit": _plain("Suggest"),
        "close": _plain("Go back"),
        "blocks": [
            section(now),
            _input(ROUTE_BLOCK, "Which team should have got it?", {
                "type": "static_select",
                "action_id": ROUTE_ACTION,
                "placeholder": _plain("Choose a route"),
                "options": options,
            }),
            _input(TEXT_BLOCK, "The customer's words", {
                "type": "plain_text_input",
                "action_id": TEXT_ACTION,
                "multiline": True,
                "max_length": TEXT_CHARACTERS,
                "initial_value": head(form.text, TEXT_CHARACTERS),
            }) | {"hint": _plain(HINT)},
        ],
    }  # fmt: skip


def _input(block_id: str, label: str, element: Json) -> Json:
    return {"type": "input", "block_id": block_id, "label": _plain(label), "element": element}


def _option(name: str, description: str) -> Json:
    words = f"{name}: {description}" if description else name
    return {"text": _plain(shorten(words, BUTTON_CHARACTERS)), "value": name}


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}
