"""The queue inside one process, shared by the memory and sqlite backends: lanes, priority, ageing, timers.

A lane is (context, agent). Its first delivery is offered to the workers, the others stand behind it until the first
is done, so one lane is handled in order and one at a time. Among lanes the smallest `queued_at - priority x step`
goes first: that key never changes, so ageing costs nothing, and a message of priority 0 is overtaken by one of
priority 9 only when that came less than 9 steps later.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from itertools import count

import msgspec

from hermes_bot.bus.port import Delivery, State

AGEING_STEP_S = 5.0
LONGEST_SLEEP_S = 3600.0
CLOCK_CHECK_S = 1.0  # a timer follows a jump of the wall clock within this time


Entry = tuple[float, int, Delivery]


class _Ready:
    """What one agent's workers may take now, the smallest key first. An `asyncio.PriorityQueue` without its locks."""

    __slots__ = ("_heap", "_waiting")

    def __init__(self) -> None:
        self._heap: list[Entry] = []
        self._waiting: deque[asyncio.Future[None]] = deque()

    def put(self, entry: Entry) -> None:
        heapq.heappush(self._heap, entry)
        self._wake()

    async def get(self) -> Delivery:
        while not self._heap:
            woken = asyncio.get_running_loop().create_future()
            self._waiting.append(woken)
            try:
                await woken
            except asyncio.CancelledError:
                woken.cancel()
                if self._heap:
                    self._wake()  # it may have been woken for something that another can take
                raise
        return heapq.heappop(self._heap)[2]

    def entries(self) -> list[Entry]:
        return self._heap

    def keep(self, entries: list[Entry]) -> None:
        self._heap = entries
        heapq.heapify(self._heap)

    def _wake(self) -> None:
        while self._waiting:
            woken = self._waiting.popleft()
            if not woken.done():
                woken.set_result(None)
                return


class LaneQueue:
    """Deliveries that are not in a final state, handed out in lane order. Nothing in here is durable."""

    def __init__(self, *, clock: Callable[[], datetime], sleep: Callable[[float], Awaitable[None]]) -> None:
        self._clock = clock
        self._sleep = sleep
        self._numbers = count()
        self._ready: defaultdict[str, _Ready] = defaultdict(_Ready)
        self._behind: dict[tuple[str, str], deque[Delivery] | None] = {}  # None: nobody yet, as in most lanes
        self._later: list[Entry] = []
        self._alarm: asyncio.Task[None] | None = None
        self._sizes: defaultdict[str, int] = defaultdict(int)
        self._delayed: defaultdict[str, int] = defaultdict(int)
        self._settled = asyncio.Event()

    def size(self, agent: str) -> int:
        """Return how many deliveries of `agent` are in here, leased and delayed ones included."""
        return self._sizes[agent]

    def agents(self) -> Collection[str]:
        """Return the agents that have deliveries in here."""
        return [agent for agent, size in self._sizes.items() if size]

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
        self._behind[delivery.lane] = None
        self.retry(delivery, due_at)

    def get(self, agent: str) -> Awaitable[Delivery]:
        """Wait for the next delivery of `agent` and return it; its lane is held until `done`."""
        return self._ready[agent].get()

    def done(self, delivery: Delivery) -> None:
        """Free the lane for the next delivery in it."""
        lane = delivery.lane
        behind = self._behind[lane]
        if behind:
            self._offer(behind.popleft())
        else:
            del self._behind[lane]
        self._sizes[delivery.agent] -= 1
        self._settled.set()

    def retry(self, delivery: Delivery, due_at: datetime) -> None:
        """Offer the delivery again at `due_at`; its lane waits, no worker does."""
        waiting = msgspec.structs.replace(delivery, state=State.RETRYING)
        self._schedule(due_at.timestamp(), waiting)

    def give_back(self, delivery: Delivery) -> None:
        """Offer a leased delivery again at once, still first in its lane."""
        self._offer(delivery)

    def waiting(self, context_id: str) -> list[Delivery]:
        """Return what of the context is in here and not leased: offered, behind another, or waiting for its time."""
        found = [delivery for _, _, delivery in self._later if delivery.message.context_id == context_id]
        for (context, agent), behind in self._behind.items():
            if context == context_id:
                found.extend(each for _, _, each in self._ready[agent].entries() if each.lane == (context, agent))
                found.extend(behind or ())
        return found

    def discard(self, deliveries: Collection[Delivery]) -> None:
        """Take out those of the deliveries that still wait, and free the lanes they held."""
        keys, lanes = {each.key for each in deliveries}, {each.lane for each in deliveries}
        heads = self._discard_timed(keys)
        for lane in lanes & self._behind.keys():
            behind = self._behind[lane] or ()
            left = deque(each for each in behind if each.key not in keys)
            self._sizes[lane[1]] -= len(behind) - len(left)
            self._behind[lane] = left
        for ready in [self._ready[agent] for agent in {agent for _, agent in lanes}]:
            heads += [each for _, _, each in ready.entries() if each.key in keys]
            ready.keep([entry for entry in ready.entries() if entry[2].key not in keys])
        for head in heads:
            self.done(head)
        self._settled.set()

    def _discard_timed(self, keys: set[tuple[str, str]]) -> list[Delivery]:
        """Take out what waits for its time; return what of it held a lane."""
        gone = [each for _, _, each in self._later if each.key in keys]
        self._later = [entry for entry in self._later if entry[2].key not in keys]
        heapq.heapify(self._later)
        for delivery in gone:
            if delivery.state is not State.RETRYING:
                self._delayed[delivery.agent] -= 1
                self._sizes[delivery.agent] -= 1
        return [each for each in gone if each.state is State.RETRYING]

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
        lane = delivery.lane
        if lane not in self._behind:
            self._behind[lane] = None
            self._offer(delivery)
            return
        behind = self._behind[lane]
        if behind is None:
            behind = self._behind[lane] = deque()
        behind.append(delivery)

    def _offer(self, delivery: Delivery) -> None:
        key = delivery.queued_at.timestamp() - delivery.message.priority * AGEING_STEP_S
        self._ready[delivery.agent].put((key, next(self._numbers), delivery))

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
