"""Takes facts back whose message the customer deleted, or wrote anew without them.

Looks into the tickets' journal, where edits and deletions stand however they came in. Doing it again changes nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime

from sqlalchemy import Connection, func, or_, select

from hermes_bot.errors import HermesError
from hermes_bot.memory import fact_rows
from hermes_bot.memory.essence import normalised
from hermes_bot.memory.owner import PersonOwner
from hermes_bot.store.database import Database
from hermes_bot.store.memory_tables import facts
from hermes_bot.store.tables import ticket_journal, ticket_messages, tickets

POLL_S = 1.0
CHANGED = ("edited", "deleted")
LOOK_BACK = 50  # entries that may have been numbered before and committed after those that were seen

log = logging.getLogger(__name__)


class Retractions:
    """Follows the journal. `run` until cancelled; `take_back` is one round of it."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], datetime],
        poll_s: float = POLL_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._database = database
        self._clock = clock
        self._poll_s = poll_s
        self._sleep = sleep
        self._seen = 0

    async def run(self) -> None:
        """Take back what was taken back, until cancelled; what fails is logged and tried again."""
        while True:
            try:
                await self.take_back()
            except HermesError as error:
                log.warning("facts are taken back late", extra={"error": str(error)})
            await self._sleep(self._poll_s)

    async def take_back(self) -> int:
        """Return how many facts were deleted since their message is gone or says something else now."""
        newest, count = await self._database.run(self._round)
        self._seen = newest
        return count

    def _round(self, connection: Connection) -> tuple[int, int]:
        newest = connection.execute(select(func.max(ticket_journal.c.number))).scalar() or 0
        if newest == self._seen:
            return newest, 0
        news = ticket_journal.c.number > self._seen - LOOK_BACK, ticket_journal.c.what.in_(CHANGED)
        numbers = set(connection.scalars(select(ticket_journal.c.ticket_number).where(*news)))
        return newest, sum(_check(connection, number, self._clock()) for number in sorted(numbers))


def _check(connection: Connection, number: int, now: datetime) -> int:
    """Compare the facts of a ticket's changed messages with what stands there now; return how many were deleted."""
    changed = select(tickets.c.team, tickets.c.requester, ticket_messages.c.message_id, ticket_messages.c.text).where(
        ticket_messages.c.ticket_number == number,
        ticket_messages.c.state.in_(CHANGED),
        tickets.c.number == ticket_messages.c.ticket_number,
    )
    count = 0
    for team, user, message_id, text in connection.execute(changed).all():
        person = PersonOwner(team, user)
        from_it = or_(
            facts.c.message_id == message_id, facts.c.message_id.startswith(f"{message_id}-", autoescape=True)
        )
        wanted = select(facts.c.message_id, facts.c.text).where(*fact_rows.owned_by(person), from_it)
        now_said = normalised(text)
        gone = {row.message_id for row in connection.execute(wanted) if normalised(row.text) not in now_said}
        count += sum(fact_rows.forget(connection, person, now, message_id=each) for each in gone)
    return count
