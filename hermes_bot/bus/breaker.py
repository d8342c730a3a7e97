"""A circuit breaker for one agent: a decision made from what its attempts ended with, and from the time.

It opens after transient failures of several different messages in a row, lets one message try after a while, and
closes when that one succeeds (https://martinfowler.com/bliki/CircuitBreaker.html). It neither waits nor stores.
"""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta
from enum import StrEnum

Key = tuple[str, str]

KEPT_SPELLS = 50


class BreakerState(StrEnum):
    """`half_open`: the next message is the probe, or it runs."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Spells:
    """When something was shut, so that a time limit can stand still meanwhile; the latest ones are kept."""

    def __init__(self) -> None:
        self._ended: deque[tuple[datetime, datetime]] = deque(maxlen=KEPT_SPELLS)
        self.since: datetime | None = None

    def begin(self, at: datetime) -> None:
        """Begin a spell, unless one lasts."""
        if self.since is None:
            self.since = at

    def end(self, at: datetime) -> None:
        """End the spell that lasts, if one does."""
        if self.since is not None:
            self._ended.append((self.since, at))
            self.since = None

    def within(self, start: datetime, end: datetime) -> timedelta:
        """Return how much of the time from `start` to `end` lay in spells."""
        spells = list(self._ended)
        if self.since is not None:
            spells.append((self.since, end))
        return sum((max(min(end, last) - max(start, first), timedelta(0)) for first, last in spells), timedelta(0))


class Breaker:
    """Ask `admit` before taking a message out of its queue and `enter` before its attempt, tell `leave` after it.

    The probe burns its attempt like any other, so that one bad message cannot be the probe for ever.
    """

    def __init__(self, *, failure_threshold: int, reset_timeout_s: float) -> None:
        self.spells = Spells()
        self._threshold = failure_threshold
        self._reset_timeout = timedelta(seconds=reset_timeout_s)
        self._failed: set[Key] = set()
        self._probe_at: datetime | None = None
        self._probe: Key | None = None
        self._reserved = False

    def state(self, now: datetime) -> BreakerState:
        """Return the state."""
        if self._probe_at is None:
            return BreakerState.CLOSED
        return BreakerState.HALF_OPEN if now >= self._probe_at else BreakerState.OPEN

    def shut(self, now: datetime) -> bool:
        """Return whether no attempt may begin now."""
        return self._probe_at is not None and (now < self._probe_at or self._probe is not None or self._reserved)

    def admit(self, now: datetime) -> bool:
        """Return whether somebody may fetch a message; when half open, one alone until it enters or is released."""
        if self.shut(now):
            return False
        self._reserved = self._probe_at is not None
        return True

    def release(self) -> None:
        """Who was admitted got no message."""
        self._reserved = False

    def enter(self, key: Key, now: datetime) -> bool:
        """Return whether the attempt may begin; when half open, the first one is the probe."""
        if self._probe_at is None:
            return True
        self.release()
        if self.shut(now):
            return False
        self._probe = key
        return True

    def leave(self, key: Key, succeeded: bool | None, now: datetime) -> bool:
        """Take how the attempt ended, None where that says nothing; return whether this opened the breaker.

        While it is open, only the probe counts: other attempts began before.
        """
        if self._probe_at is not None:
            if key == self._probe:
                self._leave_probe(succeeded, now)
            return False
        if succeeded:
            self._failed.clear()
        elif succeeded is False:
            self._failed.add(key)
            if len(self._failed) >= self._threshold:
                self._open(now)
                return True
        return False

    def _leave_probe(self, succeeded: bool | None, now: datetime) -> None:
        self._probe = None
        if succeeded:
            self._failed.clear()
            self._probe_at = None
            self.spells.end(now)
        elif succeeded is False:
            self._open(now)

    def _open(self, now: datetime) -> None:
        self._probe_at = now + self._reset_timeout
        self.spells.begin(now)
