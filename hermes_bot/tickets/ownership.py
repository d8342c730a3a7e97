"""Who owns a ticket: claims, give-backs, and what nobody could answer.

The bus handlers of agent `tickets`. Customer texts come through `render`, so that languages stay in one place.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from hermes_bot.bus.port import Delivery
from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import (
    HANDOFF_CHANGED,
    HANDOFF_REQUESTED,
    REPLY_READY,
    Failed,
    HandoffChanged,
    HandoffClicked,
    HandoffRequested,
    Reply,
    read,
)
from hermes_bot.messages.ticket_payloads import Stopped
from hermes_bot.messages.whisper import whisper
from hermes_bot.people import Directory, Roles
from hermes_bot.tickets.ticket import Owner, Ticket
from hermes_bot.tickets.tickets import Tickets

AGENT = "tickets"

log = logging.getLogger(__name__)


class Render(Protocol):
    """Returns the text of a key in a language."""

    def __call__(self, language: str, key: str, **values: object) -> str:
        """Raise PermanentError for an unknown key."""
        ...


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

    async def on_clicked(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Claim for the first who may, or give back to the bot; anyone else is told alone why not."""
        click = read(message, HandoffClicked)
        refusal = await self._refusal(click)
        if refusal:
            return [_private(message, click, refusal)]
        try:
            return await (self._claim if click.action == "claim" else self._give_back)(message, click)
        except PermanentError:
            return [_private(message, click, "This ticket is not known here any more.")]

    async def on_failed(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Hand a ticket whose handling failed to a person and tell the customer, with a reference."""
        failed = read(message, Failed)
        ticket = await self._of(message, failed)
        log.error(
            "ticket failed", extra={"ticket_id": ticket.id, "message_id": failed.reference, "error": failed.error}
        )
        summary = f"Handling failed: {failed.error}\nReference {failed.reference}\nThe customer wrote: {ticket.subject}"
        await self._tickets.hand_to_human(ticket.id, reason="failure", summary=summary)
        text = self._render(ticket.language, "failure.apology", reference=failed.reference)
        request = HandoffRequested(ticket_id=ticket.id, reason="failure", summary=summary)
        return [
            message.child(REPLY_READY, _reply(ticket, text), context_id=ticket.context_id),
            message.child(HANDOFF_REQUESTED, request, context_id=ticket.context_id),
        ]

    async def on_stopped(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Take note that somebody pressed Stop."""
        log.info("stopped", extra={"message_id": message.id, "context_id": read(message, Stopped).conversation})
        return []

    async def _of(self, message: Message, failed: Failed) -> Ticket:
        if failed.inbound is None:
            return await self._tickets.get(failed.ticket_id)
        located = await self._tickets.locate(
            failed.inbound, context_id=message.context_id, message_id=failed.reference, language="en"
        )
        return located.ticket

    async def _refusal(self, click: HandoffClicked) -> str:
        try:
            allowed = await self._roles.includes(self._staff, click.team, click.user)
        except TransientError:
            return "Slack could not confirm just now who you are. Nothing was done; please click again."
        return "" if allowed else "Only the support team can take or give back a ticket. Nothing was done."

    async def _claim(self, message: Message, click: HandoffClicked) -> Sequence[Message]:
        ticket = await self._tickets.claim(click.ticket_id, user=click.user, message_id=message.id)
        if ticket.ownership_message_id != message.id:
            text = "This ticket is already taken." if ticket.owner is Owner.HUMAN else "This ticket is with the bot."
            return [_private(message, click, text), _changed(message, ticket)]
        name = (await self._directory.person(click.team, click.user)).name
        text = self._render(ticket.language, "handoff.claimed", name=name)
        return [_to_customer(message, ticket, text), _changed(message, ticket)]

    async def _give_back(self, message: Message, click: HandoffClicked) -> Sequence[Message]:
        ticket = await self._tickets.give_back(click.ticket_id, message_id=message.id)
        if ticket.ownership_message_id != message.id:
            text = "This ticket is not with a person. Nothing was done."
            return [_private(message, click, text), _changed(message, ticket)]
        text = self._render(ticket.language, "handoff.returned")
        return [_to_customer(message, ticket, text), _changed(message, ticket)]


def _reply(ticket: Ticket, text: str) -> Reply:
    return Reply(ticket_id=ticket.id, channel=ticket.channel, thread_ts=ticket.thread_ts, text=text)


def _to_customer(message: Message, ticket: Ticket, text: str) -> Message:
    return message.child(REPLY_READY, _reply(ticket, text), context_id=ticket.context_id)


def _changed(message: Message, ticket: Ticket) -> Message:
    return message.child(HANDOFF_CHANGED, HandoffChanged(ticket_id=ticket.id), priority=PRIORITY_OPERATOR)


def _private(message: Message, click: HandoffClicked, text: str) -> Message:
    return whisper(message, text, channel=click.channel, user=click.user, ticket_id=click.ticket_id)
