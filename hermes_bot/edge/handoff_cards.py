"""Posts handoff cards, redraws them from the ticket, and shows the customer's further words under them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hermes_bot.bus.port import Delivery
from hermes_bot.edge.cards import CardTable, Tickets, may_be_old
from hermes_bot.edge.poster import Draft, Poster
from hermes_bot.edge.posts import Posts
from hermes_bot.edge.text import escape
from hermes_bot.edge.views.handoff import handoff_look, short_handoff_look
from hermes_bot.edge.views.look import Look, section, words
from hermes_bot.edge.views.words import fitted, name_of
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import HandoffChanged, HandoffNoted, HandoffRequested, read
from hermes_bot.tickets.ticket import Ticket

NOTE_CHARACTERS = 2_800


class HandoffCards:
    """The handlers of `handoff.requested`, `handoff.changed` and `handoff.noted`."""

    def __init__(
        self, poster: Poster, table: CardTable, *, posts: Posts, tickets: Tickets, handoff_channel: str
    ) -> None:
        self._poster = poster
        self._table = table
        self._posts = posts
        self._tickets = tickets
        self._channel = handoff_channel

    async def on_requested(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Post the card of this round; what happened to the ticket meanwhile is drawn at once."""
        request = read(message, HandoffRequested)
        ticket = _with_words(await self._tickets.get(request.ticket_id), request)
        draft = self._draft(ticket, (await self._looks(ticket))[0])
        posted = await self._poster.post(draft, message, delivery)
        now = _with_words(await self._tickets.get(ticket.id), request)
        if now.owner == ticket.owner and now.assignee == ticket.assignee and not may_be_old(delivery):
            return posted.outputs
        return [*posted.outputs, *await self._table.redraw(posted.post, await self._looks(now), message, delivery)]

    async def on_changed(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Redraw the card of the ticket's latest round."""
        ticket = await self._tickets.get(read(message, HandoffChanged).ticket_id)
        post = await self._posts.find(_key(ticket))
        # Without a post the card is still to come, and will be drawn as things are then.
        return [] if post is None else await self._table.redraw(post, await self._looks(ticket), message, delivery)

    async def on_noted(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Post what the customer wrote under the card; on its own where there is no card."""
        note = read(message, HandoffNoted)
        ticket = await self._tickets.get(note.ticket_id)
        card = await self._posts.find(_key(ticket))
        names = await self._table.names(ticket.team, [note.user])
        who, said = f"*{name_of(note.user, names)}* ({escape(ticket.id)}):", fitted(note.text, NOTE_CHARACTERS)
        draft = self._draft(ticket, Look(text=f"{who} {said}", blocks=(section(who), words(said))))
        draft = replace(draft, key=f"noted:{message.id}", thread_ts=card.ts if card else "")
        return (await self._poster.post(draft, message, delivery)).outputs

    def _draft(self, ticket: Ticket, look: Look) -> Draft:
        if not self._channel:
            raise PermanentError(f"no channel for the handoff of {ticket.id}: set slack.handoff_channel")
        return Draft(key=_key(ticket), channel=self._channel, look=look, ticket_id=ticket.id)

    async def _looks(self, ticket: Ticket) -> list[Look]:
        names = await self._table.names(ticket.team, [ticket.requester, ticket.assignee])
        url = await self._table.thread_url(ticket)
        return [handoff_look(ticket, names=names, thread_url=url), short_handoff_look(ticket, names=names)]


def _key(ticket: Ticket) -> str:
    return f"handoff:{ticket.id}:{ticket.handoff_round}"


def _with_words(ticket: Ticket, request: HandoffRequested) -> Ticket:
    """Return the ticket, with the request's words where the store has none."""
    return replace(
        ticket,
        handoff_summary=ticket.handoff_summary or request.summary,
        handoff_reason=ticket.handoff_reason or request.reason,
    )
