"""The workspace's clock: every limit and every retry waits on it, so that a test moves time instead of waiting."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Timer(Protocol):
    """A call that is due later."""

    def cancel(self) -> None:
        """Make sure that the call does not happen."""
        ...


class NoTimer:
    """A timer of nothing, where a call may or may not be due."""

    def cancel(self) -> None:
        """Do nothing."""


class Clock(Protocol):
    """Tells the time and calls back later."""

    def now(self) -> float:
        """Return seconds since 1970."""
        ...

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` on the event loop once `delay_s` seconds have passed."""
        ...


class RealClock:
    """The machine's time."""

    def now(self) -> float:
        """Return seconds since 1970."""
        return time.time()

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> Timer:
        """Call back from the running event loop."""
        return asyncio.get_running_loop().call_later(delay_s, callback)


class SettableTimer:
    """A timer of a SettableClock."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        """Forget the call."""
        self._callback = None

    @property
    def pending(self) -> bool:
        """Whether the call is still to come."""
        return self._callback is not None

    def fire(self) -> None:
        """Make the call, unless it was cancelled."""
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


class SettableClock:
    """A clock that stands still until a test moves it; what became due meanwhile is called in order."""

    def __init__(self, now: float = 1_764_500_000.0) -> None:
        self._now = now
        self._due: list[tuple[float, int, SettableTimer]] = []
        self._order = itertools.count()

    def now(self) -> float:
        """Return the seconds since 1970 that were set."""
        return self._now

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> Timer:
        """Remember the call for a later `advance`."""
        timer = SettableTimer(callback)
        heapq.heappush(self._due, (self._now + delay_s, next(self._order), timer))
        return timer

    def waiting(self) -> int:
        """Return how many calls are still to come, so that a test moves the time once somebody waits for it."""
        return sum(timer.pending for _, _, timer in self._due)

    def advance(self, seconds: float) -> None:
        """Move the time on and make the calls that became due, also those that such a call asked for."""
        end = self._now + seconds
        while self._due and self._due[0][0] <= end:
            at, _, timer = heapq.heappop(self._due)
            self._now = max(self._now, at)
            timer.fire()
        self._now = end


async def within(clock: Clock, limit_s: float, work: Awaitable[T]) -> T:
    """Return what `work` gives; cancel it and raise TimeoutError when the clock passes the limit first."""
    task = asyncio.ensure_future(work)
    timed_out = False

    def stop() -> None:
        nonlocal timed_out
        timed_out = True
        task.cancel()

    timer = clock.call_later(limit_s, stop)
    try:
        return await task
    except asyncio.CancelledError:
        if timed_out:
            raise TimeoutError(f"no answer within {limit_s} s") from None
        task.cancel()
        raise
    finally:
        timer.cancel()
