"""How long the queues are, as the answers of redis tell: for back-pressure, and to see when all is done."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from time import monotonic
from typing import Any, NoReturn

FRESH_S = 0.02  # how long a size is believed; other processes change it too

Ask = Callable[[Collection[str]], Awaitable[object]]


class Sizes:
    """Remembers sizes. `ask(agents)` makes redis tell them anew, by way of `note`."""

    def __init__(self, ask: Ask, *, poll_s: float, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._ask = ask
        self._poll_s = poll_s
        self._sleep = sleep
        self._incoming: Counter[str] = Counter()
        self._known: dict[str, tuple[int, int, float]] = {}
        self._noted = asyncio.Event()
        self._doubted: set[str] = set()
        self._doubt = asyncio.Event()

    def note(self, told: Sequence[Any]) -> None:
        """Remember what an answer says: agent, unfinished, of which not delayed, and so on."""
        now = monotonic()
        for start in range(0, len(told), 3):
            agent, unfinished, active = told[start : start + 3]
            self._known[agent.decode()] = (unfinished, active, now)
        if told:
            self._noted.set()

    def size(self, agent: str) -> int:
        """Return how many deliveries of `agent` are not in a final state, those on their way included."""
        unfinished, _, at = self._known.get(agent, (0, 0, 0.0))
        if monotonic() - at > FRESH_S:
            self._doubted.add(agent)
            self._doubt.set()
        return unfinished + self._incoming[agent]

    def agents(self) -> list[str]:
        """Return the agents that have unfinished deliveries."""
        return [agent for agent, (unfinished, _, _) in self._known.items() if unfinished]

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
        return any(self._known[agent][1] for agent in agents if agent in self._known)

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
