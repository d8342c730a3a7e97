"""Channels in which Slack wants nothing to be posted for a while: who was turned away first goes first afterwards."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from hermes_bot.errors import TransientError

MOST_REMEMBERED = 1_000


class Rests:
    """Keeps, for each channel, until when Slack said to wait, and to whom."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._until: dict[str, tuple[datetime, str]] = {}

    def check(self, channel: str, key: str) -> None:
        """Raise TransientError, with what is left of the wait, for all but the post that Slack turned away."""
        until, first = self._until.get(channel, (None, ""))
        if until is None or first == key:
            return
        left_s = (until - self._clock()).total_seconds()
        if left_s > 0:
            raise TransientError("slack: the channel rests", retry_after_s=left_s)

    def turned_away(self, channel: str, key: str, retry_after_s: float) -> None:
        """Remember that Slack wants no post there for so long."""
        if len(self._until) >= MOST_REMEMBERED:
            self._until.clear()
        until, first = self._clock() + timedelta(seconds=retry_after_s), self._until.get(channel, (None, ""))[1]
        self._until[channel] = (until, first or key)

    def posted(self, channel: str) -> None:
        """Forget it: Slack takes posts there again."""
        self._until.pop(channel, None)
