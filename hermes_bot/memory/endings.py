"""Sums up each ticket that ends, for later tickets of the same person.

Looks into the store and not at messages: a ticket ends in many ways (an answer, a button, a person, time), and each of
them shows there. To sum a ticket up again replaces the older summary, so it may be done twice, or by two processes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, String, cast, exists, select

from hermes_bot.errors import HermesError
from hermes_bot.memory.essence import identifiers
from hermes_bot.memory.fact import FactKind
from hermes_bot.memory.memory import Memory
from hermes_bot.memory.owner import PersonOwner
from hermes_bot.memory.summary import TicketSummary
from hermes_bot.store.database import Database
from hermes_bot.store.memory_tables import boards, facts
from hermes_bot.store.tables import approvals, tickets

POLL_S = 1.0
AT_ONCE = 20
LOOK_BACK = timedelta(minutes=1)  # a transaction may commit later than the time that it wrote
ENDED = ("solved", "closed")

log = logging.getLogger(__name__)


class Endings:
    """Writes the summaries. `run` until cancelled; `finish` does one ticket at once."""

    def __init__(
        self,
        database: Database,
        memory: Memory,
        *,
        poll_s: float = POLL_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._database = database
        self._memory = memory
        self._poll_s = poll_s
        self._sleep = sleep
        self._since = datetime.min.replace(tzinfo=UTC)

    async def run(self) -> None:
        """Sum up what ended, until cancelled; what fails is logged and tried again."""
        while True:
            try:
                await self.sum_up()
            except HermesError as error:
                log.warning("tickets that ended are summed up late", extra={"error": str(error)})
            await self._sleep(self._poll_s)

    async def sum_up(self) -> int:
        """Sum up the tickets that ended since the last time; return how many."""
        waiting, newest = await self._database.run(lambda connection: _ended(connection, self._since))
        for row in waiting:
            await self._finish(row)
            self._since = max(self._since, row.updated_at - LOOK_BACK)
        if newest is not None and len(waiting) < AT_ONCE:  # nothing older is left: a quiet shop is not read again
            self._since = max(self._since, newest - LOOK_BACK)
        return len(waiting)

    async def finish(self, ticket_id: str) -> None:
        """Sum up this ticket now, whatever its state; an unknown one is nothing."""
        wanted = select(tickets).where(_id_of_ticket() == ticket_id)
        row = await self._database.run(lambda connection: connection.execute(wanted).first())
        if row is not None:
            await self._finish(row)

    async def _finish(self, row: Row[Any]) -> None:
        summary = await self._database.run(lambda connection: summary_of(connection, row))
        await self._memory.add_summary(PersonOwner(row.team, row.requester), summary)


def _ended(connection: Connection, since: datetime) -> tuple[Sequence[Row[Any]], datetime | None]:
    """Return tickets that ended and have no summary that is as new as they are, those that changed first first.

    And when a ticket changed last, None where there is none. Blanked ones have nothing to say.
    """
    summed_up = exists().where(
        facts.c.owner_kind == "person",
        facts.c.owner_team == tickets.c.team,
        facts.c.owner_id == tickets.c.requester,
        facts.c.kind == FactKind.SUMMARY.value,
        facts.c.subject == "ticket:" + _id_of_ticket(),
        facts.c.confirmed_at >= tickets.c.updated_at,
    )
    ended = tickets.c.updated_at >= since, tickets.c.status.in_(ENDED), tickets.c.subject != ""
    wanted = select(tickets).where(*ended, ~summed_up).order_by(tickets.c.updated_at, tickets.c.number)
    newest = connection.execute(select(tickets.c.updated_at).order_by(tickets.c.updated_at.desc()).limit(1)).scalar()
    return connection.execute(wanted.limit(AT_ONCE)).all(), newest


def _id_of_ticket() -> Any:
    return "T-" + cast(tickets.c.number, String)


def summary_of(connection: Connection, row: Row[Any]) -> TicketSummary:
    """Return what the store tells of the ticket: what was asked, what was done and decided, what is left."""
    ticket_id = f"T-{row.number}"
    asked = select(approvals.c.tool, approvals.c.status, approvals.c.arguments).where(
        approvals.c.ticket_id == ticket_id
    )
    steps, orders = [], set(identifiers(row.subject))
    for tool, status, arguments in connection.execute(asked.order_by(approvals.c.created_at)):
        steps.append(f"{tool} {status}")
        orders |= identifiers(str(arguments.get("order_id", "")))
    written = select(boards.c.key, boards.c.value).where(boards.c.ticket_id == ticket_id).order_by(boards.c.version)
    board = {key: value for key, value in connection.execute(written) if value is not None}
    decisions = [f"{key.partition('.')[2]}: {value}" for key, value in board.items() if key.startswith("decision.")]
    orders |= identifiers(str(board.get("order", "")))
    return TicketSummary(
        ticket_id=ticket_id,
        opened_at=row.opened_at,
        status=row.status,
        request=row.subject,
        agent=row.agent,
        steps=tuple(dict.fromkeys(steps)),
        decisions=tuple(decisions),
        orders=tuple(sorted(orders)),
        left_open=row.handoff_reason if row.status != "closed" and row.owner != "bot" else "",
    )
