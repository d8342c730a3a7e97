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
        self._given: dict[str, tuple[str, str, float]] = {}
        self._used: set[str] = set()

    def give(self, user: str, app_id: str = "") -> str:
        """Return a new trigger id for what a person pressed, good for that app (any, where none is named)."""
        trigger = f"{len(self._given) + 1}.{int(self._clock.now())}.{secrets.token_hex(16)}"
        self._given[trigger] = (user, app_id, self._clock.now() + TRIGGER_LIFE_S)
        return trigger

    def take(self, trigger: str, app_id: str) -> str:
        """Return the person, once and in time; raise Slack's refusal otherwise."""
        user, owner, until = self._given.get(trigger, ("", "", 0.0))
        if not user or owner not in ("", app_id):
            raise Refusal("invalid_trigger_id")
        if trigger in self._used:
            raise Refusal("exchanged_trigger_id")
        if self._clock.now() > until:
            raise Refusal("expired_trigger_id")
        self._used.add(trigger)
        return user
