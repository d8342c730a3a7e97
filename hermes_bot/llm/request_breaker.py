"""Stops asking a model that does not answer: after several failures in a row, for a while, then one try."""

from __future__ import annotations

from collections.abc import Callable


class RequestBreaker:
    """Ask `admit` before a request, tell `succeeded`, `failed` or `given_up` after it. Times are monotonic seconds."""

    def __init__(self, failure_threshold: int, reset_timeout_s: float, *, clock_s: Callable[[], float]) -> None:
        self._threshold = failure_threshold
        self._reset_timeout_s = reset_timeout_s
        self._clock_s = clock_s
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def open(self) -> bool:
        """Whether requests are held back."""
        return self._opened_at is not None

    def admit(self) -> bool:
        """Return whether a request may be made now; the first one after the pause is the probe."""
        if self._opened_at is None:
            return True
        if self._probing or self._clock_s() - self._opened_at < self._reset_timeout_s:
            return False
        self._probing = True
        return True

    def succeeded(self) -> None:
        """Close: the model answers."""
        self._failures, self._opened_at, self._probing = 0, None, False

    def failed(self) -> None:
        """Count a failure; enough of them in a row, or a failed probe, open."""
        self._failures += 1
        if self._probing or self._failures >= self._threshold:
            self._opened_at = self._clock_s()
        self._probing = False

    def given_up(self) -> None:
        """Take back a request that says nothing about the model, such as one that was cancelled."""
        self._probing = False
