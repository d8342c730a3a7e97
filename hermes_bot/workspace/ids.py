"""Identifiers that never repeat, not even after a restart: the bot remembers an event id for a day."""

from __future__ import annotations

from hermes_bot.workspace.clock import Clock

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Ids:
    """Gives out ids that grow with the clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last_us = 0

    def next(self, prefix: str) -> str:
        """Return `prefix` and the time in microseconds in base 36, later than every id before."""
        self._last_us = max(int(self._clock.now() * 1_000_000), self._last_us + 1)
        digits, rest = "", self._last_us
        while rest:
            rest, digit = divmod(rest, 36)
            digits = _DIGITS[digit] + digits
        return prefix + digits
