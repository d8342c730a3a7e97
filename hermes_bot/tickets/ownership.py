"""Who owns a ticket: what staff press on its card, and what nobody could answer.

The bus handlers of agent `tickets`. Customer texts come through `render`, so that languages stay in one place.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from hermes_bot.bus.port import Delivery
from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import (
    HANDOFF_REQUESTED,
    REPLY_READY,
    Failed,
    HandoffClicked,
    HandoffRequested,
    read,
)
from hermes_bot.people import Directory, Roles
from hermes_bot.tickets.changes import changes
from hermes_bot.tickets.held import HeldReplies
from hermes_bot.tickets.journal import TicketJournal
from hermes_bot.tickets.rows import Moved
from hermes_bot.tickets.said import card_changed, noted, to_customer, to_presser
from hermes_bot.tickets.summary import summary_of
from hermes_bot.tickets.ticket import Owner, Priority, Ticket, TicketStatus
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tickets.transitions import refusal
from hermes_bot.tickets.waits import AGENT as AGENT
from hermes_bot.tickets.waits import Render

NOT_KNOWN = "This ticket is not known here any more."
NOT_STAFF = "Only the support team can take or give back a ticket. Nothing was done."
TEXT_CHARACTERS = 3_000

log = logging.getLogger(__name__)

Act = Callable[[Message, HandoffClicked, Tickets], Awaitable[Sequence[Message]]]


class Ownership:
    """Moves a ticket between the bot and people, and says so to both sides."""

    def __init__(
        self, tickets: Tickets, roles: Roles, directory: Directory, *, staff: Sequence[str], render: Render
    ) -> None:
        self._tickets = tickets
        self._roles = roles
        self._directory = directory
        self._staff = tuple(staff)
        self._render = render
        self._acts: Mapping[str, Act] = {
            "claim": self._take,
            "take": self._take,
            "assign": self._assign,
            "return": self._give_back,
            "priority": self._prioritize,
            "solve": self._solve,
            "reopen": self._reopen,
            "reply": self._reply,
            "hold_take": self._hold_take,
            "hold_once": self._hold_once,
        }

    async def on_clicked(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Do what somebody of the staff pressed; anyone else, and whoever comes too late, is told alone why not."""
        click = read(message, HandoffClicked)
        act, tickets = self._acts.get(click.action), self._tickets.on_behalf(message.id, click.user)
        if act is None:
            return [to_presser(message, click, "This button is not known here. Nothing was done.")]
        refused = await self._refusal(click.team, click.user)
        if refused:
            return [to_presser(message, click, refused)]
        try:
            outputs = await act(message, click, tickets)
        except PermanentError:
            log.warning("a click on a ticket that is not there", extra={"ticket_id": click.ticket_id})
            return [to_presser(message, click, NOT_KNOWN)]
        again = delivery.redelivered or delivery.attempt > 1
        return [*outputs, *await changes(tickets, message, redelivered=again)]

    async def on_failed(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Hand a ticket whose handling failed to a person and tell the customer, with a reference."""
        failed = read(message, Failed)
        tickets = self._tickets.on_behalf(message.id, AGENT)
        ticket = await self._of(message, failed, tickets)
        log.error(
            "ticket failed", extra={"ticket_id": ticket.id, "message_id": failed.reference, "error": failed.error}
        )
        summary = f"Handling failed: {failed.error}\nReference {failed.reference}\nThe customer wrote: {ticket.subject}"
        await tickets.hand_to_human(ticket.id, reason="failure", summary=summary)
        text = self._render(ticket.language, "failure.apology", reference=failed.reference)
        request = HandoffRequested(ticket_id=ticket.id, reason="failure", summary=summary)
        return [
            to_customer(message, ticket, text),
            message.child(HANDOFF_REQUESTED, request, context_id=ticket.context_id),
            *await changes(tickets, message, redelivered=delivery.redelivered or delivery.attempt > 1),
        ]

    async def _of(self, message: Message, failed: Failed, tickets: Tickets) -> Ticket:
        if failed.inbound is None:
            return await tickets.get(failed.ticket_id)
        located = await tickets.locate(
            failed.inbound, context_id=message.context_id, message_id=failed.reference, language="en"
        )
        return located.ticket

    async def _refusal(self, team: str, user: str) -> str:
        try:
            allowed = await self._roles.includes(self._staff, team, user)
        except TransientError:
            return "Slack could not confirm just now who you are. Nothing was done; please click again."
        return "" if allowed else NOT_STAFF

    async def _take(self, message: Message, click: HandoffClicked, tickets: Tickets) -> Sequence[Message]:
        owners = (Owner.PENDING_HUMAN,) if click.action == "claim" else (Owner.BOT, Owner.PENDING_HUMAN)
        moved = await tickets.take(click.ticket_id, user=click.user, message_id=message.id, owners=owners)
        if not moved.won:
            return self._too_late(message, click, moved.ticket)
        return await self._now_with(message, moved.ticket, click.user, tickets)

    async def _assign(self, message: Message, click: HandoffClicked, tickets: Tickets) -> Sequence[Message]:
        """Hand the ticket to whoever was chosen, if they work here."""
        if not click.value:
            return [to_presser(message, click, "Nobody was chosen. Nothing was done.")]
        if await self._refusal("", click.value):
            return [
                to_presser(message, click, "Only somebody of the support team can take a ticket. Nothing was done.")
            ]
        values = {
            "owner": Owner.HUMAN.value,
            "status": TicketStatus.WITH_HUMAN.value,
            "assignee": click.value,
            "ownership_message_id": message.id,
            "held_by": "",
        }
        moved = await tickets.change(click.ticket_id, values, only_when=lambda ticket: not refusal("assign", ticket))
        if not moved.won:
            mine = moved.ticket.owner is Owner.HUMAN and moved.ticket.assignee == click.value
            text = "" if not mine else "They have this ticket already. Nothing was done."
            return self._too_late(message, click, moved.ticket, text)
        mentions = () if click.value == click.user else (click.value,)
        return await self._now_with(message, moved.ticket, click.value, tickets, mentions=mentions)

    async def _now_with(
        self, message: Message, ticket: Ticket, user: str, tickets: Tickets, *, mentions: Sequence[str] = ()
    ) -> list[Message]:
        """Return the word to the customer that this person has the ticket, and the summary for the person."""
        held = HeldReplies(tickets.database, clock=tickets.clock)
        await held.drop(ticket.id)
        name = (await self._directory.person(ticket.team, user)).name
        summary = await summary_of(ticket, tickets, await held.latest(ticket.id))
        return [
            to_customer(message, ticket, self._render(ticket.language, "handoff.claimed", name=name)),
            card_changed(message, ticket),
            noted(message, ticket, summary, label=f"For {name}", mentions=mentions),
        ]

    async def _give_back(self, message: Message, click: HandoffClicked, tickets: Tickets) -> Sequence[Message]:
        note = click.text.strip()[:TEXT_CHARACTERS]
        ticket = await tickets.give_back(click.ticket_id, message_id=message.id, note=note, by=click.user)
        if ticket.ownership_message_id != message.id:
            text = "" if ticket.owner is Owner.HUMAN else "This ticket is not with a person. Nothing was done."
            return self._too_late(message, click, ticket, text)
        text = self._render(ticket.language, "handoff.returned")
        return [to_customer(message, ticket, text), card_changed(message, ticket)]

    async def _prioritize(self, message: Message, click: HandoffClicked, tickets: Tickets) -> Sequence[Message]:
        if click.value not in list(Priority):
            return [to_presser(message, click, "This priority is not known here. Nothing was done.")]
        moved = await tickets.change(click.ticket_id, {"priority": click.value})
        return [card_changed(message, moved.ticket)]

    async def _solve(self, message: Message, click: HandoffClicked, tickets: Tickets) -> Sequence[Message]:
        solved: dict[str, Any] = {"status": TicketStatus.SOLVED.value, "held_by": ""}
        if (await tickets.get(click.ticket_id)).owner is Owner.PENDING_HUMAN:  # nobody is wanted any more
            solved |= {"owner": Owner.HUMAN.value, "assignee": click.user}
        moved = await self._moved(click, tickets, solved)
        ticket = moved.ticket
        if not moved.won:
            return self._too_late(message, click, ticket)
        await HeldReplies(tickets.database, clock=tickets.clock).drop(ticket.id)
        text = self._render(ticket.language, "tickets.solved")
        return [to_customer(message, ticket, text, feedback=True), card_changed(message, ticket)]

    async def _reopen(self, message: Message, click: HandoffClicked, tickets: Tickets) -> Sequence[Message]:
        """Open it again, for the one who pressed: somebody has to work on it."""
        owned = {"owner": Owner.HUMAN.value, "assignee": click.user, "held_by": ""}
        values = owned | {"status": TicketStatus.REOPENED.value}
        moved = await self._moved(click, tickets, values | {"ownership_message_id": message.id})
        if not moved.won:
            return self._too_late(message, click, moved.ticket)
        return await self._now_with(message, moved.ticket, click.user, tickets)

    async def _reply(self, message: Message, click: HandoffClicked, tickets: Tickets) -> Sequence[Message]:
        """Bring a person's words to the customer under their name; who answers a ticket that nobody has, has it."""
        text = click.text.strip()[:TEXT_CHARACTERS]
        if not text:
            return [to_presser(message, click, "There was nothing to send. Nothing was done.")]
        ticket = await tickets.get(click.ticket_id)
        outputs: list[Message] = []
        if not ticket.status.ended:
            moved = await tickets.take(ticket.id, user=click.user, message_id=message.id)
            outputs = [card_changed(message, moved.ticket)]
        await tickets.change(ticket.id, first_response(tickets), only_when=not_answered)
        await TicketJournal.of(tickets).note(ticket.id, "reply", text)
        name = (await self._directory.person(click.team, click.user)).name
        return [
            to_customer(message, ticket, f"{name}: {text}"),
            noted(message, ticket, text, label=f"{name} to the customer"),
            *outputs,
        ]

    async def _hold_take(self, message: Message, click: HandoffClicked, tickets: Tickets) -> Sequence[Message]:
        moved = await tickets.take(click.ticket_id, user=click.user, message_id=message.id, owners=(Owner.BOT,))
        if not moved.won:
            return self._too_late(message, click, moved.ticket)
        return await self._now_with(message, moved.ticket, click.user, tickets)

    async def _hold_once(self, message: Message, click: HandoffClicked, tickets: Tickets) -> Sequence[Message]:
        """Let the bot go on: what it had to say meanwhile is said now."""
        moved = await tickets.change(
            click.ticket_id, {"held_by": ""}, only_when=lambda ticket: ticket.held_by == click.user
        )
        if not moved.won:
            text = "The bot is not waiting for you any more. Nothing was done."
            return self._too_late(message, click, moved.ticket, text)
        held = HeldReplies(tickets.database, clock=tickets.clock)
        waiting = await held.release(click.ticket_id, by=message.id)
        return [message.child(REPLY_READY, dict(each.reply), context_id=moved.ticket.context_id) for each in waiting]

    async def _moved(self, click: HandoffClicked, tickets: Tickets, values: Mapping[str, Any]) -> Moved:
        return await tickets.change(click.ticket_id, values, only_when=lambda ticket: not refusal(click.action, ticket))

    def _too_late(self, message: Message, click: HandoffClicked, ticket: Ticket, text: str = "") -> list[Message]:
        """Return the reason for the one who pressed; their card shows an older state, so it is drawn anew."""
        action = "take" if click.action == "hold_take" else click.action
        told = text or refusal(action, ticket) or "The ticket is as you want it already. Nothing was done."
        return [to_presser(message, click, told), card_changed(message, ticket)]


def not_answered(ticket: Ticket) -> bool:
    """Return whether the customer still waits for the first answer."""
    return ticket.first_response_at is None


def first_response(tickets: Tickets) -> dict[str, Any]:
    """Return what is set when the first answer was given."""
    return {"first_response_at": tickets.clock(), "card_due": True}
