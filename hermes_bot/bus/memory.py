"""The backend for tests and development: durable as long as the process lives, nothing is serialised."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from hermes_bot.bus.lanes import LaneQueue
from hermes_bot.bus.port import (
    ANY,
    DEAD_LETTERS,
    FINAL_STATES,
    Delivery,
    Obey,
    Orders,
    Settlement,
    State,
    Wanted,
    ignore_orders,
)
from hermes_bot.messages.message import Message, utc_now

KEEP_S = 7 * 24 * 3600.0
KEEP_FINISHED = 50_000


class MemoryBackend:
    """Keeps deliveries in dictionaries. Finished ones are forgotten after `keep_s`, or beyond `keep_finished`.

    Dead letters stay until they are dropped or replayed.
    """

    def __init__(
        self,
        *,
        keep_s: float = KEEP_S,
        keep_finished: int = KEEP_FINISHED,
        clock: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._keep = timedelta(seconds=keep_s)
        self._keep_finished = keep_finished
        self._clock = clock
        self._lanes = LaneQueue(clock=clock, sleep=sleep)
        self._records: dict[tuple[str, str], Delivery] = {}
        self._results: dict[tuple[str, str], Message] = {}
        self._finished: deque[tuple[datetime, tuple[str, str]]] = deque()
        self._paused_since: datetime | None = None
        self._obey: Obey = ignore_orders

    async def open(self, obey: Obey = ignore_orders) -> None:
        """Nothing to take hold of; a pause lasts over it."""
        self._obey = obey
        self._obey(Orders(paused_since=self._paused_since))

    async def close(self) -> None:
        """Nothing to give back; the records stay while this object lives."""

    async def run(self) -> None:
        """Run the timers until cancelled."""
        await self._lanes.run()

    async def publish(self, deliveries: Sequence[Delivery]) -> Sequence[bool]:
        """Add the deliveries that are not known yet; return which were new."""
        return [self._add(delivery) for delivery in deliveries]

    async def lease(self, agent: str) -> Delivery:
        """Wait for and return the next delivery of `agent`, as RUNNING."""
        delivery = replace(await self._lanes.get(agent), state=State.RUNNING)
        self._records[delivery.key] = delivery
        return delivery

    async def settle(self, delivery: Delivery, settlement: Settlement) -> None:
        """Record the settlement, queue its outputs, free the lane."""
        for output in settlement.outputs:
            self._add(output)
        now = self._clock()
        settled = replace(delivery, state=settlement.state, error=settlement.error, updated_at=now)
        key = delivery.key
        self._records[key] = settled
        if settlement.result is not None:
            self._results[key] = settlement.result
        if settlement.retry_at is not None:
            attempt = delivery.attempt + (not settlement.postponed)
            again = replace(settled, attempt=attempt, redelivered=True)
            self._lanes.retry(again, settlement.retry_at)
            return
        self._lanes.done(delivery)
        if settlement.state is State.DONE or settlement.state not in DEAD_LETTERS:  # to hash a state is dear
            self._finish(key, now)

    async def hand_back(self, delivery: Delivery) -> None:
        """Queue the delivery again, first in its lane."""
        again = replace(delivery, state=State.QUEUED, redelivered=True, queued_at=self._clock())
        self._records[delivery.key] = again
        self._lanes.give_back(again)

    def queue_size(self, agent: str) -> int:
        """Return how many deliveries of `agent` are not in a final state."""
        return self._lanes.size(agent)

    def agents(self) -> Collection[str]:
        """Return the agents that have unfinished deliveries."""
        return self._lanes.agents()

    async def idle(self, agents: Collection[str]) -> None:
        """Wait until only delayed deliveries of `agents` are left."""
        await self._lanes.idle(agents)

    async def counts(self) -> Mapping[tuple[str, State], int]:
        """Return how many deliveries there are by (agent, state)."""
        return Counter((record.agent, record.state) for record in self._records.values())

    async def oldest(self) -> Mapping[str, datetime]:
        """Return, by agent, since when the first delivery waits."""
        first: dict[str, datetime] = {}
        for record in self._records.values():
            if record.state not in FINAL_STATES:
                since = record.waits_since
                first[record.agent] = min(since, first.get(record.agent, since))
        return first

    async def find(
        self, *, states: Sequence[State] = (), message_id: str = "", wanted: Wanted = ANY, limit: int = 100
    ) -> Sequence[Delivery]:
        """Return matching deliveries, newest first."""
        found: list[Delivery] = []
        for record in reversed(self._records.values()):
            named = not message_id or record.message.id == message_id
            if named and (not states or record.state in states) and wanted.accepts(record):
                found.append(record)
                if len(found) == limit:
                    break
        return found

    async def requeue(self, message_id: str, subscription: str) -> bool:
        """Put a dead letter back in its queue; return whether there was one."""
        letter = self._dead_letter(message_id, subscription)
        if letter is None:
            return False
        again = replace(
            letter, state=State.QUEUED, attempt=1, redelivered=True, error="", queued_at=self._clock(), updated_at=None
        )
        del self._records[again.key]
        self._add(again)
        return True

    async def drop(self, message_id: str, subscription: str) -> bool:
        """Turn a dead letter into cancelled; return whether there was one."""
        letter = self._dead_letter(message_id, subscription)
        if letter is None:
            return False
        now = self._clock()
        self._records[letter.key] = replace(letter, state=State.CANCELLED, updated_at=now)
        self._finish(letter.key, now)
        return True

    async def result(self, task: str, subscription: str) -> Message | None:
        """Return the result that the delivery was settled with, or None."""
        return self._results.get((task, subscription))

    async def cancel(self, context_id: str) -> int:
        """Turn what waits in the context into cancelled; return how many were."""
        now = self._clock()
        waiting = self._lanes.waiting(context_id)
        self._lanes.discard(waiting)
        for delivery in waiting:
            self._records[delivery.key] = replace(delivery, state=State.CANCELLED, updated_at=now)
            self._finish(delivery.key, now)
        self._obey(Orders(paused_since=self._paused_since, cancelled={context_id: now}))
        return len(waiting)

    async def pause(self, *, paused: bool) -> None:
        """Keep, while this object lives, whether nothing may be handled."""
        if paused != (self._paused_since is not None):
            self._paused_since = self._clock() if paused else None
        self._obey(Orders(paused_since=self._paused_since))

    def _add(self, delivery: Delivery) -> bool:
        key = delivery.key
        if key in self._records:
            return False
        self._records[key] = delivery
        self._lanes.put(delivery)
        return True

    def _dead_letter(self, message_id: str, subscription: str) -> Delivery | None:
        for record in self._records.values():
            if record.message.id == message_id and record.subscription == subscription and record.state in DEAD_LETTERS:
                return record
        return None

    def _finish(self, key: tuple[str, str], now: datetime) -> None:
        self._finished.append((now, key))
        while self._finished and (len(self._finished) > self._keep_finished or self._finished[0][0] < now - self._keep):
            _, old = self._finished.popleft()
            del self._records[old]
            self._results.pop(old, None)
