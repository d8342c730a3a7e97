"""How long the queues are, as the answers of redis tell: for back-pressure, and to see when all is done."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, NoReturn

FRESH_S = 0.02  # how long a size is believed; other processes change it too
LATE_US = 5_000_000  # an answer that is older than another is late; one that is very much so: the clock was set back

Ask = Callable[[Collection[str]], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class _Size:
    """What is known of a queue; `given_us` is redis's time of the answer, `at` ours."""

    unfinished: int
    active: int
    given_us: int
    at: float


class Sizes:
    """Remembers sizes. `ask(agents)` makes redis tell them anew, by way of `note`."""

    def __init__(self, ask: Ask, *, poll_s: float, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._ask = ask
        self._poll_s = poll_s
        self._sleep = sleep
        self._incoming: Counter[str] = Counter()
        self._known: dict[str, _Size] = {}
        self._noted = asyncio.Event()
        self._doubted: set[str] = set()
        self._doubt = asyncio.Event()

    def note(self, told: Sequence[Any]) -> None:
        """Remember what an answer says: its time in us; agent, unfinished, of which not delayed; agent ..."""
        given_us, now = told[0], monotonic()
        for start in range(1, len(told), 3):
            name, unfinished, active = told[start : start + 3]
            agent = name.decode()
            known = self._known.get(agent)
            if known is None or not 0 < known.given_us - given_us < LATE_US:
                self._known[agent] = _Size(unfinished, active, given_us, now)
        if len(told) > 1:
            self._noted.set()

    def size(self, agent: str) -> int:
        """Return how many deliveries of `agent` are not in a final state, those on their way included."""
        known = self._known.get(agent)
        if known is None or monotonic() - known.at > FRESH_S:
            self._doubted.add(agent)
            self._doubt.set()
        return self._incoming[agent] + (0 if known is None else known.unfinished)

    def agents(self) -> list[str]:
        """Return the agents that have unfinished deliveries."""
        return [agent for agent, known in self._known.items() if known.unfinished]

    def expect(self, agents: Sequence[str]) -> None:
        """Count deliveries that are on their way to redis."""
        self._incoming.update(agents)

    def arrived(self, agents: Sequence[str]) -> None:
        """Undo `expect`: they are there, or were refused."""
        self._incoming.subtract(agents)

    async def idle(self, agents: Collection[str]) -> None:
        """Return when nothing of `agents` is queued, running or retrying, in any process."""
        while True:
            await self._ask(agents)
            if not self._active(agents):
                return
            await first_of(self._until_idle(agents), self._sleep(self._poll_s))

    async def refresh(self) -> NoReturn:
        """Ask for the sizes that `size` could not vouch for, until cancelled."""
        while True:
            await self._doubt.wait()
            self._doubt.clear()
            agents, self._doubted = self._doubted, set()
            await self._ask(agents)

    def _active(self, agents: Collection[str]) -> bool:
        return any(self._known[agent].active for agent in agents if agent in self._known)

    async def _until_idle(self, agents: Collection[str]) -> None:
        while self._active(agents):
            self._noted.clear()
            await self._noted.wait()


async def first_of(*waits: Coroutine[Any, Any, Any] | Awaitable[Any]) -> None:
    """Return when the first of `waits` ends, and cancel the others."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
