"""What is pressed to correct a route: "Wrong team?", its form, and the buttons of the suggestion that comes of it."""

from __future__ import annotations

from functools import partial

from hermes_bot.edge.clicks import Click, Submission, card_fields, message_of
from hermes_bot.edge.concerns import Concern, FormReader
from hermes_bot.edge.inbound import identifier
from hermes_bot.edge.proposal_cards import Corrections
from hermes_bot.edge.views import correction_modal
from hermes_bot.edge.views.handoff import WRONG_TEAM
from hermes_bot.edge.views.look import Json
from hermes_bot.edge.views.proposal import ACCEPT, DECLINE
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import PROPOSAL_CLICKED, ROUTE_CORRECTED, ProposalClicked, RouteCorrected

ROUTE_CHARACTERS = 80


def proposal_concern(corrections: Corrections | None) -> Concern:
    """Return the buttons and forms; without `corrections` there is nothing to ask with, and the person hears so."""
    form = FormReader(read=read_correction, error_block=correction_modal.TEXT_BLOCK)
    return Concern(
        buttons={ACCEPT: _read, DECLINE: _read},
        openers={WRONG_TEAM: partial(_ask_where, corrections)},
        forms={correction_modal.CALLBACK_ID: form},
    )


def read_correction(form: Submission) -> Message | None:
    """Return `route.corrected`, None for a form without its ticket or a route."""
    route, ticket_id = form.option(correction_modal.ROUTE_BLOCK), form.fields.get("ticket_id", "")
    if not (ticket_id and route):
        return None
    corrected = RouteCorrected(
        ticket_id=ticket_id,
        route=route[:ROUTE_CHARACTERS],
        text=form.words(correction_modal.TEXT_BLOCK, correction_modal.TEXT_CHARACTERS),
        user=form.user,
        team=form.team,
        channel=identifier(form.fields.get("channel")),
    )
    return message_of(form.as_click(WRONG_TEAM), ROUTE_CORRECTED, corrected)


def _read(click: Click) -> Message | None:
    proposal_id, shown_hash = click.fields.get("proposal_id", ""), click.fields.get("shown_hash", "")
    if not proposal_id:
        return None
    body = ProposalClicked(
        proposal_id=proposal_id,
        decision="accept" if click.action_id == ACCEPT else "decline",
        shown_hash=shown_hash,
        user=click.user,
        team=click.team,
        channel=click.channel,
        message_ts=click.message_ts,
    )
    return message_of(click, PROPOSAL_CLICKED, body)


async def _ask_where(corrections: Corrections | None, click: Click) -> Json | None:
    if corrections is None:
        raise PermanentError("nothing to correct a route with")
    form = await corrections.form(click.fields.get("ticket_id", ""))
    return correction_modal.correction_modal(form, card_fields(click))
