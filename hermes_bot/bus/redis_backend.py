"""The backend for many processes: Redis Streams with consumer groups, every step one redis function (redis_*.lua).

A process leases what it has idle workers for and holds its leases by extending them; what a dead process held is
put back by any other. Time is the server's. docs/redis.md tells how to run it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from hermes_bot.bus import redis_search
from hermes_bot.bus.erasure import Concerns, Erased
from hermes_bot.bus.port import ANY, Delivery, Obey, Settlement, State, Wanted, ignore_orders
from hermes_bot.bus.redis_bell import Bell
from hermes_bot.bus.redis_leases import Leases
from hermes_bot.bus.redis_link import ANSWER_LIMIT_S, Address, Link, Operation, Then
from hermes_bot.bus.redis_orders import OrdersBook
from hermes_bot.bus.redis_records import Packed, packed
from hermes_bot.bus.redis_server import check_server
from hermes_bot.bus.redis_sizes import Sizes, first_of
from hermes_bot.errors import PermanentError, StoreError
from hermes_bot.messages.message import Message, encode, utc_now

KEEP_S = 26 * 3600.0  # Slack repeats an event for up to 25 hours
LEASE_S = 30.0
POLL_S = 1.0
PURGE_EVERY_S = 3600.0
AT_ONCE = 200
RETRY_FOR_S = 5.0

logger = logging.getLogger(__name__)


class RedisBackend:
    """Keeps deliveries in redis under `prefix`; any number of processes may share them.

    A lease lasts `lease_s` and is extended while the handler runs. What cannot be written within `retry_for_s`
    raises StoreError; it may have been written all the same, and to write it again is safe. Finished deliveries are
    purged after `keep_s`, dead letters stay. `poll_s` is how long something may go unnoticed when a ring between
    processes was lost. With `server_time` False `clock` decides, which tests need.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "hermes",
        keep_s: float = KEEP_S,
        lease_s: float = LEASE_S,
        poll_s: float = POLL_S,
        retry_for_s: float = RETRY_FOR_S,
        answer_limit_s: float = ANSWER_LIMIT_S,
        server_time: bool = True,
        clock: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._address = Address(
            url=url,
            prefix=prefix,
            clock=None if server_time else lambda: clock().timestamp(),
            answer_limit_s=answer_limit_s,
        )
        self._consumer = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._keep_s = keep_s
        self._lease_s = lease_s
        self._poll_s = poll_s
        self._retry_for_s = retry_for_s
        self._clock = clock
        self._sleep = sleep
        self._sizes = Sizes(lambda agents: self._run("sizes", sorted(agents)), poll_s=poll_s, sleep=sleep)
        self._leases = Leases(self._submit)
        self._orders = OrdersBook(self._submit)
        self._ordered = asyncio.Event()
        self._rescheduled = asyncio.Event()
        self._publishing: Link | None = None
        self._working: Link | None = None

    async def open(self, obey: Obey = ignore_orders) -> None:
        """Connect, check the server and the version of what is kept there; nothing is leased yet."""
        await check_server(self._address)
        self._publishing = self._link(when_full=False)
        self._working = self._link(when_full=True)
        self._publishing.start("bus-publish")
        self._working.start("bus-work")
        await self._run("sizes", [])
        await self._orders.open(obey)

    async def close(self) -> None:
        """Say goodbye to the others and disconnect; what is unfinished stays in redis."""
        if self._working is None or self._publishing is None:
            return
        with contextlib.suppress(StoreError):
            await self._run("leave", self._leases.agents())
        await self._publishing.close()
        await self._working.close()
        self._publishing = self._working = None
        self._leases.clear()

    async def run(self) -> None:
        """Listen for new work, hold the leases, run the timers, recover, purge; until cancelled."""
        leases = self._leases
        bell = Bell(
            self._address,
            self._consumer,
            sleep=self._sleep,
            on_ring=leases.rung,
            on_orders=self._ordered.set,
            on_open=leases.ask_all,
        )
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(bell.run(), name="bus-bell")
            tasks.create_task(self._patiently(self._sizes.refresh), name="bus-sizes")
            tasks.create_task(self._patiently(self._timers), name="bus-timers")
            tasks.create_task(self._patiently(self._listen_to_orders), name="bus-orders")
            tasks.create_task(self._every(self._poll_s, self._look), name="bus-look")
            tasks.create_task(self._every(self._lease_s / 3, self._hold), name="bus-leases")
            tasks.create_task(self._every(PURGE_EVERY_S, self._purge), name="bus-purge")

    async def publish(self, deliveries: Sequence[Delivery]) -> Sequence[bool]:
        """Return, after redis has them, which deliveries were new."""
        new = [packed(delivery) for delivery in deliveries]
        agents = [delivery.agent for delivery in deliveries]
        if self._publishing is None:
            raise self._closed()
        self._sizes.expect(agents)
        try:
            added = await self._publishing.submit(["publish", new])
        finally:
            self._sizes.arrived(agents)
        self._reschedule(new)
        return [each == 1 for each in added]

    async def lease(self, agent: str) -> Delivery:
        """Wait for and return the next delivery of `agent`, as RUNNING; an outage of redis is waited out."""
        return await self._leases.lease(agent)

    async def settle(self, delivery: Delivery, settlement: Settlement) -> None:
        """Return after state, outputs and the end of the lease are written in one step.

        Where the lease was lost, because this process stood still for longer than it lasts, nothing is written: the
        delivery is another worker's by now.
        """
        outputs = [packed(output) for output in settlement.outputs]
        record = self._leases.record(delivery)
        retry_in_s = 0.0
        if settlement.retry_at is not None:
            retry_in_s = max(0.0, (settlement.retry_at - self._clock()).total_seconds())
        end = [settlement.state, settlement.error, retry_in_s, _json(settlement.result), outputs, settlement.postponed]
        operation = ["settle", record.number, record.turn, *end]
        if not await self._submit(operation, lambda _: self._leases.forget(delivery)):
            logger.error("a lease was lost before its end", extra={"message_id": delivery.message.id})
        self._reschedule(outputs, retried=settlement.retry_at is not None)

    async def hand_back(self, delivery: Delivery) -> None:
        """Put the delivery back; return when redis has it."""
        record = self._leases.record(delivery)
        operation = ["hand_back", record.number, record.turn, True]
        await self._submit(operation, lambda _: self._leases.forget(delivery))

    def queue_size(self, agent: str) -> int:
        """Return how many deliveries of `agent` are not in a final state, as known a moment ago."""
        return self._sizes.size(agent)

    def agents(self) -> Collection[str]:
        """Return the agents that have unfinished deliveries, as known a moment ago."""
        return self._sizes.agents()

    async def idle(self, agents: Collection[str]) -> None:
        """Wait until only delayed deliveries of `agents` are left, whichever process handles them."""
        await self._sizes.idle(agents)

    async def counts(self) -> Mapping[tuple[str, State], int]:
        """Return how many deliveries there are by (agent, state)."""
        async with self._reading() as call:
            return await redis_search.counts(call)

    async def oldest(self) -> Mapping[str, datetime]:
        """Return, by agent, since when the first delivery waits."""
        async with self._reading() as call:
            return await redis_search.oldest(call)

    async def find(
        self, *, states: Sequence[State] = (), message_id: str = "", wanted: Wanted = ANY, limit: int = 100
    ) -> Sequence[Delivery]:
        """Return matching deliveries, newest first."""
        async with self._reading() as call:
            return await redis_search.find(call, states, message_id, wanted, limit)

    async def requeue(self, message_id: str, subscription: str) -> bool:
        """Put a dead letter back in its queue; return whether there was one."""
        async with self._reading() as call:
            return bool(await call(["requeue", message_id, subscription]))

    async def drop(self, message_id: str, subscription: str) -> bool:
        """Turn a dead letter into cancelled; return whether there was one."""
        async with self._reading() as call:
            return bool(await call(["drop", message_id, subscription]))

    async def result(self, task: str, subscription: str) -> Message | None:
        """Return the result that the delivery was settled with, or None."""
        async with self._reading() as call:
            return await redis_search.result(call, task, subscription)

    async def erase(self, concerns: Concerns) -> Erased:
        """Take the words out of finished deliveries that concern; return how many, and how many are not finished."""
        async with self._reading() as call:
            return await redis_search.erase(call, concerns)

    async def cancel(self, context_id: str) -> int:
        """Turn what waits in the context into cancelled; return how many were."""
        async with self._reading() as call:
            cancelled: int = await call(["cancel", context_id])
        await self._read_orders()
        return cancelled

    async def pause(self, *, paused: bool) -> None:
        """Keep in redis whether nothing may be handled."""
        async with self._reading() as call:
            await call(["pause", paused])
        await self._read_orders()

    def _link(self, *, when_full: bool) -> Link:
        return Link(
            self._address,
            consumer=self._consumer,
            when_full=when_full,
            retry_for_s=self._retry_for_s,
            sleep=self._sleep,
            on_sizes=self._sizes.note,
            first=self._leases.reconcile if when_full else tuple,
        )

    def _submit(self, operation: Operation | Callable[[], Operation], then: Then | None = None) -> asyncio.Future[Any]:
        if self._working is None:
            raise self._closed()
        return self._working.submit(operation, then)

    async def _run(self, *operation: object) -> Any:
        return await self._submit(operation)

    @contextlib.asynccontextmanager
    async def _reading(self) -> AsyncIterator[redis_search.Call]:
        """Give what runs an operation; also on a bus that is not open, as commands use it."""
        if self._working is not None:
            yield self._submit
            return
        await check_server(self._address)
        link = self._link(when_full=True)
        link.start("bus-look")
        try:
            yield link.submit
        finally:
            await link.close()

    def _closed(self) -> StoreError:
        return StoreError(f"the bus at {self._address.shown} is not open")

    def _reschedule(self, added: Sequence[Packed], *, retried: bool = False) -> None:
        """Have the timers look anew where something was put off."""
        if retried or any(not_before for _, _, not_before in added):
            self._rescheduled.set()

    async def _timers(self) -> None:
        """Move what is due, then sleep until the next is, or until this process puts something off."""
        while True:
            self._rescheduled.clear()
            due_in_ms = await self._run("promote", AT_ONCE)
            wait_s = self._poll_s if due_in_ms < 0 else min(self._poll_s, due_in_ms / 1000)
            await first_of(self._rescheduled.wait(), self._sleep(wait_s))

    async def _look(self) -> None:
        """Look for what a lost ring, or a lost order, would have told."""
        self._leases.ask_all()
        self._ordered.set()
        await self._run("sizes", [])

    async def _listen_to_orders(self) -> None:
        while True:
            await self._ordered.wait()
            self._ordered.clear()
            await self._orders.read()

    async def _read_orders(self) -> None:
        if self._working is not None:
            await self._orders.read()

    async def _hold(self) -> None:
        """Extend the leases of this process; put back what nobody extended."""
        if held := self._leases.held():
            await self._run("extend", held)
        if recovered := await self._run("recover", int(self._lease_s * 1000), AT_ONCE):
            logger.warning("deliveries of a dead worker are tried again", extra={"deliveries": recovered})

    async def _purge(self) -> None:
        while await self._run("purge", self._keep_s, AT_ONCE) == AT_ONCE:
            pass

    async def _every(self, seconds: float, duty: Callable[[], Awaitable[None]]) -> None:
        async def again() -> None:
            while True:
                await duty()
                await self._sleep(seconds)

        await self._patiently(again)

    async def _patiently(self, duty: Callable[[], Awaitable[None]]) -> None:
        """Run the duty for ever; while redis is away, begin it again after a pause."""
        while True:
            try:
                await duty()
            except StoreError:
                logger.exception("upkeep of the bus in redis failed, trying again")
                await self._sleep(min(self._poll_s, RETRY_FOR_S))


def _json(result: Message | None) -> str:
    """Return the message as JSON, empty for none; raise PermanentError where it cannot be stored."""
    try:
        return "" if result is None else encode(result).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise PermanentError(f"a result cannot be stored: {error}") from error
