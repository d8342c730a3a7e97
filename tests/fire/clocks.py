"""Scenes where the clock jumps, by hours and both ways, while messages are handled, retried and put off.

The clock is given to the bus; the machine's own is left alone. What a person wrote may be too late after a jump, so
that limit is off in the first scene; in the second it is on, and whatever expires must be told to somebody.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from time import monotonic

from hermes_bot.bus.bus import Bus
from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import Backend, Delivery, Policy, State
from hermes_bot.bus.redis_backend import RedisBackend
from hermes_bot.bus.sqlite import SqliteBackend
from hermes_bot.bus.waits import WaitRules
from hermes_bot.errors import TransientError
from hermes_bot.messages.message import Message, utc_now
from tests.fire.on_sqlite import took
from tests.fire.report import Report, Step, no_step

EVERY_S = 0.05
FINISH_LIMIT_S = 60.0
FAILS, LATER = 10, 7  # of so many messages one fails at first, one is put off
NO_LIMITS = WaitRules(ttl_s=None, stale_after_s=None)
FOLLOWS = "follows"


class JumpingClock:
    """The machine's clock, displaced by a time that changes."""

    def __init__(self, chance: Random) -> None:
        self.jumps = 0
        self._chance = chance
        self._off = timedelta(0)

    def __call__(self) -> datetime:
        return utc_now() + self._off

    def jump(self) -> None:
        """Go forward or back, by a second or by hours."""
        farthest_s = self._chance.choice((1.0, 60.0, 86_400.0))
        self._off = timedelta(seconds=farthest_s * (2 * self._chance.random() - 1))
        self.jumps += 1

    def settle(self) -> None:
        """End far enough in the future that all that was put off is due."""
        self._off = timedelta(days=4)


def backend_on(name: str, folder: Path, url: str, clock: JumpingClock) -> Backend:
    """Return the backend of that name with the jumping clock; redis goes by its server's."""
    if name == "redis":
        return RedisBackend(url, clock=clock, prefix=f"clock-{folder.name}")
    return SqliteBackend(folder / "bus.db", clock=clock) if name == "sqlite" else MemoryBackend(clock=clock)


def jumps(
    folder: Path, name: str, *, messages: int, url: str = "", limits: bool = False, seed: int = 1, step: Step = no_step
) -> Report:
    """Run the scene on one backend."""
    folder.mkdir(parents=True, exist_ok=True)
    report = asyncio.run(_Scene(folder, name, url, Random(seed), messages, limits=limits).run())
    step(1, 1)
    return report


class _Scene:
    def __init__(self, folder: Path, name: str, url: str, chance: Random, messages: int, *, limits: bool) -> None:
        self._name, self._messages, self._limits = name, messages, limits
        self._clock = JumpingClock(chance)
        self._effects: Counter[str] = Counter()
        self._told: set[str] = set()
        self._backend = backend_on(name, folder, url, self._clock)
        rules = WaitRules() if limits else NO_LIMITS
        self._bus = Bus(self._backend, clock=self._clock, waits=rules, on_failure=self._on_failure)

    async def run(self) -> Report:
        began, policy = monotonic(), Policy(concurrency=8, backoff_start_s=0.2, failure_threshold=10**6)
        self._bus.subscribe("start", "first", self._first, policy)
        self._bus.subscribe(FOLLOWS, "second", self._second, policy)
        await self._bus.start()
        jumping = asyncio.create_task(self._jump(), name="jumps")
        for n in range(self._messages):
            at = self._now() + timedelta(seconds=0.5) if n % LATER == 0 else None
            task = f"{n}:first"
            await self._bus.publish(
                Message(type="start", sender="fire", context_id=f"c{n // 20}", task_id=task, not_before=at)
            )
            await asyncio.sleep(0.001)
        jumping.cancel()
        self._clock.settle()
        await self._finish()
        problems = await self._problems()
        await self._bus.stop(5)
        figures = {"messages": self._messages, "jumps": self._clock.jumps, "expired": len(self._told)}
        scene = f"clock jumps, {self._name}" + (", with time limits" if self._limits else "")
        return Report(scene=scene, figures={**figures, "seconds": took(began)}, problems=problems)

    def _now(self) -> datetime:
        """Return the time that decides when a message is due; in redis that is the server's."""
        return utc_now() if self._name == "redis" else self._clock()

    async def _finish(self) -> None:
        """Wait for what was put off, then for the rest; what is missing then is found by `_problems`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FINISH_LIMIT_S):
                while self._unseen():  # noqa: ASYNC110 - it ends when the handlers have seen everything
                    await asyncio.sleep(EVERY_S)
            await self._bus.drain(FINISH_LIMIT_S)

    def _unseen(self) -> int:
        seen = self._effects.keys() | self._told
        return self._messages - sum(task.endswith("first") for task in seen)

    async def _first(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        n = int(message.task.split(":")[0])
        if n % FAILS == 0 and delivery.attempt == 1:
            raise TransientError("not yet")
        self._effects[message.task] += 1
        return [message.child(FOLLOWS, task_id=f"{n}:second")]

    async def _second(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        self._effects[message.task] += 1
        return []

    def _on_failure(self, delivery: Delivery, error: str) -> Sequence[Message]:
        self._told.add(delivery.message.task)
        return []

    async def _jump(self) -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            self._clock.jump()

    async def _problems(self) -> tuple[str, ...]:
        firsts = {f"{n}:first" for n in range(self._messages)}
        seconds = {task.replace("first", "second") for task in firsts & self._effects.keys()}
        found: list[str] = []
        if lost := (firsts | seconds) - self._effects.keys() - self._told:
            found.append(f"{len(lost)} neither done nor told: {sorted(lost)[:3]}")
        found += [f"{task} ran {times} times" for task, times in self._effects.items() if times > 1]
        allowed = {State.DONE, State.EXPIRED} if self._limits else {State.DONE}
        counts = await self._backend.counts()
        found += [f"{number} {state.value}" for (_, state), number in counts.items() if number and state not in allowed]
        return tuple(found)
