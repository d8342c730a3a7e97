"""The bus: takes messages, finds who gets them, and owns the workers that handle them.

What happens to one delivery stands in `deliverer`, who gets what in `router`, where it is kept in a backend.
"""

from __future__ import annotations

import asyncio
import logging
import random as random_module
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic

from hermes_bot.bus.attempts import Attempts
from hermes_bot.bus.breaker import BreakerState
from hermes_bot.bus.deliverer import STORE_PAUSE_S, Deliverer, OnAlarm, OnFailure, OnHop
from hermes_bot.bus.gate import Gate
from hermes_bot.bus.guards import GuardLimits, Guards
from hermes_bot.bus.port import Backend, Delivery, Handler, Orders, Policy, Subscription
from hermes_bot.bus.router import Router
from hermes_bot.bus.scheduler import Scheduler
from hermes_bot.bus.stamp import answer_again
from hermes_bot.bus.waits import WaitRules, Waits
from hermes_bot.errors import BusFull, BusStopped, PermanentError, StoreError, Unroutable
from hermes_bot.messages.message import Kind, Message, new_message_id, utc_now

ROOM_POLL_S = 0.02
LONGEST_ROOM_POLL_S = 0.2
GATE_POLL_S = 0.2
YIELD_EVERY = 16  # deliveries a worker handles before others on the loop get a turn, should no handler ever wait

logger = logging.getLogger(__name__)


@dataclass(kw_only=True)
class _Crew:
    """The tasks of a running bus: all in `group`, which `supervisor` holds. A worker is leasing, busy or on a pause."""

    group: asyncio.TaskGroup | None = None
    supervisor: asyncio.Task[None] | None = None
    upkeep: asyncio.Task[None] | None = None
    workers: dict[str, list[asyncio.Task[None]]] = field(default_factory=dict)
    leasing: set[asyncio.Task[None]] = field(default_factory=set)
    recalled: set[asyncio.Task[None]] = field(default_factory=set)
    busy: set[asyncio.Task[None]] = field(default_factory=set)


class Bus:
    """Publishes, delivers, settles; see docs/bus.md for what it promises.

    `clock` gives aware UTC, `random` 0..1. `on_hop(delivery, state, outputs, seconds)` is told of every settled
    attempt. `on_failure(delivery, error)` returns what to send when a delivery ends dead, expired or suspended;
    that is committed together with this state. `on_alarm(alarm)` is told what a person should know of at once.
    `staffed` names the agents that are run here, where other processes share the backend; None is all.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        clock: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = random_module.random,
        publish_wait_s: float = 5.0,
        waits: WaitRules = WaitRules(),  # noqa: B008 - frozen
        guards: GuardLimits = GuardLimits(),  # noqa: B008 - frozen
        scheduler: Scheduler | None = None,
        staffed: Collection[str] | None = None,
        on_hop: OnHop | None = None,
        on_failure: OnFailure | None = None,
        on_alarm: OnAlarm | None = None,
    ) -> None:
        self._backend = backend
        self._clock = clock
        self._sleep = sleep
        self._publish_wait_s = publish_wait_s
        self._staffed = staffed
        self._router = Router(queue_size=backend.queue_size, scheduler=scheduler)
        self._gate = Gate(clock, self._router.policy, self._recall)
        self._attempts = Attempts()
        self._deliverer = Deliverer(
            backend=backend,
            router=self._router,
            clock=clock,
            sleep=sleep,
            random=random,
            attempts=self._attempts,
            gate=self._gate,
            guards=Guards(guards),
            waits=Waits(waits, self._gate.held),
            on_hop=on_hop,
            on_failure=on_failure,
            on_alarm=on_alarm,
        )
        self._open = False
        self._crew = _Crew()

    @property
    def running(self) -> bool:
        """Whether messages are taken; false before `start`, from `stop` on, and after a breakdown (logged)."""
        return self._open

    @property
    def paused_since(self) -> datetime | None:
        """Since when nothing is handled, or None."""
        return self._gate.paused_since

    @property
    def agents(self) -> Collection[str]:
        """The agents that have subscriptions, also those that are run elsewhere."""
        return self._router.agents()

    def breakers(self) -> Mapping[str, BreakerState]:
        """Return the state of each agent's circuit breaker; an agent that never failed is not in it."""
        return self._gate.breakers()

    def subscribe(
        self,
        pattern: str,
        agent: str,
        handler: Handler,
        policy: Policy = Policy(),  # noqa: B008 - frozen
        *,
        capability: str = "",
        match: float = 1.0,
        include: Collection[str] | None = None,
    ) -> None:
        """Bind the topic pattern to the agent's handler, also while running; the same pair again replaces it.

        An agent has one pool of workers for all its subscriptions, as large as the largest `concurrency` of them.
        Of several that share a pattern and a `capability`, the scheduler chooses one for each message. `include` names
        the fields of `data` that the handler is shown; None is all.
        """
        self._router.add(
            Subscription(
                name=f"{agent}:{pattern}",
                pattern=pattern,
                agent=agent,
                handler=handler,
                policy=policy,
                capability=capability,
                match=match,
                include=None if include is None else frozenset(include),
            )
        )
        if self._crew.group is not None and self._open:
            self._staff(agent)

    def unsubscribe(self, agent: str, pattern: str) -> None:
        """Stop new deliveries for that subscription; what is queued already is still handled."""
        self._router.remove(pattern, agent)

    async def start(self) -> None:
        """Open the backend and start the workers; raise StoreError where the storage cannot be used."""
        await self._backend.open(self._obey)
        for agent in sorted(set(self._backend.agents()) - self._router.agents()):
            logger.warning("messages wait for an agent without a subscription", extra={"agent": agent})
        started = asyncio.Event()
        self._open = True
        self._crew.supervisor = asyncio.create_task(self._supervise(started), name="bus")
        self._crew.supervisor.add_done_callback(self._supervisor_ended)
        await started.wait()

    async def publish(self, message: Message) -> None:
        """Return when the message is durable for every subscription that matches; a known task is dropped.

        A request whose task is known and done is answered again with the stored result. Raise Unroutable where none
        matches, BusFull after a bounded wait, BusStopped, or StoreError.
        """
        if not self._open:
            raise BusStopped("the bus is not running")
        if not message.id:
            raise PermanentError(
                f"{message.type}: a message to publish needs an id; only a handler's outputs have none"
            )
        deliveries = self._router.expand(message, self._clock())
        if any(self._full(delivery) for delivery in deliveries):
            await self._wait_for_room(deliveries)
            if not self._open:
                raise BusStopped("the bus stopped meanwhile")
        added = await self._backend.publish(deliveries)
        if message.kind is Kind.REQUEST and not all(added):
            await self._answer_again(deliveries)

    async def cancel(self, context_id: str) -> int:
        """Cancel what waits and what runs in the context, in every process; return how much that was as known here."""
        running = self._attempts.running(context_id)
        return running + await self._backend.cancel(context_id)

    async def pause(self) -> None:
        """Begin no handler any more, in any process and over restarts, until `resume`; messages are taken and kept."""
        await self._backend.pause(paused=True)

    async def resume(self) -> None:
        """End the pause."""
        await self._backend.pause(paused=False)

    async def drain(self, limit_s: float) -> None:
        """Wait until every delivery that can finish has; those delayed into the future do not count, paused ones do.

        Raise TimeoutError when the limit passes first.
        """
        async with asyncio.timeout(limit_s):
            await self._backend.idle(self._router.agents())

    async def stop(self, limit_s: float) -> None:
        """Lease no more, give running handlers the limit, cancel and hand back the rest, close the backend."""
        if self._crew.supervisor is None:
            return
        self._open = False
        try:
            workers = {worker for pool in self._crew.workers.values() for worker in pool}
            _cancel(workers - self._crew.busy)
            if self._crew.busy:
                await asyncio.wait(set(self._crew.busy), timeout=limit_s)
            _cancel(workers)
            if self._crew.upkeep is not None:
                self._crew.upkeep.cancel()
            await self._crew.supervisor
        finally:
            self._crew = _Crew()
            await self._backend.close()

    async def _supervise(self, started: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            self._crew.group = group
            self._crew.upkeep = group.create_task(self._backend.run(), name="bus-upkeep")
            for agent in sorted(self._router.agents()):
                self._staff(agent)
            started.set()

    def _supervisor_ended(self, supervisor: asyncio.Task[None]) -> None:
        self._open = False
        if not supervisor.cancelled() and supervisor.exception() is not None:
            logger.critical("the bus broke down", exc_info=supervisor.exception())

    def _staff(self, agent: str) -> None:
        """Give the agent the workers that its policy asks for, if it is run here."""
        if self._staffed is not None and agent not in self._staffed:
            return
        assert self._crew.group is not None  # noqa: S101 - called while running only
        pool = self._crew.workers.setdefault(agent, [])
        while len(pool) < self._router.concurrency(agent):
            pool.append(self._crew.group.create_task(self._work(agent), name=f"{agent}-{len(pool) + 1}"))

    async def _work(self, agent: str) -> None:
        me = asyncio.current_task()
        assert me is not None  # noqa: S101 - a coroutine runs in a task
        handled = 0
        while self._open:
            delivery = await self._next(agent, me)
            if delivery is None:
                continue
            self._crew.busy.add(me)
            try:
                await self._deliverer.deliver(delivery)
            finally:
                self._crew.busy.discard(me)
            handled += 1
            if handled % YIELD_EVERY == 0:
                await asyncio.sleep(0)

    async def _next(self, agent: str, me: asyncio.Task[None]) -> Delivery | None:
        """Wait for the agent's next delivery; None after a while behind the gate, or when the store does not answer."""
        if not self._gate.admit(agent):
            await self._sleep(GATE_POLL_S)
            return None
        pause_s = GATE_POLL_S
        self._crew.leasing.add(me)
        try:
            return await self._backend.lease(agent)
        except StoreError:
            self._gate.release(agent)
            logger.exception("cannot lease, trying again", extra={"agent": agent})
            pause_s = STORE_PAUSE_S
        except asyncio.CancelledError:
            self._gate.release(agent)
            if me not in self._crew.recalled or me.uncancel():  # the latter: it is to stop as well
                raise
        finally:
            self._crew.leasing.discard(me)
            self._crew.recalled.discard(me)
        await self._sleep(pause_s)
        return None

    def _recall(self, agent: str) -> None:
        """The gate has shut: who waits for a delivery goes back to it, for an empty name all workers."""
        crew = self._crew
        waiting = crew.leasing.intersection(crew.workers.get(agent, ())) if agent else set(crew.leasing)
        crew.recalled |= waiting
        _cancel(waiting)

    def _obey(self, orders: Orders) -> None:
        self._gate.pause(orders.paused_since)
        self._attempts.cancel(orders.cancelled)

    async def _answer_again(self, deliveries: Sequence[Delivery]) -> None:
        """Send the stored results of a request's deliveries to who repeats it; an unfinished one will answer itself."""
        for delivery in deliveries:
            result = await self._backend.result(*delivery.key)
            if result is None:
                continue
            try:
                again = answer_again(delivery.message, result, new_message_id())
                await self._backend.publish(self._router.expand(again, self._clock()))
            except Unroutable as error:
                logger.warning("%s", error, extra={"message_id": delivery.message.id})

    async def _wait_for_room(self, deliveries: Sequence[Delivery]) -> None:
        waited_s, pause_s, began_s = 0.0, ROOM_POLL_S, monotonic()
        for delivery in deliveries:
            while self._open and self._full(delivery):
                if waited_s >= self._publish_wait_s:
                    raise BusFull(delivery.agent, self._backend.queue_size(delivery.agent))
                await self._sleep(pause_s)
                waited_s = max(waited_s + pause_s, monotonic() - began_s)  # a busy loop sleeps longer than it was asked
                pause_s = min(pause_s * 2, LONGEST_ROOM_POLL_S)  # thousands who wait must not keep it busy

    def _full(self, delivery: Delivery) -> bool:
        subscription = self._router.subscription(delivery)
        limit = subscription.policy.max_queue_size if subscription else 0
        return self._backend.queue_size(delivery.agent) >= limit


def _cancel(tasks: set[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
