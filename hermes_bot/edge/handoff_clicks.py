"""What the buttons, menus and forms of ticket cards mean, and the thumbs under an answer."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.edge.clicks import Click, Submission, card_fields, message_of
from hermes_bot.edge.concerns import Concern, FormReader
from hermes_bot.edge.views.feedback import RATE
from hermes_bot.edge.views.handoff import (
    ASSIGN,
    CLAIM,
    PRIORITY,
    REOPEN,
    REPLY,
    RETURN,
    SOLVE,
    TAKE,
    ticket_chosen_for,
)
from hermes_bot.edge.views.look import Json
from hermes_bot.edge.views.staff_forms import (
    REPLY_CALLBACK,
    RETURN_CALLBACK,
    TEXT_BLOCK,
    TEXT_CHARACTERS,
    reply_form,
    return_form,
)
from hermes_bot.messages.message import PRIORITY_USER, Message
from hermes_bot.messages.payloads import HANDOFF_CLICKED, HandoffClicked
from hermes_bot.messages.ticket_payloads import TICKET_RATED, TicketRated

ACTIONS: Mapping[str, str] = {
    CLAIM: "claim",
    RETURN: "return",
    TAKE: "take",
    ASSIGN: "assign",
    PRIORITY: "priority",
    SOLVE: "solve",
    REOPEN: "reopen",
}


def handoff_concern() -> Concern:
    """Return the buttons and forms of ticket cards, and the thumbs."""
    return Concern(
        buttons=dict.fromkeys(ACTIONS, _read) | {RATE: _rated},
        openers={REPLY: _open_reply, RETURN: _open_return},
        forms={
            REPLY_CALLBACK: FormReader(read=_replied, error_block=TEXT_BLOCK),
            RETURN_CALLBACK: FormReader(read=_returned, error_block=TEXT_BLOCK),
        },
    )


def _read(click: Click) -> Message | None:
    ticket_id = click.fields.get("ticket_id", "") or ticket_chosen_for(click.block_id)
    value = click.selected if click.action_id == ASSIGN else click.fields.get("priority", "")
    return _message(click, ticket_id, ACTIONS[click.action_id], value=value)


def _message(click: Click, ticket_id: str, action: str, *, value: str = "", text: str = "") -> Message | None:
    if not ticket_id:
        return None
    body = HandoffClicked(
        ticket_id=ticket_id,
        action=action,
        user=click.user,
        team=click.team,
        channel=click.channel,
        message_ts=click.message_ts,
        value=value,
        text=text,
        thread_ts=click.inside,
    )
    return message_of(click, HANDOFF_CLICKED, body)


def _rated(click: Click) -> Message | None:
    ticket_id, rating = click.fields.get("ticket_id", ""), click.fields.get("rating", "")
    if not ticket_id or rating not in ("up", "down"):
        return None
    body = TicketRated(ticket_id=ticket_id, rating=rating, user=click.user, team=click.team, channel=click.channel)
    return message_of(click, TICKET_RATED, body, priority=PRIORITY_USER)


async def _open_reply(click: Click) -> Json | None:
    return reply_form(card_fields(click)) if click.fields.get("ticket_id") else None


async def _open_return(click: Click) -> Json | None:
    return return_form(card_fields(click)) if click.fields.get("ticket_id") else None


def _replied(form: Submission) -> Message | dict[str, str] | None:
    text = form.words(TEXT_BLOCK, TEXT_CHARACTERS)
    if not text:
        return {TEXT_BLOCK: "There is nothing to send yet."}
    return _message(form.as_click(REPLY), form.fields.get("ticket_id", ""), "reply", text=text)


def _returned(form: Submission) -> Message | None:
    text = form.words(TEXT_BLOCK, TEXT_CHARACTERS)
    return _message(form.as_click(RETURN), form.fields.get("ticket_id", ""), "return", text=text)
