"""Which customer of the shop stands behind a ticket: by the e-mail of the Slack profile and nothing else."""

from __future__ import annotations

from datetime import datetime

from agents.desk import Desk
from hermes_bot.errors import PermanentError
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.tools.order import Customer
from hermes_bot.tools.outcome import Caller


async def caller_of(ticket: Ticket, desk: Desk, *, agent: str, language: str, asked_at: datetime) -> Caller:
    """Return on whose behalf tools run; raise TransientError when Slack or the order book does not answer."""
    return Caller(
        customer=await _customer(ticket, desk),
        agent=agent,
        ticket_id=ticket.id,
        user=ticket.requester,
        language=language,
        asked_at=asked_at,
    )


async def _customer(ticket: Ticket, desk: Desk) -> Customer | None:
    """Return the customer, or None.

    A member of another organisation counts as nobody: what their profile says is in the hands of that organisation.
    """
    try:
        person = await desk.directory.person(ticket.team, ticket.requester)
    except PermanentError:
        return None
    if person.bot or person.deactivated or person.stranger or person.team != ticket.team:
        return None
    return await desk.book.customer_by_email(person.email)
