"""Copies what is known of one message's tickets into a database of its own, so that a replay cannot change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Table, insert, or_, select

from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.store.database import Database
from hermes_bot.store.tables import agent_runs, approvals, runs, ticket_messages, tickets, vouched_people
from hermes_bot.tickets.rows import number_of
from hermes_bot.tickets.ticket import Owner, Priority, TicketStatus

Row = dict[str, Any]

AS_NEW: Row = {
    "status": TicketStatus.NEW.value,
    "owner": Owner.BOT.value,
    "route": "",
    "agent": "",
    "why": "",
    "assignee": "",
    "handoff_round": 0,
    "handoff_reason": "",
    "handoff_summary": "",
    "ownership_message_id": "",
    "priority": Priority.NORMAL.value,
    "source_deleted": False,
    "first_response_at": None,
    "rating": "",
    "handoff_note": "",
    "returned_by": "",
    "held_by": "",
}


@dataclass(slots=True)
class _Rows:
    """What is copied, by table, in an order that keeps references whole."""

    of: list[tuple[Table, list[Row]]] = field(default_factory=list)

    def add(self, connection: Connection, table: Table, *where: Any, values: Row | None = None) -> list[Row]:
        found = [dict(row._mapping) | (values or {}) for row in connection.execute(select(table).where(*where))]
        self.of.append((table, found))
        return found


async def copy_tickets(source: Database, target: Database, message: Message) -> None:
    """Copy the tickets of the message's conversation with their runs and approvals, and who was vouched for.

    A ticket that this very message opened is copied as it was then: new, with no runs and no approvals.
    """

    def read(connection: Connection) -> _Rows:
        rows, mine = _Rows(), _ticket_of(message)
        opened = _opened_by(connection, message.id)
        wanted = or_(tickets.c.context_id == message.context_id, tickets.c.number.in_([*mine, *opened]))
        numbers = [row["number"] for row in rows.add(connection, tickets, wanted)]
        for row in rows.of[0][1]:
            row |= AS_NEW if row["number"] in opened else {}
        rows.add(connection, ticket_messages, ticket_messages.c.ticket_number.in_(numbers))
        ids = [f"T-{number}" for number in numbers if number not in opened]
        for table in (runs, approvals, agent_runs):
            rows.add(connection, table, table.c.ticket_id.in_(ids))
        rows.add(connection, vouched_people)
        return rows

    copied = await source.run(read)

    def write(connection: Connection) -> None:
        for table, rows in copied.of:
            if rows:
                connection.execute(insert(table), rows)

    await target.run(write)


async def team_of(source: Database, message: Message) -> str:
    """Return the team that the message's customer belongs to, empty where nobody knows."""
    wanted = or_(tickets.c.context_id == message.context_id, tickets.c.number.in_(_ticket_of(message)))
    team = await source.run(lambda connection: connection.scalar(select(tickets.c.team).where(wanted).limit(1)))
    return team or str(message.data.get("team", ""))


def _opened_by(connection: Connection, message_id: str) -> Sequence[int]:
    ours = (ticket_messages.c.message_id == message_id, ticket_messages.c.opened)
    return list(connection.scalars(select(ticket_messages.c.ticket_number).where(*ours)))


def _ticket_of(message: Message) -> list[int]:
    """Return the number of the ticket that the message names, if it does."""
    try:
        return [number_of(str(message.data.get("ticket_id", "")))]
    except PermanentError:
        return []
