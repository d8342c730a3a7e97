"""The card of a proposed utterance: what would be written, what it would change, with Accept and Decline."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.edge.text import UPDATE_CHARACTERS, clipped, escape
from hermes_bot.edge.views.look import Look, actions, button, context, section, words
from hermes_bot.edge.views.values import packed
from hermes_bot.edge.views.words import fitted, name_of
from hermes_bot.triage.proposal import Proposal, ProposalStatus

ACCEPT, DECLINE = "proposal:accept", "proposal:decline"
LINES_CHARACTERS, EFFECT_CHARACTERS = 1_500, 1_200


def proposal_look(proposal: Proposal, *, names: Mapping[str, str]) -> Look:
    """Return the card as the proposal in the store says it is now."""
    title = f"Suggestion {proposal.id}: an example for {escape(proposal.route)}"
    was = escape(proposal.route_was or "nobody")
    origin = f"{name_of(proposal.suggested_by, names)} says of {escape(proposal.ticket_id)}: not {was}"
    state = _state(proposal, names)
    blocks = [
        section(f"*{title}*"),
        words(proposal.utterance),
        section(f"```{fitted(proposal.lines, LINES_CHARACTERS)}```"),
        section(fitted(proposal.effect or "Nothing was measured.", EFFECT_CHARACTERS)),
        context(origin),
        context(state),
    ]
    if proposal.status is ProposalStatus.PENDING:
        value = packed(proposal_id=proposal.id, shown_hash=proposal.shown_hash)
        accept = button("Accept", action_id=ACCEPT, value=value, style="primary")
        decline = button("Decline", action_id=DECLINE, value=value)
        blocks.append(actions(f"proposal:{proposal.id}", accept, decline))
    return Look(
        text=clipped(f"{title}\n{escape(proposal.utterance)}\n{state}", UPDATE_CHARACTERS), blocks=tuple(blocks)
    )


def _state(proposal: Proposal, names: Mapping[str, str]) -> str:
    who = name_of(proposal.settled_by, names)
    if proposal.status is ProposalStatus.ACCEPTED:
        return f":white_check_mark: Accepted by {who}; it is in the routes file"
    if proposal.status is ProposalStatus.DECLINED:
        return f":no_entry_sign: Declined by {who}"
    return ":hourglass_flowing_sand: Waiting for an admin"
