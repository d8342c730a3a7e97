"""Posts cards of proposed utterances in the handoff channel, and redraws them from the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hermes_bot.bus.port import Delivery
from hermes_bot.edge.cards import CardTable, may_be_old
from hermes_bot.edge.poster import Draft, Poster
from hermes_bot.edge.posts import Posts
from hermes_bot.edge.views.look import Look
from hermes_bot.edge.views.proposal import proposal_look
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import ProposalMade, read
from hermes_bot.triage.corrections import Form
from hermes_bot.triage.proposal import Proposal


class Corrections(Protocol):
    """Reads what there is to correct."""

    async def get(self, proposal_id: str) -> Proposal:
        """Return the proposal; raise PermanentError for an unknown id."""
        ...

    async def form(self, ticket_id: str) -> Form:
        """Return what to ask about a ticket; raise a HermesError where that cannot be."""
        ...


class ProposalCards:
    """The handlers of `proposal.made` and `proposal.settled`."""

    def __init__(
        self, poster: Poster, table: CardTable, *, posts: Posts, corrections: Corrections, team: str, channel: str
    ) -> None:
        self._poster = poster
        self._table = table
        self._posts = posts
        self._corrections = corrections
        self._team = team
        self._channel = channel

    async def on_made(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Post the card."""
        proposal = await self._corrections.get(read(message, ProposalMade).proposal_id)
        if not self._channel:
            raise PermanentError(f"no channel for the suggestion {proposal.id}: set slack.handoff_channel")
        draft = Draft(key=_key(proposal), channel=self._channel, look=await self._look(proposal))
        posted = await self._poster.post(draft, message, delivery)
        now = await self._corrections.get(proposal.id)
        if now.status == proposal.status and not may_be_old(delivery):
            return posted.outputs
        return [*posted.outputs, *await self._table.redraw(posted.post, [await self._look(now)], message, delivery)]

    async def on_settled(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Redraw the card; without one it is still to come, and will be drawn as things are then."""
        proposal = await self._corrections.get(read(message, ProposalMade).proposal_id)
        post = await self._posts.find(_key(proposal))
        if post is None:
            return []
        return await self._table.redraw(post, [await self._look(proposal)], message, delivery)

    async def _look(self, proposal: Proposal) -> Look:
        names = await self._table.names(self._team, [proposal.suggested_by, proposal.settled_by])
        return proposal_look(proposal, names=names)


def _key(proposal: Proposal) -> str:
    return f"proposal:{proposal.id}"
