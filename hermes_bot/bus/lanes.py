"""The queue inside one process, shared by the memory and sqlite backends: lanes, priority, ageing, timers.

A lane is (context, agent). Its first delivery is offered to the workers, the others stand behind it until the first
is done, so one lane is handled in order and one at a time. Among lanes the smallest `queued_at - priority x step`
goes first: that key never changes, so ageing costs nothing, and a message of priority 0 is overtaken by one of
priority 9 only when that came less than 9 steps later.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from itertools import count

import msgspec

from hermes_bot.bus.port import Delivery, State

AGEING_STEP_S = 5.0
LONGEST_SLEEP_S = 3600.0
CLOCK_CHECK_S = 1.0  # a timer follows a jump of the wall clock within this time


class LaneQueue:
    """Deliveries that are not in a final state, handed out in lane order. Nothing in here is durable."""

    def __init__(self, *, clock: Callable[[], datetime], sleep: Callable[[float], Awaitable[None]]) -> None:
        self._clock = clock
        self._sleep = sleep
        self._numbers = count()
        self._ready: defaultdict[str, asyncio.PriorityQueue[tuple[float, int, Delivery]]] = defaultdict(
            asyncio.PriorityQueue
        )
        self._behind: dict[tuple[str, str], deque[Delivery]] = {}
        self._later: list[tuple[float, int, Delivery]] = []
        self._alarm: asyncio.Task[None] | None = None
        self._sizes: Counter[str] = Counter()
        self._delayed: Counter[str] = Counter()
        self._settled = asyncio.Event()

    def size(self, agent: str) -> int:
        """Return how many deliveries of `agent` are in here, leased and delayed ones included."""
        return self._sizes[agent]

    def put(self, delivery: Delivery) -> None:
        """Take a new delivery; one with a `not_before` in the future joins its lane then."""
        self._sizes[delivery.agent] += 1
        not_before = delivery.message.not_before
        if not_before is not None and not_before > self._clock():
            self._delayed[delivery.agent] += 1
            self._schedule(not_before.timestamp(), delivery)
        else:
            self._enter(delivery)

    def put_head(self, delivery: Delivery, due_at: datetime) -> None:
        """Take a delivery that holds its lane already (after a restart) and is to be retried at `due_at`."""
        self._sizes[delivery.agent] += 1
        self._behind[delivery.lane] = deque()
        self.retry(delivery, due_at)

    async def get(self, agent: str) -> Delivery:
        """Wait for the next delivery of `agent` and return it; its lane is held until `done`."""
        _, _, delivery = await self._ready[agent].get()
        return delivery

    def done(self, delivery: Delivery) -> None:
        """Free the lane for the next delivery in it."""
        behind = self._behind[delivery.lane]
        if behind:
            self._offer(behind.popleft())
        else:
            del self._behind[delivery.lane]
        self._sizes[delivery.agent] -= 1
        self._settled.set()

    def retry(self, delivery: Delivery, due_at: datetime) -> None:
        """Offer the delivery again at `due_at`; its lane waits, no worker does."""
        waiting = msgspec.structs.replace(delivery, state=State.RETRYING)
        self._schedule(due_at.timestamp(), waiting)

    def give_back(self, delivery: Delivery) -> None:
        """Offer a leased delivery again at once, still first in its lane."""
        self._offer(delivery)

    async def idle(self, agents: Collection[str]) -> None:
        """Wait until all that `agents` have in here is delayed."""
        while any(self._sizes[agent] > self._delayed[agent] for agent in agents):
            self._settled.clear()
            await self._settled.wait()

    async def run(self) -> None:
        """Wake deliveries whose time has come, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._alarm = tasks.create_task(self._wait(self._release_due()), name="bus-alarm")
                await asyncio.wait([self._alarm])

    async def _wait(self, seconds: float) -> None:
        await self._sleep(seconds)

    def _enter(self, delivery: Delivery) -> None:
        behind = self._behind.get(delivery.lane)
        if behind is None:
            self._behind[delivery.lane] = deque()
            self._offer(delivery)
        else:
            behind.append(delivery)

    def _offer(self, delivery: Delivery) -> None:
        key = delivery.queued_at.timestamp() - delivery.message.priority * AGEING_STEP_S
        self._ready[delivery.agent].put_nowait((key, next(self._numbers), delivery))

    def _schedule(self, due_at: float, delivery: Delivery) -> None:
        number = next(self._numbers)
        heapq.heappush(self._later, (due_at, number, delivery))
        if self._later[0][1] == number and self._alarm is not None:
            self._alarm.cancel()  # it sleeps for a later one; `run` looks again

    def _release_due(self) -> float:
        """Offer what is due and return how many seconds to sleep."""
        now = self._clock().timestamp()
        while self._later and self._later[0][0] <= now:
            _, _, delivery = heapq.heappop(self._later)
            if delivery.state is State.RETRYING:
                self._offer(delivery)
            else:
                self._delayed[delivery.agent] -= 1
                self._enter(delivery)
        return min(self._later[0][0] - now, CLOCK_CHECK_S) if self._later else LONGEST_SLEEP_S
