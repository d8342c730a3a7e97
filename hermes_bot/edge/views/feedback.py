"""The question whether an answer helped: Slack's feedback buttons, and in words for where they are not shown."""

from __future__ import annotations

from hermes_bot.edge.text import escape, shorten
from hermes_bot.edge.views.look import BUTTON_CHARACTERS, Json, context
from hermes_bot.edge.views.values import packed
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.tickets.waits import Render

RATE = "ticket:rate"


def feedback_blocks(ticket: Ticket, render: Render) -> tuple[Json, Json]:
    """Return the question and the two thumbs, in the ticket's language."""
    question = escape(render(ticket.language, "tickets.feedback.question"))
    buttons = {
        "type": "feedback_buttons",
        "action_id": RATE,
        "positive_button": _thumb(ticket, render, "up"),
        "negative_button": _thumb(ticket, render, "down"),
    }
    return (context(question), {"type": "context_actions", "elements": [buttons]})


def _thumb(ticket: Ticket, render: Render, rating: str) -> Json:
    label = shorten(render(ticket.language, f"tickets.feedback.{rating}"), BUTTON_CHARACTERS)
    value = packed(ticket_id=ticket.id, context_id=ticket.context_id, rating=rating)
    return {"text": {"type": "plain_text", "text": label}, "value": value}
