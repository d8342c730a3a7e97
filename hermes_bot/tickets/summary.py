"""What a person reads who takes a ticket over: what the customer said, and what the bot knew and would have said."""

from __future__ import annotations

from hermes_bot.tickets.held import Held
from hermes_bot.tickets.sayings import Sayings
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.tickets.tickets import Tickets

SAYINGS = 10
SAYING_CHARACTERS = 200


async def summary_of(ticket: Ticket, tickets: Tickets, held: Held | None = None) -> str:
    """Return it in the staff's language, without what the customer took back."""
    said = (await Sayings.of(tickets).all(ticket.id))[-SAYINGS:]
    lines = [ticket.handoff_summary] if ticket.handoff_summary else []
    lines.append("The customer wrote:" if said else "The customer's words are gone.")
    lines += [f"• {_line(each.text)}" for each in said]
    if ticket.route:
        lines.append(f"Routed to {ticket.route}: {ticket.why}" if ticket.why else f"Routed to {ticket.route}")
    if held is not None and held.reply.get("text"):
        lines.append(f"Hermes would have said: {_line(str(held.reply['text']))}")
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())[:SAYING_CHARACTERS] or "(no text)"
