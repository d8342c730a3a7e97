"""Posts the staff's one card of each ticket, redraws it from the ticket, and shows under it what belongs there."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from hermes_bot.bus.port import Delivery
from hermes_bot.edge.cards import CardTable, may_be_old
from hermes_bot.edge.painter import Due
from hermes_bot.edge.poster import Draft, Poster
from hermes_bot.edge.posts import Post, Posts
from hermes_bot.edge.staff_channel import READ_OUTSIDE, StaffChannel
from hermes_bot.edge.text import escape
from hermes_bot.edge.views.handoff import handoff_look, short_handoff_look
from hermes_bot.edge.views.look import Look, section, words
from hermes_bot.edge.views.thread import shown_lines, writers
from hermes_bot.edge.views.words import fitted, mention, name_of
from hermes_bot.errors import PermanentError, SlackRefused
from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import (
    EDGE,
    REPLY_READY,
    Audience,
    HandoffChanged,
    HandoffNoted,
    HandoffRequested,
    Reply,
    read,
)
from hermes_bot.messages.ticket_payloads import TicketCard
from hermes_bot.people import Directory
from hermes_bot.tickets.thread_lines import ThreadLines
from hermes_bot.tickets.ticket import Owner, Ticket
from hermes_bot.tickets.tickets import Tickets

NOTE_CHARACTERS = 2_800
CLOSED_DOORS = frozenset(
    {"channel_not_found", "not_in_channel", "is_archived", "restricted_action", "no_permission", READ_OUTSIDE}
)
TRIES, TRY_AGAIN_AFTER = 5, timedelta(minutes=5)
MOST_CALLED = 5

log = logging.getLogger(__name__)


class HandoffCards:
    """The handlers of `handoff.requested`, `handoff.changed`, `handoff.noted` and `ticket.card`.

    `on_call` are told directly when the channel for cards cannot be written to; `due` is told what has been drawn.
    While another company reads the channel (`staff` says so) it is one that cannot: cards come when that is over.
    """

    def __init__(
        self,
        poster: Poster,
        table: CardTable,
        *,
        posts: Posts,
        tickets: Tickets,
        directory: Directory,
        handoff_channel: str,
        on_call: Sequence[str] = (),
        due: Due | None = None,
        staff: StaffChannel | None = None,
    ) -> None:
        self._poster = poster
        self._table = table
        self._posts = posts
        self._tickets = tickets
        self._directory = directory
        self._channel = handoff_channel
        self._on_call = tuple(on_call)
        self._due = due
        self._staff = staff

    async def on_requested(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Post the card, or redraw it and say in the channel that a person is wanted; try again where that fails."""
        request = read(message, HandoffRequested)
        ticket = _with_words(await self._tickets.get(request.ticket_id), request)
        try:
            await self._ours_alone()
            card = await self._posts.find(_key(ticket))
            if card is None:
                return await self._posted(ticket, message, delivery, request)
            drawn = await self._table.redraw(card, await self._looks(ticket), message, delivery)
            if ticket.owner is not Owner.PENDING_HUMAN:
                return drawn
            text = f"A person is wanted for {ticket.id}: {ticket.handoff_reason}"
            draft = replace(
                self._draft(ticket, _plain_look(text)), key=f"wanted:{ticket.id}:{ticket.handoff_round}",
                thread_ts=card.ts, broadcast=True, loose=True,
            )  # fmt: skip
            return [*drawn, *(await self._poster.post(draft, message, delivery)).outputs]
        except SlackRefused as error:
            if error.error not in CLOSED_DOORS:
                raise
            return await self._shut_out(ticket, message, error)

    async def on_changed(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Redraw the ticket's card at once."""
        if await self._read_by_others():
            return []
        ticket = await self._tickets.get(read(message, HandoffChanged).ticket_id)
        card = await self._posts.find(_key(ticket))
        # Without a post the card is still to come, and will be drawn as things are then.
        return [] if card is None else await self._redrawn(card, ticket, message, delivery)

    async def on_card(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Draw the card of a ticket that has changed, the first time as well; it stays due where that cannot be."""
        if await self._read_by_others():
            return []
        ticket = await self._tickets.get(read(message, TicketCard).ticket_id)
        card = await self._posts.find(_key(ticket))
        if card is not None:
            return await self._redrawn(card, ticket, message, delivery)
        draft = self._draft(ticket, (await self._looks(ticket))[0])
        posted = await self._poster.post(draft, message, delivery)
        await self._done(ticket)
        return posted.outputs

    async def on_noted(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Post what the customer wrote, or what else belongs there, under the card, which is posted where it is not."""
        note = read(message, HandoffNoted)
        ticket = await self._tickets.get(note.ticket_id)
        if await self._read_by_others():
            return [self._again(message, ticket)]
        card, outputs = await self._posts.find(_key(ticket)), list[Message]()
        if card is None:
            posted = await self._poster.post(self._draft(ticket, (await self._looks(ticket))[0]), message, delivery)
            card, outputs = posted.post, [*posted.outputs]
        names = await self._table.names(ticket.team, [note.user])
        called = " ".join(mention(each) for each in note.mentions)
        writer = escape(note.label) if note.label else name_of(note.user, names)
        who, said = f"{called} *{writer}* ({escape(ticket.id)}):".strip(), fitted(note.text, NOTE_CHARACTERS)
        look = Look(text=f"{who} {said}", blocks=(section(who), words(said)))
        draft = replace(
            self._draft(ticket, look),
            key=f"noted:{message.id}",
            thread_ts=card.ts,
            broadcast=note.loud,
            loose=True,
        )
        return [*outputs, *(await self._poster.post(draft, message, delivery)).outputs]

    async def _posted(
        self, ticket: Ticket, message: Message, delivery: Delivery, request: HandoffRequested
    ) -> list[Message]:
        """Post the card; what happened to the ticket meanwhile is drawn at once."""
        draft = self._draft(ticket, (await self._looks(ticket))[0])
        posted = await self._poster.post(draft, message, delivery)
        now = _with_words(await self._tickets.get(ticket.id), request)
        if now.version == ticket.version and not may_be_old(delivery):
            await self._done(ticket)
            return [*posted.outputs]
        return [*posted.outputs, *await self._redrawn(posted.post, now, message, delivery)]

    async def _redrawn(self, card: Post, ticket: Ticket, message: Message, delivery: Delivery) -> list[Message]:
        later = await self._table.redraw(card, await self._looks(ticket), message, delivery)
        if not later:
            await self._done(ticket)
        return later

    async def _done(self, ticket: Ticket) -> None:
        if self._due is not None:
            await self._due.drawn(ticket.id, ticket.version)

    async def _shut_out(self, ticket: Ticket, message: Message, error: SlackRefused) -> list[Message]:
        """Return the alarm for those who are on call, and the next try: the customer was promised a person."""
        log.error("the handoff channel cannot be written to", extra={"ticket_id": ticket.id, "error": error.error})
        done = int(message.data.get("tries") or 0)
        if done >= TRIES:
            raise error
        text = (
            f"Hermes cannot write to the handoff channel ({error.error}), so nobody there sees that {ticket.id} "
            f"waits for a person: {ticket.handoff_reason}"
        )
        alarms = [
            message.child(REPLY_READY, _direct(user, text), context_id=f"oncall:{user}", priority=PRIORITY_OPERATOR)
            for user in (await self._called(ticket) if not done else [])
        ]
        return [*alarms, self._again(message, ticket)]

    def _again(self, message: Message, ticket: Ticket) -> Message:
        """Return the same for later, a few times; raise PermanentError after that."""
        done = int(message.data.get("tries") or 0)
        if done >= TRIES:
            raise PermanentError(f"the handoff channel cannot be written to: {ticket.id}")
        return message.child(
            message.type,
            message.data | {"tries": done + 1},
            recipient=EDGE,
            context_id=ticket.context_id,
            not_before=message.created_at + TRY_AGAIN_AFTER * (done + 1),
        )

    async def _ours_alone(self) -> None:
        if self._staff is not None:
            await self._staff.check()

    async def _read_by_others(self) -> bool:
        """Return whether another company reads the channel: nothing of a customer's is shown there then."""
        try:
            await self._ours_alone()
        except SlackRefused as error:
            log.warning("the handoff channel is not ours alone", extra={"error": error.error})
            return error.error == READ_OUTSIDE
        return False

    async def _called(self, ticket: Ticket) -> list[str]:
        """Return the users who are told directly: our own people, whoever else such a group may list."""
        users: dict[str, None] = {}
        for each in self._on_call:
            members = await self._directory.group_members(each) if each.startswith("S") else (each,)
            users |= dict.fromkeys(sorted(members))
        found: list[str] = []
        for user in users:
            if len(found) < MOST_CALLED and await self._works_here(user, ticket.team):
                found.append(user)
        return found

    async def _works_here(self, user: str, team: str) -> bool:
        try:
            return (await self._directory.person(team, user)).works_in(team)
        except PermanentError:
            return False

    def _draft(self, ticket: Ticket, look: Look) -> Draft:
        if not self._channel:
            raise PermanentError(f"no channel for the handoff of {ticket.id}: set slack.handoff_channel")
        return Draft(key=_key(ticket), channel=self._channel, look=look, ticket_id=ticket.id)

    async def _looks(self, ticket: Ticket) -> list[Look]:
        people = [ticket.requester, ticket.assignee, ticket.returned_by, ticket.held_by]
        thread = shown_lines(await ThreadLines.of(self._tickets).all(ticket.id)) if ticket.thread_ts else []
        names = await self._table.names(ticket.team, [*people, *writers(thread)])
        url = await self._table.thread_url(ticket)
        whole = handoff_look(ticket, names=names, thread_url=url, thread=thread)
        return [whole, short_handoff_look(ticket, names=names)]


def _key(ticket: Ticket) -> str:
    return f"ticket:{ticket.id}"


def _plain_look(text: str) -> Look:
    shown = fitted(text, NOTE_CHARACTERS)
    return Look(text=shown, blocks=(section(f"*{shown}*"),))


def _direct(user: str, text: str) -> Reply:
    return Reply(ticket_id="", channel="", thread_ts="", text=text, audience=Audience.OWNER, user=user)


def _with_words(ticket: Ticket, request: HandoffRequested) -> Ticket:
    """Return the ticket, with the request's words where the store has none."""
    return replace(
        ticket,
        handoff_summary=ticket.handoff_summary or request.summary,
        handoff_reason=ticket.handoff_reason or request.reason,
    )
