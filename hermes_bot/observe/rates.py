"""How often each message type fails, over a sliding window. Pure: time comes in as an argument."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

SLICES = 60
"""The window slides in steps of a sixtieth: what is remembered does not grow with the number of messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """What happened within the window."""

    total: int = 0
    failed: int = 0

    @property
    def ratio(self) -> float:
        """Return the share that failed, 0..1."""
        return self.failed / self.total if self.total else 0.0


class FailureRates:
    """Counts attempts by message type. Times are seconds of any steady clock and must not run backwards."""

    def __init__(self, *, window_s: float) -> None:
        self._slice_s = window_s / SLICES
        self._slices: dict[str, deque[list[int]]] = {}

    def record(self, type: str, *, failed: bool, at_s: float) -> None:
        """Count one attempt."""
        slices = self._slices.get(type)
        if slices is None:
            slices = self._slices[type] = deque()
        number = int(at_s // self._slice_s)
        if not slices or slices[-1][0] < number:
            slices.append([number, 0, 0])
            self._forget(slices, number)
        slices[-1][1] += 1
        slices[-1][2] += failed

    def rate(self, type: str, *, at_s: float) -> Rate:
        """Return what happened within the window that ends at `at_s`, to a sixtieth of it."""
        slices = self._slices.get(type)
        if slices is None:
            return Rate()
        self._forget(slices, int(at_s // self._slice_s))
        return Rate(total=sum(each[1] for each in slices), failed=sum(each[2] for each in slices))

    def _forget(self, slices: deque[list[int]], number: int) -> None:
        while slices and slices[0][0] <= number - SLICES:
            slices.popleft()


class FailureAlarm:
    """Says when a type fails too often: above `ratio`, of at least `min_count` attempts, once in a window."""

    def __init__(self, *, window_s: float, ratio: float, min_count: int) -> None:
        self._window_s = window_s
        self._ratio = ratio
        self._min_count = min_count
        self._rates = FailureRates(window_s=window_s)
        self._quiet_until: dict[str, float] = {}

    def attempt(self, type: str, *, failed: bool, at_s: float) -> Rate | None:
        """Count one attempt; return the rate when it is time to raise the alarm, else None."""
        self._rates.record(type, failed=failed, at_s=at_s)
        if not failed or at_s < self._quiet_until.get(type, at_s):
            return None
        rate = self._rates.rate(type, at_s=at_s)
        if rate.total < self._min_count or rate.ratio <= self._ratio:
            return None
        self._quiet_until[type] = at_s + self._window_s
        return rate

    def first(self, subject: str, *, at_s: float) -> bool:
        """Return whether `subject`, which needs no count, was not told within the window; it counts as told now."""
        if at_s < self._quiet_until.get(subject, at_s):
            return False
        self._quiet_until[subject] = at_s + self._window_s
        return True
