"""Tells everybody who wants to know what the handling of a message changed in its tickets: `ticket.changed`."""

from __future__ import annotations

from hermes_bot.messages.message import PRIORITY_NOTICE, Message
from hermes_bot.messages.ticket_payloads import TICKET_CHANGED, Change, TicketChanged
from hermes_bot.tickets.journal import Doing, TicketJournal
from hermes_bot.tickets.tickets import Tickets

PRIVATE = frozenset({"note", "remark", "reply"})
"""What people wrote; it stays in the journal and travels no further."""


async def changes(tickets: Tickets, message: Message, *, redelivered: bool) -> list[Message]:
    """Return one message for each ticket that the handling of this one changed, now or in an earlier attempt.

    Each has the ticket's own context, so that nobody in the conversation waits for those who listen.
    """
    if not tickets.touched and not redelivered:
        return []
    doings = await TicketJournal.of(tickets).doings()
    return [_told(message, doing) for doing in doings]


def _told(message: Message, doing: Doing) -> Message:
    ticket = doing.ticket
    body = TicketChanged(
        ticket_id=ticket.id,
        status=ticket.status.value,
        owner=ticket.owner.value,
        turn=ticket.turn,
        by=doing.entries[-1].by,
        opened=any(entry.what == "opened" for entry in doing.entries),
        changes=tuple(
            Change(what=entry.what, was=entry.was, now="" if entry.what in PRIVATE else entry.now)
            for entry in doing.entries
        ),
    )
    return message.child(TICKET_CHANGED, body, context_id=f"ticket:{ticket.id}", priority=PRIORITY_NOTICE)
