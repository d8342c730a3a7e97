"""Decides what a correction and a click on its card do: who may, once, and who is told.

The bus handlers of agent `triage`. Authorisation happens here, at the time of the click, and is closed on any doubt.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from hermes_bot.bus.port import Delivery
from hermes_bot.errors import PermanentError, SettingsError, TransientError
from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import (
    PROPOSAL_MADE,
    PROPOSAL_SETTLED,
    ProposalClicked,
    ProposalMade,
    RouteCorrected,
    read,
)
from hermes_bot.messages.whisper import whisper
from hermes_bot.people import Roles
from hermes_bot.triage.corrections import Corrections
from hermes_bot.triage.proposal import Proposal, ProposalStatus

AGENT = "triage"
DECISIONS = {"accept": ProposalStatus.ACCEPTED, "decline": ProposalStatus.DECLINED}

log = logging.getLogger(__name__)


class TriageDesk:
    """Handles route.corrected and proposal.clicked."""

    def __init__(self, corrections: Corrections, roles: Roles, *, staff: Sequence[str], admins: Sequence[str]) -> None:
        self._corrections = corrections
        self._roles = roles
        self._staff = tuple(staff)
        self._admins = tuple(admins)

    async def on_corrected(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Propose an utterance, and tell the person alone what becomes of it, or why nothing does."""
        given = read(message, RouteCorrected)
        refusal = await self._refusal(given.team, given.user, self._staff, "the support team can correct a route")
        if refusal:
            return [_private(message, given, refusal)]
        try:
            proposal = await self._corrections.suggest(
                key=message.task, ticket_id=given.ticket_id, route=given.route, by=given.user, text=given.text
            )
        except (PermanentError, SettingsError) as error:
            return [_private(message, given, f"No suggestion was made: {error}")]
        told = f"Thank you. {proposal.id} waits for an admin: {proposal.utterance!r} as an example of {proposal.route}."
        return [_private(message, given, told), _about(message, PROPOSAL_MADE, proposal)]

    async def on_clicked(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Accept or decline for an admin; tell anybody else alone why their click did nothing."""
        click = read(message, ProposalClicked)
        try:
            proposal = await self._corrections.get(click.proposal_id)
        except PermanentError:
            return [_private(message, click, "This suggestion is not known here any more. Nothing was done.")]
        refusal = await self._refusal(click.team, click.user, self._admins, "admins can decide this")
        if not refusal and (click.decision not in DECISIONS or click.shown_hash != proposal.shown_hash):
            refusal = "This card does not show what would be written now. Nothing was done."
        if refusal:
            log.warning("proposal click refused", extra={"proposal": proposal.id, "user": click.user})
            return [_private(message, click, refusal)]
        decide = self._corrections.accept if click.decision == "accept" else self._corrections.decline
        settled = await decide(proposal.id, by=click.user, key=message.task)
        why = [] if settled.won else [_private(message, click, f"Nothing was done: {settled.why}")]
        return [_about(message, PROPOSAL_SETTLED, settled.proposal), *why]

    async def _refusal(self, team: str, user: str, members: Sequence[str], who: str) -> str:
        try:
            allowed = await self._roles.includes(members, team, user)
        except TransientError:
            return "Slack could not confirm just now who you are. Nothing was done; please try again."
        return "" if allowed else f"Nothing was done: only {who}."


def _about(message: Message, type_: str, proposal: Proposal) -> Message:
    return message.child(type_, ProposalMade(proposal_id=proposal.id), priority=PRIORITY_OPERATOR)


def _private(message: Message, given: RouteCorrected | ProposalClicked, text: str) -> Message:
    return whisper(message, text, channel=given.channel, user=given.user)
