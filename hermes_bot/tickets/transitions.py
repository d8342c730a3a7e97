"""The state machine of a ticket: which status may follow which, and what people may do to it when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hermes_bot.tickets.ticket import Owner, Ticket, TicketStatus

_OPEN = frozenset(status for status in TicketStatus if not status.ended)
_WORKED_ON = _OPEN - {TicketStatus.NEW, TicketStatus.REOPENED}

AFTER: Mapping[TicketStatus, frozenset[TicketStatus]] = {
    TicketStatus.NEW: _WORKED_ON | {TicketStatus.SOLVED, TicketStatus.CLOSED},
    TicketStatus.WORKING: _WORKED_ON | {TicketStatus.SOLVED, TicketStatus.CLOSED},
    TicketStatus.WAITING_CUSTOMER: _WORKED_ON | {TicketStatus.SOLVED, TicketStatus.CLOSED},
    TicketStatus.WAITING_APPROVAL: _WORKED_ON | {TicketStatus.SOLVED},
    TicketStatus.WITH_HUMAN: frozenset({TicketStatus.WORKING, TicketStatus.SOLVED}),
    TicketStatus.SOLVED: frozenset({TicketStatus.REOPENED, TicketStatus.CLOSED}),
    TicketStatus.CLOSED: frozenset({TicketStatus.REOPENED}),
    TicketStatus.REOPENED: _WORKED_ON | {TicketStatus.SOLVED, TicketStatus.CLOSED},
}
"""What may follow; a status may always stay."""


def may_follow(before: TicketStatus, after: TicketStatus) -> bool:
    """Return whether the status may change so."""
    return before is after or after in AFTER[before]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """When people may do something: who owns the ticket then, and in which statuses."""

    owners: frozenset[Owner]
    statuses: frozenset[TicketStatus]


_ANYBODY = frozenset(Owner)
_EVER = frozenset(TicketStatus)

PEOPLE: Mapping[str, Condition] = {
    "claim": Condition(owners=frozenset({Owner.PENDING_HUMAN}), statuses=_EVER),
    "take": Condition(owners=frozenset({Owner.BOT, Owner.PENDING_HUMAN}), statuses=_EVER),
    "assign": Condition(owners=_ANYBODY, statuses=_OPEN),
    "return": Condition(owners=frozenset({Owner.HUMAN}), statuses=_EVER),
    "priority": Condition(owners=_ANYBODY, statuses=_EVER),
    "solve": Condition(owners=_ANYBODY, statuses=_OPEN - {TicketStatus.WAITING_APPROVAL}),
    "reopen": Condition(owners=_ANYBODY, statuses=_EVER - _OPEN),
    "reply": Condition(owners=_ANYBODY, statuses=_EVER),
}


def refusal(action: str, ticket: Ticket) -> str:
    """Return why people cannot do this to the ticket as it is, in words for them; empty where they can."""
    condition = PEOPLE.get(action)
    if condition is None:
        return "This button is not known here. Nothing was done."
    if ticket.status not in condition.statuses:
        return f"{_STATUS_WORDS.get(ticket.status, 'This ticket is open.')} Nothing was done."
    if ticket.owner not in condition.owners:
        return f"{_OWNER_WORDS[ticket.owner]} Nothing was done."
    return ""


_STATUS_WORDS = {
    TicketStatus.SOLVED: "This ticket is solved: reopen it first.",
    TicketStatus.CLOSED: "This ticket is closed: reopen it first.",
    TicketStatus.WAITING_APPROVAL: "An approval of this ticket is still open: decide that first.",
}
_OWNER_WORDS = {
    Owner.BOT: "This ticket is with the bot.",
    Owner.PENDING_HUMAN: "Nobody has claimed this ticket yet.",
    Owner.HUMAN: "This ticket is already taken.",
}
