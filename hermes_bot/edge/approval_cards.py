"""Draws approval cards from the store, and says beside them what people must not miss."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.bus.port import Delivery
from hermes_bot.edge.card_place import CardPlace, Place
from hermes_bot.edge.cards import Approvals, CardTable, Tickets
from hermes_bot.edge.poster import Draft, Poster, ThreadGone
from hermes_bot.edge.posts import Post, Posts
from hermes_bot.edge.text import escape
from hermes_bot.edge.views.approval import TITLE_CHARACTERS, approval_look, deciders, moved_look, short_approval_look
from hermes_bot.edge.views.look import Look, context, section, words
from hermes_bot.edge.views.words import fitted, heading, moment, name_of
from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.messages.approval_payloads import ApprovalAnswered
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import ApprovalRequested, ApprovalSettled, read
from hermes_bot.tickets.ticket import Ticket

MOST_REDRAWS = 5
ANSWER_CHARACTERS = 2_500


class Render(Protocol):
    """Returns the text of a key in a language."""

    def __call__(self, language: str, key: str, **values: str) -> str:
        """Raise PermanentError for an unknown key."""
        ...


class ApprovalCards:
    """The edge's handlers of everything about approvals. A card is drawn until it shows what the store says."""

    def __init__(
        self,
        poster: Poster,
        table: CardTable,
        place: CardPlace,
        *,
        posts: Posts,
        approvals: Approvals,
        tickets: Tickets,
        render: Render,
        team: str,
    ) -> None:
        self._poster = poster
        self._table = table
        self._place = place
        self._posts = posts
        self._approvals = approvals
        self._tickets = tickets
        self._render = render
        self._team = team

    async def on_requested(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Post the card, and a note in the ticket's thread where it stands elsewhere."""
        request = await self._approvals.get(read(message, ApprovalRequested).approval_id)
        outputs = await self._posted(request, message, delivery)
        return [*outputs, *await self._drawn(request.id, message, delivery, shown=request)]

    async def on_settled(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Show the record in place of the buttons, as the store has it; without a card it is still to come."""
        return await self._drawn(read(message, ApprovalSettled).approval_id, message, delivery)

    async def on_changed(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Show what changed; where others decide by now, the card goes to where they see it."""
        request = await self._approvals.get(read(message, ApprovalRequested).approval_id)
        outputs: list[Message] = []
        cards = await self._cards(request)
        if request.pending and request.version > 1 and cards:
            place = await self._place.of(await self._ticket(request), request)
            if place.channel != cards[-1].channel:
                outputs += await self._posted(request, message, delivery)
        return [*outputs, *await self._drawn(request.id, message, delivery)]

    async def on_reminded(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Tell those who decide, under the card, that it waits still and until when."""
        request = await self._approvals.get(read(message, ApprovalRequested).approval_id)
        cards = await self._cards(request)
        if not request.pending or not cards:
            return []
        voted = {vote.user for vote in request.votes}
        who = [each for each in self._place.authority(request).approvers if each not in voted]
        title, until = heading(request.title, TITLE_CHARACTERS), moment(request.expires_at)
        text = f"{' '.join(_mention(each) for each in who)} {title} still waits for a decision. It expires {until}."
        draft = await self._under(
            cards[-1], request, f"reminder:{request.id}", Look(text=text, blocks=(section(text),))
        )
        return await self._beside(draft, message, delivery)

    async def on_answered(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Show the customer's answer on the card, and under it where the card is not in the conversation itself."""
        told = read(message, ApprovalAnswered)
        request = await self._approvals.get(told.approval_id)
        ticket, cards = await self._ticket(request), await self._cards(request)
        answer = next((each for each in request.questions if each.id == told.question_id), None)
        outputs: list[Message] = []
        if answer is not None and cards and (ticket is None or cards[-1].channel != ticket.channel):
            names = await self._table.names(self._team, [request.requested_by])
            said = f"<@{answer.asked_by}> {name_of(request.requested_by, names)} answered:"
            text = fitted(answer.answer, ANSWER_CHARACTERS)
            look = Look(text=f"{said} {text}", blocks=(section(said), words(text)))
            draft = await self._under(cards[-1], request, f"answered:{told.question_id}", look)
            outputs += await self._beside(draft, message, delivery)
        return [*outputs, *await self._drawn(request.id, message, delivery)]

    async def _posted(self, request: ApprovalRequest, message: Message, delivery: Delivery) -> list[Message]:
        """Post the card where it belongs; where staff are, if the customer has deleted the thread meanwhile."""
        ticket = await self._ticket(request)
        place = await self._place.of(ticket, request)
        try:
            return await self._posted_at(place, request, ticket, message, delivery)
        except ThreadGone:
            apart = await self._place.apart(request)
            return await self._posted_at(apart, request, ticket, message, delivery)

    async def _posted_at(
        self, place: Place, request: ApprovalRequest, ticket: Ticket | None, message: Message, delivery: Delivery
    ) -> list[Message]:
        look, *spare = await self._looks(request, ticket, place.channel)
        cards = await self._cards(request)
        draft = Draft(
            key=_key(request, request.version if cards else 1),
            channel=place.channel,
            thread_ts=place.thread_ts,
            look=look,
            spare=tuple(spare),
            ticket_id=request.ticket_id,
        )
        posted = await self._poster.post(draft, message, delivery)
        return [*posted.outputs, *await self._noted(request, ticket, place, message, delivery)]

    async def _noted(
        self, request: ApprovalRequest, ticket: Ticket | None, place: Place, message: Message, delivery: Delivery
    ) -> list[Message]:
        """Say in the ticket's thread that something waits, where the rules send the card elsewhere."""
        if ticket is None or ticket.direct or not ticket.thread_ts or not place.by_rule:
            return []
        draft = Draft(
            key=_note_key(request),
            channel=ticket.channel,
            thread_ts=ticket.thread_ts,
            look=self._note(request, ticket),
            ticket_id=ticket.id,
        )
        return await self._beside(draft, message, delivery)

    async def _beside(self, draft: Draft, message: Message, delivery: Delivery) -> list[Message]:
        """Post what belongs to a card; nothing where the thread for it is gone."""
        try:
            return list((await self._poster.post(draft, message, delivery)).outputs)
        except ThreadGone:
            return []

    async def _drawn(
        self, approval_id: str, message: Message, delivery: Delivery, *, shown: ApprovalRequest | None = None
    ) -> list[Message]:
        """Draw until what stands there is what the store says: it may change while it is drawn, by whomever."""
        for _ in range(MOST_REDRAWS):
            request = await self._approvals.get(approval_id)
            if request == shown and delivery.attempt == 1 and not delivery.redelivered:
                return []
            outputs = await self._redrawn(request, message, delivery)
            if outputs:
                return outputs
            shown = request
            if await self._approvals.get(approval_id) == request:
                return []
        raise TransientError(f"the card of {approval_id} changes faster than it can be drawn")

    async def _redrawn(self, request: ApprovalRequest, message: Message, delivery: Delivery) -> list[Message]:
        """Draw the card, what is left of it where it stood before, and the note; return what has to be done later."""
        cards, ticket = await self._cards(request), await self._ticket(request)
        if not cards:
            return []
        names = await self._table.names(self._team, deciders(request))
        looks = await self._looks(request, ticket, cards[-1].channel)
        record = None if request.pending else partial(self._recorded, cards[-1], request, looks, message, delivery)
        outputs = await self._table.redraw(cards[-1], looks, message, delivery, instead=record)
        drawings = [(post, [moved_look(request, names=names)]) for post in cards[:-1]]
        note = await self._posts.find(_note_key(request))
        if note is not None and ticket is not None:
            drawings.append((note, [self._note(request, ticket)]))
        for post, shown in drawings:
            outputs = outputs or await self._table.redraw(post, shown, message, delivery)
        return outputs

    async def _recorded(
        self, card: Post, request: ApprovalRequest, looks: Sequence[Look], message: Message, delivery: Delivery
    ) -> list[Message]:
        """Say under a card that nobody may change any more what became of it; its buttons do nothing by now."""
        draft = await self._under(card, request, f"approval-record:{request.id}", looks[-1])
        return await self._beside(draft, message, delivery)

    async def _cards(self, request: ApprovalRequest) -> list[Post]:
        """Return where the card stands, last of all where it stands now."""
        found = [await self._posts.find(_key(request, version)) for version in range(1, request.version + 1)]
        return [post for post in found if post is not None]

    async def _looks(self, request: ApprovalRequest, ticket: Ticket | None, channel: str) -> list[Look]:
        names = await self._table.names(self._team, deciders(request))
        elsewhere = ticket is not None and channel != ticket.channel
        url = await self._table.thread_url(ticket) if ticket is not None and elsewhere else ""
        internal = ticket is None or elsewhere
        full = approval_look(request, names=names, context_id=request.context_id, thread_url=url, internal=internal)
        return [full, short_approval_look(request, names=names, context_id=request.context_id)]

    def _note(self, request: ApprovalRequest, ticket: Ticket) -> Look:
        text = escape(self._render(ticket.language, f"approval.note.{request.status.value}"))
        return Look(text=text, blocks=(context(text),))

    async def _under(self, card: Post, request: ApprovalRequest, key: str, look: Look) -> Draft:
        """Return a post under the card: in its thread, which is the ticket's where the card stands in that."""
        ticket = await self._ticket(request)
        inside = ticket is not None and card.channel == ticket.channel
        thread_ts = ticket.thread_ts if ticket is not None and inside else card.ts
        return Draft(
            key=key,
            channel=card.channel,
            thread_ts=thread_ts,
            look=look,
            ticket_id=request.ticket_id,
            loose=not inside,
        )

    async def _ticket(self, request: ApprovalRequest) -> Ticket | None:
        """Return the ticket; None for a request of a task that belongs to none."""
        if not request.ticket_id:
            return None
        try:
            return await self._tickets.get(request.ticket_id)
        except PermanentError:
            return None


def _key(request: ApprovalRequest, version: int) -> str:
    return f"approval:{request.id}" if version == 1 else f"approval:{request.id}:{version}"


def _note_key(request: ApprovalRequest) -> str:
    return f"approval-note:{request.id}"


def _mention(member: str) -> str:
    return f"<!subteam^{member}>" if member.startswith("S") else f"<@{member}>"
