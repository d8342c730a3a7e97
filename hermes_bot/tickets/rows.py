"""Tickets in SQL: reading one, changing one, and writing down what changed, in a transaction of the caller's."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from hermes_bot.errors import PermanentError
from hermes_bot.store.numbers import number_in
from hermes_bot.store.tables import ticket_journal, tickets
from hermes_bot.tickets.ticket import Owner, Priority, Ticket, TicketStatus
from hermes_bot.tickets.transitions import may_follow

TEXT_CHARACTERS = 2_000
JOURNALED = (
    "status", "owner", "assignee", "route", "priority", "rating", "source_deleted", "response_late", "held_by",
)  # fmt: skip
TURNS = frozenset({"status", "owner"})
"""A change of these ends what a timer waits for."""

log = logging.getLogger(__name__)

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Which message is being handled, and who is behind it: a user, or an agent by its name."""

    message_id: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The ticket by now, and whether it was this message that changed it, now or in an earlier attempt."""

    ticket: Ticket
    won: bool


def number_of(ticket_id: str) -> int:
    """Return the number in `T-123`; raise PermanentError where there is none."""
    number = number_in(ticket_id, "T")
    if number is None:
        raise PermanentError(f"{ticket_id!r} is not a ticket id")
    return number


def ticket_of(row: Row[Any]) -> Ticket:
    """Return the row as a value."""
    columns = dict(row._mapping)
    number, _ = columns.pop("number"), columns.pop("opened_by")
    kinds = {
        "status": TicketStatus(row.status),
        "owner": Owner(row.owner),
        "priority": Priority(row.priority),
    }
    return Ticket(**columns | {"id": f"T-{number}"} | kinds)


def by_number(connection: Connection, number: int) -> Ticket:
    """Return the ticket; raise PermanentError for an unknown number."""
    row = connection.execute(select(tickets).where(tickets.c.number == number)).first()
    if row is None:
        raise PermanentError(f"there is no ticket T-{number}")
    return ticket_of(row)


def change(
    connection: Connection,
    number: int,
    values: Values,
    cause: Cause,
    now: datetime,
    *,
    only_when: Callable[[Ticket], bool] | None = None,
    lenient: bool = False,
) -> Moved:
    """Set the values and write the changes down, all in the caller's transaction.

    Nothing is set where `only_when` says no to the ticket as it is, or where its status may not change so. With
    `lenient` only the status stays then, as also while people own the ticket: agents report what they are at, and
    have no say in where the ticket is.
    """
    row = _locked(connection, number)
    before = ticket_of(row)
    kept = [name for name in JOURNALED if name in values]
    if only_when is not None and not only_when(before):
        return Moved(ticket=before, won=done_by(connection, number, cause, *kept))
    status = values.get("status", before.status.value)
    legal = may_follow(before.status, TicketStatus(status))
    if not legal or (lenient and before.owner is not Owner.BOT):
        if status != before.status.value:
            log.info("a status that may not follow is left out", extra={"ticket_id": before.id, "status": status})
        if not lenient:
            return Moved(ticket=before, won=done_by(connection, number, cause, *kept))
        values = {name: value for name, value in values.items() if name != "status"}
    changed = {name: value for name, value in values.items() if getattr(row, name) != value}
    entries = [(name, str(getattr(row, name)), str(changed[name])) for name in JOURNALED if name in changed]
    written = dict(changed) | {"updated_at": now}
    if entries or values.get("card_due"):
        written |= {"version": row.version + 1, "card_due": True}
    if changed.keys() & TURNS:
        written["turn"] = row.turn + 1
    connection.execute(update(tickets).where(tickets.c.number == number).values(**written))
    write_down(connection, number, entries, cause, now)
    won = bool(entries) or done_by(connection, number, cause, *kept)
    return Moved(ticket=by_number(connection, number), won=won)


def _locked(connection: Connection, number: int) -> Row[Any]:
    row = connection.execute(select(tickets).where(tickets.c.number == number).with_for_update()).first()
    if row is None:
        raise PermanentError(f"there is no ticket T-{number}")
    return row


def write_down(
    connection: Connection, number: int, entries: Iterable[tuple[str, str, str]], cause: Cause, now: datetime
) -> None:
    """Add (what, was, now) to the ticket's journal."""
    rows = [
        {
            "ticket_number": number,
            "at": now,
            "message_id": cause.message_id,
            "by": cause.by[:80],
            "what": what,
            "was": was[:TEXT_CHARACTERS],
            "now": value[:TEXT_CHARACTERS],
        }
        for what, was, value in entries
    ]
    if rows:
        connection.execute(insert(ticket_journal), rows)


def done_by(connection: Connection, number: int, cause: Cause, *whats: str) -> bool:
    """Return whether this message has changed one of these in the ticket already."""
    if not cause.message_id:
        return False
    mine = select(ticket_journal.c.number).where(
        ticket_journal.c.message_id == cause.message_id,
        ticket_journal.c.ticket_number == number,
        ticket_journal.c.what.in_(whats),
    )
    return connection.execute(mine.limit(1)).first() is not None
