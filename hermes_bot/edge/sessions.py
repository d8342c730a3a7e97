"""Shows in Slack's agent view how far the work on a conversation is: `ticket.changed`, and what replies bring about.

Nobody waits for it: a status that Slack does not take is let go, never repeated and never an error. A newer one comes
with the next change. An app that Slack does not know as an agent is not asked again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from hermes_bot.edge.reactions import Reactions
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.tickets.ticket import Owner, Ticket, TicketStatus

PROCESSING, ACTIVE, SUSPENDED, CLOSED = "processing", "active", "suspended", "closed"
STATUSES: Mapping[TicketStatus, str] = {
    TicketStatus.NEW: PROCESSING,
    TicketStatus.WORKING: PROCESSING,
    TicketStatus.REOPENED: PROCESSING,
    TicketStatus.WAITING_CUSTOMER: ACTIVE,
    TicketStatus.WAITING_APPROVAL: SUSPENDED,
    TicketStatus.WITH_HUMAN: SUSPENDED,
    TicketStatus.SOLVED: ACTIVE,
    TicketStatus.CLOSED: CLOSED,
}
NO_AGENT = frozenset({"no_permission", "unknown_method", "missing_scope", "not_allowed_token_type"})
LIMIT_S = 2.0
MOST_REMEMBERED = 10_000

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """What this process last showed of a ticket. Another one may have shown something else since, in a later turn."""

    thread_ts: str
    status: str
    turn: int


class Roots(Protocol):
    """Finds the message that a session in an unthreaded direct message hangs on."""

    async def said_at(self, ticket_id: str) -> str:
        """Return the ts of the customer's newest message of the ticket, empty where none is known."""
        ...


class Sessions:
    """Keeps the status of each conversation as its ticket is."""

    def __init__(self, api: SlackApi, roots: Roots | None, seen: Reactions) -> None:
        self._api = api
        self._seen = seen
        self._roots = roots
        self._shown: dict[str, _Shown] = {}
        self._answered: dict[str, int] = {}
        self._agent = True

    async def follow(self, ticket: Ticket) -> None:
        """Show how far the ticket is now."""
        status = _status(ticket)
        if status == PROCESSING and self._is_answered(ticket):
            status = ACTIVE  # the answer to the newest message stands already
        await self._show(ticket, status)
        if status == PROCESSING:
            said_at = await self._said_at(ticket)
            await self._seen.show(ticket.id, ticket.channel, said_at, still=lambda: not self._is_answered(ticket))
        else:
            await self._seen.clear(ticket.id)

    async def answered(self, ticket: Ticket) -> None:
        """Show that the bot has answered, and what it waits for."""
        self._nothing_in_work(ticket)
        status = _status(ticket)
        await self._show(ticket, ACTIVE if status == PROCESSING else status)
        await self._seen.clear(ticket.id)

    async def stopped(self, channel: str, thread_ts: str, there: Sequence[Ticket]) -> None:
        """Show that nothing is in work where somebody pressed Stop: Slack leaves that to us.

        It is shown whatever was shown before. What waits for a person of ours goes on waiting.
        """
        with_people = False
        for ticket in there:
            self._nothing_in_work(ticket)
            self._shown.pop(ticket.id, None)
            with_people = with_people or (ticket.owner is not Owner.BOT and not ticket.status.ended)
        if thread_ts and self._agent:
            await self._told(channel, thread_ts, SUSPENDED if with_people else ACTIVE)
        for ticket in there:
            await self._seen.clear(ticket.id)

    def _is_answered(self, ticket: Ticket) -> bool:
        return self._answered.get(ticket.id, -1) >= ticket.turn

    def _nothing_in_work(self, ticket: Ticket) -> None:
        if len(self._answered) >= MOST_REMEMBERED:
            self._answered.clear()
        self._answered[ticket.id] = ticket.turn

    async def _show(self, ticket: Ticket, status: str) -> None:
        """Show it at the ticket's session; one that the conversation has moved on from waits for nothing any more."""
        if not self._agent:
            return
        thread_ts, shown = await self._root(ticket), self._shown.get(ticket.id)
        now = _Shown(thread_ts=thread_ts, status=status, turn=ticket.turn)
        if not thread_ts or shown == now:
            return
        if shown is not None and shown.thread_ts != thread_ts and shown.status != ACTIVE:
            await self._told(ticket.channel, shown.thread_ts, ACTIVE)
        if await self._told(ticket.channel, thread_ts, status):
            if len(self._shown) >= MOST_REMEMBERED:
                self._shown.clear()
            self._shown[ticket.id] = now

    async def _told(self, channel: str, thread_ts: str, status: str) -> bool:
        refused = await self._api.attempt(
            "agents.sessions.setStatus", limit_s=LIMIT_S, channel_id=channel, thread_ts=thread_ts, status=status
        )
        if refused in NO_AGENT:
            self._agent = False
            log.warning("Slack shows no status: the app is not declared as an agent", extra={"error": refused})
        return not refused

    async def _root(self, ticket: Ticket) -> str:
        return ticket.thread_ts or await self._said_at(ticket)

    async def _said_at(self, ticket: Ticket) -> str:
        return await self._roots.said_at(ticket.id) if self._roots is not None else ""


def _status(ticket: Ticket) -> str:
    if ticket.owner is not Owner.BOT and not ticket.status.ended:
        return SUSPENDED
    return STATUSES[ticket.status]
