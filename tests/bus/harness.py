"""What the tests of the bus share: a clock that is moved by hand, and a bus with its backend around it."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Backend, Delivery, Handler, State
from hermes_bot.messages.message import Message

NEVER_S = 1e9


class FakeTime:
    """A clock and a sleep; time passes only when a test says so."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)
        self._numbers = count()
        self._sleepers: list[tuple[datetime, int, asyncio.Future[None]]] = []

    def clock(self) -> datetime:
        return self.now

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        due = self.now + timedelta(seconds=min(seconds, NEVER_S))
        heapq.heappush(self._sleepers, (due, next(self._numbers), woken))
        await woken

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        while self._sleepers and self._sleepers[0][0] <= self.now:
            woken = heapq.heappop(self._sleepers)[2]
            if not woken.done():
                woken.set_result(None)

    def jump(self, at_most_s: float) -> None:
        """Advance to the next sleeper's time, if one wakes within `at_most_s`."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        if self._sleepers:
            wait_s = (self._sleepers[0][0] - self.now).total_seconds()
            if wait_s <= at_most_s:
                self.advance(max(wait_s, 0))


LOOK_S = 0.001
"""Between two looks, so that fake time does not run hours ahead of the threads that a test waits for."""


async def until(holds: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None, limit_s: float = 30) -> None:
    """Return when `holds()`, doing `meanwhile()` at each look; raise TimeoutError after the limit."""
    async with asyncio.timeout(limit_s):
        while not holds():
            meanwhile()
            await asyncio.sleep(LOOK_S)


def message(type: str = "ticket.created", context_id: str = "c1", **fields: Any) -> Message:
    return Message(type=type, sender="test", context_id=context_id, **fields)


@dataclass
class Harness:
    """A bus under test. `hops` holds (type, agent, state) of every settled attempt, in order."""

    new_backend: Callable[[FakeTime], Backend]
    time: FakeTime = field(default_factory=FakeTime)
    hops: list[tuple[str, str, State]] = field(default_factory=list)
    expected_dead: set[str] = field(default_factory=set)
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.backend = self.new_backend(self.time)
        self.build()

    def build(self, **options: Any) -> Bus:
        """Make a fresh bus over the same backend, as after a restart."""
        self.options.update(options)
        self.bus = Bus(
            self.backend,
            clock=self.time.clock,
            sleep=self.time.sleep,
            random=lambda: 0.5,
            **{"on_hop": self._on_hop, **self.options},
        )
        return self.bus

    def _on_hop(self, delivery: Delivery, state: State, outputs: Sequence[Message], seconds: float) -> None:
        self.hops.append((delivery.message.type, delivery.agent, state))

    async def publish(self, type: str = "ticket.created", context_id: str = "c1", **fields: Any) -> Message:
        published = message(type, context_id, **fields)
        await self.bus.publish(published)
        return published

    async def finish(self, limit_s: float = 20) -> None:
        """Drain; waits for retries are skipped by moving the clock."""
        draining = asyncio.create_task(self.bus.drain(limit_s), name="drain")
        await until(draining.done, lambda: self.time.jump(120), limit_s + 1)
        await draining

    async def states(self) -> dict[tuple[str, str], State]:
        """Return the state of every delivery by (message id, agent)."""
        found = await self.backend.find(limit=10_000)
        return {(item.message.id, item.agent): item.state for item in found}

    async def only(self) -> Delivery:
        """Return the one delivery there is."""
        (delivery,) = await self.backend.find()
        return delivery


class Recorder:
    """A handler that remembers what it got and answers by a function."""

    def __init__(self, answer: Callable[[Message], Sequence[Message]] = lambda _: ()) -> None:
        self.got: list[Message] = []
        self.deliveries: list[Delivery] = []
        self._answer = answer

    async def __call__(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        self.got.append(message)
        self.deliveries.append(delivery)
        return self._answer(message)

    @property
    def texts(self) -> list[Any]:
        return [message.data.get("n") for message in self.got]


def failing(*errors: BaseException, then: Sequence[Message] = ()) -> tuple[Handler, list[Delivery]]:
    """Return a handler that raises these errors in turn and then answers, and the list of what it got."""
    left = list(errors)
    seen: list[Delivery] = []

    async def handler(message: Message, delivery: Delivery) -> Sequence[Message]:
        seen.append(delivery)
        if left:
            raise left.pop(0)
        return then

    return handler, seen


def blocking() -> tuple[Callable[[Message, Delivery], Awaitable[Sequence[Message]]], asyncio.Event, list[Message]]:
    """Return a handler that waits for the event, the event, and the list of what was begun."""
    go = asyncio.Event()
    begun: list[Message] = []

    async def handler(message: Message, delivery: Delivery) -> Sequence[Message]:
        begun.append(message)
        await go.wait()
        return ()

    return handler, go, begun
