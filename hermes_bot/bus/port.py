"""The words of the bus: delivery, states, policy, subscription, and the port that a backend fills.

A backend keeps deliveries and hands them out; everything that is a decision (matching, retries, limits, dead
letters) stands in `hermes_bot.bus.bus`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

import msgspec

from hermes_bot.messages.message import Message, utc_now


class State(StrEnum):
    """Where a delivery is. Each reaches exactly one final state."""

    QUEUED = "queued"
    RUNNING = "running"
    RETRYING = "retrying"
    DONE = "done"
    DEAD = "dead"
    EXPIRED = "expired"
    SUSPENDED = "suspended"
    CANCELLED = "cancelled"


class AlarmKind(StrEnum):
    """What an alarm is about."""

    GUARD = "guard"
    BREAKER = "breaker"
    STALE = "stale"


FINAL_STATES = frozenset({State.DONE, State.DEAD, State.EXPIRED, State.SUSPENDED, State.CANCELLED})
DEAD_LETTERS = frozenset({State.DEAD, State.EXPIRED, State.SUSPENDED})


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """One message for one subscription. (A msgspec struct because every hop makes three of them.)

    `attempt` counts from 1. `redelivered` is true when an earlier attempt may have run part of the way: a handler
    with an effect outside the bus then looks for its own trace before it acts. `branch` goes into the ids of the
    outputs when the message matched several subscriptions. `queued_at` starts the clock of `ttl_s` and of ageing.
    """

    message: Message
    subscription: str
    agent: str
    attempt: int = 1
    redelivered: bool = False
    state: State = State.QUEUED
    error: str = ""
    branch: str = ""
    queued_at: datetime = msgspec.field(default_factory=utc_now)
    updated_at: datetime | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What makes a delivery the same as another: (task, subscription)."""
        return (self.message.task_id or self.message.id, self.subscription)

    @property
    def waits_since(self) -> datetime:
        """When it joined its queue; a delayed one joins at its `not_before`."""
        return max(self.queued_at, self.message.not_before or self.queued_at)

    @property
    def lane(self) -> tuple[str, str]:
        """What keeps deliveries in order: (context, agent)."""
        return (self.message.context_id, self.agent)


Handler = Callable[[Message, Delivery], Awaitable[Sequence[Message]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How an agent's deliveries are run. Seconds throughout.

    `failure_threshold` and `reset_timeout_s` are those of its circuit breaker.
    """

    concurrency: int = 3
    timeout_s: float = 30.0
    max_retries: int = 3
    backoff_start_s: float = 2.0
    backoff_max_s: float = 30.0
    max_queue_size: int = 10_000
    max_hops: int = 10
    failure_threshold: int = 3
    reset_timeout_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A binding of a topic pattern to an agent's handler. `name` is unique: `<agent>:<pattern>`.

    With a `capability` it is one of several that share the pattern: each message goes to one of them, and `match`
    (0..1) says how well this one fits. `include` names the fields of `data` that the handler sees; None is all.
    """

    name: str
    pattern: str
    agent: str
    handler: Handler
    policy: Policy = field(default_factory=Policy)
    capability: str = ""
    match: float = 1.0
    include: frozenset[str] | None = None


class Settlement(msgspec.Struct, frozen=True, kw_only=True):
    """What ends an attempt, committed whole: the state, the handler's outputs as new deliveries, the error.

    For RETRYING, `retry_at` says when (aware UTC) and `outputs` is empty; `postponed` when its turn had not come, so
    that the attempt does not count. `result` is what a request was answered with; it is kept as long as the record of
    the delivery.
    """

    state: State
    outputs: tuple[Delivery, ...] = ()
    error: str = ""
    retry_at: datetime | None = None
    result: Message | None = None
    postponed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What every process that works on a bus is told: since when it is paused, and which contexts were cancelled.

    `cancelled` (context to time) holds only what no earlier orders held. A delivery counts that was queued by then.
    """

    paused_since: datetime | None = None
    cancelled: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """Something that a person should know of: a guard that was tripped, a breaker that opened, a stale message."""

    kind: AlarmKind
    agent: str
    text: str
    context_id: str = ""
    message_id: str = ""
    trace_id: str = ""


Obey = Callable[[Orders], None]


def ignore_orders(_orders: Orders) -> None:
    """Do nothing; for a backend whose deliveries nobody handles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which deliveries are looked for; what is empty does not matter.

    `chain` is a message's id: that message and all that followed from it. `queued_before` counts from when the
    delivery joined its queue, a delayed one from its `not_before`.
    """

    chain: str = ""
    type: str = ""
    agent: str = ""
    queued_before: datetime | None = None

    def accepts(self, delivery: Delivery) -> bool:
        """Return whether the delivery is looked for."""
        message = delivery.message
        if self.chain and message.id != self.chain and not message.id.startswith(f"{self.chain}-"):
            return False
        if self.queued_before is not None and delivery.waits_since >= self.queued_before:
            return False
        return self.type in {"", message.type} and self.agent in {"", delivery.agent}


ANY = Wanted()


class Backend(Protocol):
    """Keeps deliveries. All methods are called from one event loop; any may raise StoreError."""

    async def open(self, obey: Obey = ignore_orders) -> None:
        """Take hold of the storage; deliveries left unfinished come back as queued and `redelivered`.

        `obey` is called on the loop before this returns and, while `run` runs, within a second of every change,
        whichever process made it.
        """
        ...

    async def close(self) -> None:
        """Give the storage back; what is unfinished stays there."""
        ...

    async def run(self) -> None:
        """Do the recurring work (timers, purging) until cancelled; the bus runs this in a task that it owns."""
        ...

    async def publish(self, deliveries: Sequence[Delivery]) -> Sequence[bool]:
        """Return, when all are durable, which were new; one whose (task, subscription) is known is not added again.

        Raise PermanentError for a message that cannot be stored.
        """
        ...

    async def lease(self, agent: str) -> Delivery:
        """Wait for and return the next delivery of `agent` that is due and whose lane is free, as RUNNING.

        A lane is (context, agent): in publish order, one at a time, held until `settle`, also over a retry. A
        message with `not_before` joins its lane at that time.
        """
        ...

    async def settle(self, delivery: Delivery, settlement: Settlement) -> None:
        """Commit the settlement in one step and free the lane unless it is retried.

        Raise PermanentError, with nothing changed, when an output cannot be stored.
        """
        ...

    async def hand_back(self, delivery: Delivery) -> None:
        """Return a leased delivery unfinished, to be leased again, as `redelivered`; no attempt is counted."""
        ...

    def queue_size(self, agent: str) -> int:
        """Return how many deliveries of `agent` are not in a final state."""
        ...

    def agents(self) -> Collection[str]:
        """Return the agents that have deliveries which are not in a final state."""
        ...

    async def idle(self, agents: Collection[str]) -> None:
        """Wait until no delivery of `agents` is queued, running or retrying; delayed ones do not count."""
        ...

    async def counts(self) -> Mapping[tuple[str, State], int]:
        """Return how many deliveries there are by (agent, state)."""
        ...

    async def oldest(self) -> Mapping[str, datetime]:
        """Return, by agent, since when the delivery waits that has waited longest of those in no final state."""
        ...

    async def find(
        self, *, states: Sequence[State] = (), message_id: str = "", wanted: Wanted = ANY, limit: int = 100
    ) -> Sequence[Delivery]:
        """Return deliveries that match all that is given, newest first."""
        ...

    async def requeue(self, message_id: str, subscription: str) -> bool:
        """Put a dead, expired or suspended delivery back in its queue, as attempt 1; return whether there was one."""
        ...

    async def drop(self, message_id: str, subscription: str) -> bool:
        """Turn a dead, expired or suspended delivery into cancelled; return whether there was one."""
        ...

    async def result(self, task: str, subscription: str) -> Message | None:
        """Return the `result` that the delivery was settled with, or None."""
        ...

    async def cancel(self, context_id: str) -> int:
        """Turn what waits in the context, delayed and retrying included, into cancelled; return how many were.

        Who runs a delivery of it right now hears of it through `obey` and settles it. A crash before that does not
        bring it back.
        """
        ...

    async def pause(self, *, paused: bool) -> None:
        """Keep, durably, that nothing may be handled, or that it may again; `obey` carries it to every process."""
        ...
