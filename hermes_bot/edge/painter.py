"""Has the cards of tickets drawn, at a pace that Slack allows and that leaves it time for customers.

What is to be drawn stands in the store, so nothing is lost with this process, and however often a ticket changes in
a while its card is drawn once. The drawing is a message on the bus like any other; the same version of a ticket has
the same task in every process.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from hermes_bot.errors import HermesError
from hermes_bot.messages.message import PRIORITY_NOTICE, Message
from hermes_bot.messages.payloads import EDGE, fields_of
from hermes_bot.messages.ticket_payloads import TICKET_CARD, TicketCard
from hermes_bot.tickets.cards_due import CardDue

PERIOD_S = 1.2  # Slack takes 50 updates a minute
AGAIN_AFTER = timedelta(minutes=15)
MOST_REMEMBERED = 10_000

log = logging.getLogger(__name__)


class Due(Protocol):
    """Tells whose card shows an older state."""

    async def due(self, limit: int) -> Sequence[CardDue]:
        """Return the most urgent first."""
        ...

    async def drawn(self, ticket_id: str, version: int) -> None:
        """Take the ticket off the list, unless it has changed meanwhile."""
        ...


class Painter:
    """Publishes `ticket.card` for one ticket at a time."""

    def __init__(
        self,
        cards: Due,
        publish: Callable[[Message], Awaitable[object]],
        *,
        clock: Callable[[], datetime],
        sleep: Callable[[float], Awaitable[object]],
    ) -> None:
        self._cards = cards
        self._publish = publish
        self._clock = clock
        self._sleep = sleep
        self._asked: dict[CardDue, datetime] = {}

    async def run(self) -> None:
        """Go on until cancelled; a store or a bus that is away is waited for."""
        while True:
            try:
                await self.once()
            except HermesError as error:
                log.warning("no card was drawn", extra={"error": str(error)})
            await self._sleep(PERIOD_S)

    async def once(self) -> None:
        """Have the most urgent card drawn that is not being drawn already."""
        now = self._clock()
        self._asked = {due: at for due, at in self._asked.items() if now - at < AGAIN_AFTER}
        waiting = len(self._asked)
        for due in await self._cards.due(waiting + 1):
            if due not in self._asked and waiting < MOST_REMEMBERED:
                await self._publish(_drawing(due, now))
                self._asked[due] = now
                return


def _drawing(due: CardDue, now: datetime) -> Message:
    hour = now.timestamp() // AGAIN_AFTER.total_seconds()
    return Message(
        type=TICKET_CARD,
        sender=EDGE,
        recipient=EDGE,
        context_id=due.context_id,  # the lane of all that draws this card: two never post it at a time
        task_id=f"card:{due.ticket_id}:{due.version}:{hour:.0f}",
        data=fields_of(TicketCard(ticket_id=due.ticket_id)),
        priority=PRIORITY_NOTICE,
    )
