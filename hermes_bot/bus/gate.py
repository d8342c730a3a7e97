"""What may keep messages in their lanes: a pause of the whole bus, an agent's open breaker. Nothing here waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from hermes_bot.bus.breaker import Breaker, BreakerState, Spells
from hermes_bot.bus.port import Delivery, Policy


class Gate:
    """Says whether an agent may begin a delivery now, and how long it was kept from it."""

    def __init__(
        self, clock: Callable[[], datetime], policy_of: Callable[[str], Policy], on_shut: Callable[[str], None]
    ) -> None:
        """`on_shut` is told whose gate shut just now, an empty name for everybody's."""
        self._clock = clock
        self._policy_of = policy_of
        self._on_shut = on_shut
        self._pauses = Spells()
        self._breakers: dict[str, Breaker] = {}

    @property
    def paused_since(self) -> datetime | None:
        """Since when nothing may be handled, or None."""
        return self._pauses.since

    def pause(self, since: datetime | None) -> None:
        """Shut for everybody since then, or open again."""
        if since is None:
            self._pauses.end(self._clock())
        else:
            self._pauses.begin(since)
            self._on_shut("")

    def admit(self, agent: str) -> bool:
        """Return whether a worker of the agent may fetch a delivery; it must then `enter` with one or `release`."""
        if self._pauses.since is not None:
            return False
        breaker = self._breakers.get(agent)
        return breaker is None or breaker.admit(self._clock())

    def release(self, agent: str) -> None:
        """Who was admitted got nothing, or may not begin with it."""
        if agent in self._breakers:
            self._breakers[agent].release()

    def enter(self, delivery: Delivery) -> bool:
        """Return whether the delivery may begin; one that may must `leave`."""
        if self._pauses.since is not None:
            self.release(delivery.agent)
            return False
        breaker = self._breakers.get(delivery.agent)
        return breaker is None or breaker.enter(delivery.key, self._clock())

    def leave(self, delivery: Delivery, *, succeeded: bool | None) -> bool:
        """Take how the attempt ended, None where that says nothing; return whether this opened the breaker."""
        breaker = self._breakers.get(delivery.agent)
        if breaker is None:
            if succeeded is not False:
                return False
            policy = self._policy_of(delivery.agent)
            breaker = self._breakers[delivery.agent] = Breaker(
                failure_threshold=policy.failure_threshold, reset_timeout_s=policy.reset_timeout_s
            )
        opened = breaker.leave(delivery.key, succeeded, self._clock())
        if opened:
            self._on_shut(delivery.agent)
        return opened

    def held(self, agent: str, since: datetime, until: datetime) -> timedelta:
        """Return how much of that time the agent was kept from beginning anything."""
        breaker = self._breakers.get(agent)
        held = self._pauses.within(since, until)
        return held if breaker is None else held + breaker.spells.within(since, until)

    def breakers(self) -> Mapping[str, BreakerState]:
        """Return the state of each agent's breaker; an agent that never failed has none."""
        now = self._clock()
        return {agent: breaker.state(now) for agent, breaker in self._breakers.items()}
