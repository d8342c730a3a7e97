"""How long a message may wait before its first start, and what becomes of one that waited longer.

Between agents a message is worth nothing after a while: it expires. What a person wrote, or is to read, or decides on,
must not vanish like that: when it is stale it is not executed silently late, somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hermes_bot.bus.port import Delivery
from hermes_bot.bus.stamp import comes_from_failure
from hermes_bot.bus.topics import Topics

DEFAULT_TTL_S = 120.0
STALE_AFTER_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitRules:
    """The limits, and as data what they hold for. A `ttl_s` in the message itself goes before all of this.

    `edges` are the agents through which people write and read, `lasting` types that people decide on, and those in
    which what they wrote is put off: they never expire, nor does what comes from outside the bus; they become stale.
    `always` are types that call a person, and those by which a task or a run goes on: late is better than never.
    """

    ttl_s: float | None = DEFAULT_TTL_S
    stale_after_s: float | None = STALE_AFTER_S
    edges: frozenset[str] = frozenset({"slack"})
    lasting: tuple[str, ...] = ("approval.#", "ticket.gathered", "ticket.edited", "ticket.deleted")
    always: tuple[str, ...] = ("handoff.#", "ticket.failed", "task.result", "task.error", "task.due", "agent.step")


@dataclass(frozen=True, slots=True)
class Overdue:
    """Why a delivery is too late; `stale` when a person must hear of it."""

    reason: str
    stale: bool


@dataclass(frozen=True, slots=True)
class Waits:
    """Applies the rules. `held(agent, since, until)` is the time that does not count for a TTL."""

    rules: WaitRules
    held: Callable[[str, datetime, datetime], timedelta]
    _types: Topics[str] = field(default_factory=Topics)
    _shortest: timedelta = field(init=False)

    def __post_init__(self) -> None:
        limits = [limit for limit in (self.rules.ttl_s, self.rules.stale_after_s) if limit is not None]
        object.__setattr__(self, "_shortest", timedelta(seconds=min(limits)) if limits else timedelta.max)
        for value, patterns in (("lasting", self.rules.lasting), ("always", self.rules.always)):
            for pattern in patterns:
                self._types.add(pattern, value)

    def overdue(self, delivery: Delivery, now: datetime) -> Overdue | None:
        """Return why the delivery is too late for its first start, or None."""
        if delivery.attempt > 1 or not self._may_be_late(delivery, now):
            return None
        message, since = delivery.message, delivery.waits_since
        kinds = self._types.match(message.type)
        if message.ttl_s is None and ("always" in kinds or comes_from_failure(message)):
            return None
        edges = self.rules.edges
        lasts = not message.hops or message.sender in edges or delivery.agent in edges or "lasting" in kinds
        if message.ttl_s is None and lasts:
            limit_s = self.rules.stale_after_s
            if limit_s is None or now - since <= timedelta(seconds=limit_s):
                return None
            return Overdue(f"waited longer than {limit_s:g} s; a person decides", stale=True)
        limit_s = self.rules.ttl_s if message.ttl_s is None else message.ttl_s
        if limit_s is None or now - since - self.held(delivery.agent, since, now) <= timedelta(seconds=limit_s):
            return None
        return Overdue(f"not started within {limit_s:g} s", stale=False)

    def _may_be_late(self, delivery: Delivery, now: datetime) -> bool:
        """Return false, cheaply, for what has hardly waited."""
        return delivery.message.ttl_s is not None or now - delivery.queued_at > self._shortest
