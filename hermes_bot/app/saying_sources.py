"""Finds the customer's message that an approval rests on, as it stands in the ticket by now."""

from __future__ import annotations

from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.approvals.withdrawals import Source
from hermes_bot.messages.payloads import Inbound
from hermes_bot.tickets.sayings import Sayings, SayingState
from hermes_bot.tickets.tickets import Tickets


class SayingSources:
    """The approvals' `Sources`, read from the tickets."""

    def __init__(self, tickets: Tickets) -> None:
        self._tickets = tickets

    async def conversation(self, team: str, channel: str, ts: str) -> str:
        """Return the context of the ticket that the message belongs to; empty where it belongs to none."""
        found = await Sayings.of(self._tickets).find(team, channel, ts)
        return found.ticket.context_id if found is not None else ""

    async def of(self, request: ApprovalRequest) -> Source | None:
        """Return the message; None where the request belongs to no ticket, or the message to nobody's."""
        if not request.ticket_id:
            return None
        ticket = await self._tickets.get(request.ticket_id)
        sayings = Sayings.of(self._tickets)
        found = await sayings.find(ticket.team, ticket.channel, request.source_ts, user=request.requested_by)
        if found is None:
            return None
        return Source(
            inbound=Inbound(
                team=ticket.team,
                channel=ticket.channel,
                channel_type=ticket.channel_type,
                ts=found.saying.ts,
                user=ticket.requester,
                text=found.saying.text,
                thread_ts="" if found.saying.ts == ticket.thread_ts else ticket.thread_ts,
            ),
            changed=found.saying.state is SayingState.EDITED,
            gone=found.saying.state is SayingState.DELETED,
        )
