"""What the buttons of handoff cards mean."""

from __future__ import annotations

from hermes_bot.edge.clicks import Click, message_of
from hermes_bot.edge.concerns import Concern
from hermes_bot.edge.views.handoff import CLAIM, RETURN
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import HANDOFF_CLICKED, HandoffClicked


def handoff_concern() -> Concern:
    """Return the buttons of handoff cards."""
    return Concern(buttons={CLAIM: _read, RETURN: _read})


def _read(click: Click) -> Message | None:
    ticket_id = click.fields.get("ticket_id", "")
    if not ticket_id:
        return None
    body = HandoffClicked(
        ticket_id=ticket_id,
        action="claim" if click.action_id == CLAIM else "return",
        user=click.user,
        team=click.team,
        channel=click.channel,
        message_ts=click.message_ts,
    )
    return message_of(click, HANDOFF_CLICKED, body)
