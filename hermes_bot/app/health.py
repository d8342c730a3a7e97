"""How the running bot is: what `/readyz` and `/metrics` look up when they are asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from hermes_bot.bus.port import DEAD_LETTERS, FINAL_STATES, Delivery, State, Wanted
from hermes_bot.edge.http_door import Probes
from hermes_bot.observe.metrics import Look, Metrics
from hermes_bot.store.journal import Journal

UNFINISHED = tuple(state for state in State if state not in FINAL_STATES)
MOST_STALE = 1_000
NAMED = 3


class Looks(Protocol):
    """What is looked at on the bus, by the bot itself and by commands."""

    async def counts(self) -> Mapping[tuple[str, State], int]:
        """Return how many deliveries there are by (agent, state)."""
        ...

    async def oldest(self) -> Mapping[str, datetime]:
        """Return, by agent, since when the first delivery waits."""
        ...

    async def find(
        self, *, states: Sequence[State] = ..., message_id: str = ..., wanted: Wanted = ..., limit: int = ...
    ) -> Sequence[Delivery]:
        """Return matching deliveries, newest first."""
        ...


class CountsWaiting(Protocol):
    """Counts approvals."""

    async def count_waiting(self) -> int:
        """Return how many approvals nobody has answered."""
        ...


class Rated(Protocol):
    """Counts what customers thought of answers."""

    async def ratings(self) -> Mapping[str, int]:
        """Return how many tickets were rated up and down."""
        ...


class Health:
    """Looks things up, each time anew. While the bus is paused, nothing counts as too old: that is meant."""

    def __init__(
        self,
        bus: Looks,
        approvals: CountsWaiting,
        journal: Journal,
        metrics: Metrics,
        *,
        stale_after_s: float,
        clock: Callable[[], datetime],
        paused_since: Callable[[], datetime | None],
        breakers: Callable[[], Mapping[str, str]],
        tickets: Rated | None = None,
    ) -> None:
        self._bus = bus
        self._approvals = approvals
        self._journal = journal
        self._metrics = metrics
        self._stale_after_s = stale_after_s
        self._clock = clock
        self._paused_since = paused_since
        self._breakers = breakers
        self._tickets = tickets

    def probes(self) -> Probes:
        """Return what the HTTP door asks."""
        return Probes(trouble=self.trouble, metrics=self.metrics, paused=lambda: self._paused_since() is not None)

    async def trouble(self) -> str:
        """Return which messages are past their deadline without a final state; empty when none is."""
        if self._paused_since() is not None:
            return ""
        return told_stale(await self.stale(), self._stale_after_s)

    async def stale(self) -> Sequence[Delivery]:
        """Return the deliveries past their deadline without a final state, at most `MOST_STALE`."""
        return await stale_deliveries(self._bus, self._stale_after_s, self._clock())

    async def metrics(self) -> tuple[bytes, str]:
        """Return the body and the content type of `/metrics`."""
        look = await self.look()
        return await asyncio.to_thread(self._metrics.render, look)

    async def look(self) -> Look:
        """Return how things are right now."""
        now = self._clock()
        queued: Counter[str] = Counter()
        dead: dict[tuple[str, str], int] = {}
        for (agent, state), count in (await self._bus.counts()).items():
            queued[agent] += 0  # an empty queue is told as well
            if state in DEAD_LETTERS:
                dead[agent, state.value] = count
            elif state not in FINAL_STATES:
                queued[agent] += count
        oldest = await self._bus.oldest()
        return Look(
            queued=queued,
            oldest_s={agent: max(0.0, (now - since).total_seconds()) for agent, since in oldest.items()},
            dead_letters=dead,
            breakers=self._breakers(),
            approvals_waiting=await self._approvals.count_waiting(),
            ratings={} if self._tickets is None else await self._tickets.ratings(),
            stale=len(await self.stale()),
            paused=self._paused_since() is not None,
            journal_lost=self._journal.lost,
        )


async def stale_deliveries(bus: Looks, stale_after_s: float, now: datetime) -> Sequence[Delivery]:
    """Return the deliveries that wait longer than that without a final state; a delayed one from its time on."""
    wanted = Wanted(queued_before=now - timedelta(seconds=stale_after_s))
    return await bus.find(states=UNFINISHED, wanted=wanted, limit=MOST_STALE)


def told_stale(stale: Sequence[Delivery], stale_after_s: float) -> str:
    """Return in words which messages those are; empty where there are none."""
    if not stale:
        return ""
    first = [f"{each.message.id} for {each.agent} ({each.state.value})" for each in reversed(stale[-NAMED:])]
    more = f" and {len(stale) - NAMED} more" if len(stale) > NAMED else ""
    return f"without an end for more than {stale_after_s:g} s: {', '.join(first)}{more}"
