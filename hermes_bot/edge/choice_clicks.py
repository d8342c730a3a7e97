"""What the choice buttons under a reply mean."""

from __future__ import annotations

from hermes_bot.edge.clicks import Click, message_of
from hermes_bot.edge.concerns import Concern
from hermes_bot.edge.views.reply import CHOICE_PREFIX
from hermes_bot.messages.message import PRIORITY_USER, Message
from hermes_bot.messages.payloads import TICKET_CLICKED, Clicked


def choice_concern() -> Concern:
    """Return the buttons that agents offer."""
    return Concern(buttons={f"{CHOICE_PREFIX}*": _read})


def _read(click: Click) -> Message | None:
    ticket_id, choice = click.fields.get("ticket_id", ""), click.fields.get("choice", "")
    if not (ticket_id and choice):
        return None
    body = Clicked(ticket_id=ticket_id, choice=choice, label=click.label, user=click.user, team=click.team)
    return message_of(click, TICKET_CLICKED, body, priority=PRIORITY_USER)
