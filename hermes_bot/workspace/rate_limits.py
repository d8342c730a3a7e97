"""Slack's rate limits (WIRE section 1), for a workspace in which a test, or somebody with a bot, turned them on."""

from __future__ import annotations

from collections import deque
from math import ceil

from hermes_bot.workspace.clock import Clock

WINDOW_S = 60.0
POST_BURST = 5
POSTS_A_MINUTE = 300


_Bound = tuple[tuple[str, ...], int, float]


class RateLimits:
    """Counts calls by app and method; chat.postMessage by channel as well: one a second, with a short burst.

    `on` is off at first: a test that is not about limits has none.
    """

    def __init__(self, clock: Clock) -> None:
        self.on = False
        self._clock = clock
        self._calls: dict[tuple[str, ...], deque[float]] = {}

    def wait_s(self, app_id: str, method: str, tier: int, channel: str) -> int:
        """Return 0 when the call may go on, and count it; otherwise after how many seconds it should come again."""
        if not self.on:
            return 0
        if method == "chat.postMessage":
            bounds: list[_Bound] = [((app_id, method, channel), POST_BURST, float(POST_BURST))]
            bounds.append(((app_id, method), POSTS_A_MINUTE, WINDOW_S))
        else:
            bounds = [((app_id, method), tier, WINDOW_S)] if tier else []
        waits = [self._wait(key, most, window_s) for key, most, window_s in bounds]
        if any(waits):
            return max(waits)
        for key, _, _ in bounds:
            self._calls[key].append(self._clock.now())
        return 0

    def _wait(self, key: tuple[str, ...], most: int, window_s: float) -> int:
        calls, now = self._calls.setdefault(key, deque()), self._clock.now()
        while calls and calls[0] <= now - window_s:
            calls.popleft()
        return max(1, ceil(calls[0] + window_s - now)) if len(calls) >= most else 0
