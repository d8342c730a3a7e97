"""Slack's rate limits, for a workspace in which a test, or somebody with a bot, turned them on."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from math import ceil
from typing import Any

from hermes_bot.workspace.clock import Clock

WINDOW_S = 60.0
HOUR_S = 3_600.0
POST_BURST = 5
POSTS_A_MINUTE = 300
EVENTS_AN_HOUR = 30_000
_READS = ("conversations.history", "conversations.replies")
_MOST_READ = 15


_Bound = tuple[tuple[str, ...], int, float]


class RateLimits:
    """Counts calls by app and method; chat.postMessage by channel as well: one a second, with a short burst.

    `on` is off at first: a test that is not about limits has none. An app that is sold outside of Slack's Marketplace
    (`distributed`) reads conversations once a minute, 15 messages at a time, whether `on` or not. With `on` an app gets
    `events_an_hour` at most.
    """

    def __init__(self, clock: Clock) -> None:
        self.on = False
        self.distributed = False
        self.events_an_hour = EVENTS_AN_HOUR
        self._clock = clock
        self._calls: dict[tuple[str, ...], deque[float]] = {}

    def wait_s(self, app_id: str, method: str, tier: int, channel: str) -> int:
        """Return 0 when the call may go on, and count it; otherwise after how many seconds it should come again."""
        slowed = self.distributed and method in _READS
        if not self.on and not slowed:
            return 0
        if slowed:
            bounds: list[_Bound] = [((app_id, method), 1, WINDOW_S)]
        elif method == "chat.postMessage":
            bounds = [((app_id, method, channel), POST_BURST, float(POST_BURST))]
            bounds.append(((app_id, method), POSTS_A_MINUTE, WINDOW_S))
        else:
            bounds = [((app_id, method), tier, WINDOW_S)] if tier else []
        return self._counted(bounds)

    def event_wait_s(self, app_id: str) -> int:
        """Return 0 when the app may be told of one more event, and count it; otherwise for how long it may not."""
        return self._counted([((app_id,), self.events_an_hour, HOUR_S)]) if self.on else 0

    def bounded(self, method: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments with the page that this app may read at most."""
        if not self.distributed or method not in _READS:
            return values
        asked = str(values.get("limit") or _MOST_READ)
        return {**values, "limit": str(min(_MOST_READ, int(asked)))} if asked.isdecimal() else values

    def _counted(self, bounds: list[_Bound]) -> int:
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
