"""Trigger ids: the permission to open one modal within three seconds of a person's click."""

from __future__ import annotations

import secrets

from hermes_bot.workspace.clock import Clock
from hermes_bot.workspace.refusal import Refusal

TRIGGER_LIFE_S = 3.0


class Triggers:
    """The trigger ids that were given out."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._given: dict[str, tuple[str, float]] = {}
        self._used: set[str] = set()

    def give(self, user: str) -> str:
        """Return a new trigger id for a person's click."""
        trigger = f"{len(self._given) + 1}.{int(self._clock.now())}.{secrets.token_hex(16)}"
        self._given[trigger] = (user, self._clock.now() + TRIGGER_LIFE_S)
        return trigger

    def take(self, trigger: str) -> str:
        """Return the person, once and in time; raise Slack's refusal otherwise."""
        if trigger not in self._given:
            raise Refusal("invalid_trigger_id")
        if trigger in self._used:
            raise Refusal("exchanged_trigger_id")
        user, until = self._given[trigger]
        if self._clock.now() > until:
            raise Refusal("expired_trigger_id")
        self._used.add(trigger)
        return user
