"""The default backend: a sqlite file as the durable log, the in-process lane queue in front of it.

Only one process may lease from a file, so order and waiting live in memory; the file is what survives. A delivery is
handed to a worker only after its row is committed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from hermes_bot.bus import rows
from hermes_bot.bus.lanes import LaneQueue
from hermes_bot.bus.port import ANY, Delivery, Obey, Orders, Settlement, State, Wanted, ignore_orders
from hermes_bot.bus.schema import LeaseLock, as_store_error, connect, prepare
from hermes_bot.bus.writer import Change, Result, Writer
from hermes_bot.errors import StoreError
from hermes_bot.messages.message import Message, utc_now

KEEP_S = 7 * 24 * 3600.0
PURGE_EVERY_S = 3600.0
PURGE_AT_ONCE = 500
LOOK_EVERY_S = 0.5

logger = logging.getLogger(__name__)


class SqliteBackend:
    """Keeps deliveries in `path`. `synchronous` FULL survives a power cut, NORMAL a crash of the process only.

    Finished deliveries are purged after `keep_s`; dead letters stay until they are dropped or replayed.
    """

    def __init__(
        self,
        path: Path,
        *,
        synchronous: Literal["FULL", "NORMAL"] = "FULL",
        keep_s: float = KEEP_S,
        look_every_s: float = LOOK_EVERY_S,
        clock: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._path = path
        self._synchronous = synchronous
        self._keep = timedelta(seconds=keep_s)
        self._look_every_s = look_every_s
        self._clock = clock
        self._sleep = sleep
        self._lanes = LaneQueue(clock=clock, sleep=sleep)
        self._lock = LeaseLock(path)
        self._incoming: Counter[str] = Counter()
        self._running: set[tuple[str, str]] = set()
        self._seen_version = 0
        self._paused_since: datetime | None = None
        self._obey: Obey = ignore_orders
        self._open_writer: Writer | None = None

    async def open(self, obey: Obey = ignore_orders) -> None:
        """Take the lock, check and migrate the file, queue what an earlier process left unfinished."""
        with as_store_error(self._path), contextlib.ExitStack() as undo:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.take()
            undo.callback(self._lock.release)
            connection = connect(self._path, synchronous=self._synchronous)
            undo.callback(connection.close)
            prepare(connection, self._path)
            left = self._recover(connection)
            undo.pop_all()
        self._obey = obey
        self._obey(Orders(paused_since=self._paused_since))
        self._lanes = LaneQueue(clock=self._clock, sleep=self._sleep)
        self._running.clear()
        for delivery, retry_at in left:
            if retry_at is None:
                self._lanes.put(delivery)
            else:
                self._lanes.put_head(delivery, retry_at)
        self._open_writer = Writer(connection, self._path)

    async def close(self) -> None:
        """Write what was submitted, close the file, free the lock."""
        if self._open_writer is not None:
            await self._open_writer.close()
            self._open_writer = None
        self._lock.release()

    async def run(self) -> None:
        """Run the timers, look for what commands changed in the file, purge; until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._lanes.run(), name="bus-lanes")
            tasks.create_task(self._every(self._look_every_s, self._look_outside), name="bus-look")
            tasks.create_task(self._every(PURGE_EVERY_S, self._purge), name="bus-purge")

    async def publish(self, deliveries: Sequence[Delivery]) -> Sequence[bool]:
        """Return, after the commit, which deliveries were new."""
        new = [rows.new_row(delivery) for delivery in deliveries]
        agents = [delivery.agent for delivery in deliveries]
        self._incoming.update(agents)
        try:
            return await self._writer.submit(lambda c: rows.insert(c, new), partial(self._queue_new, deliveries))
        finally:
            self._incoming.subtract(agents)

    async def lease(self, agent: str) -> Delivery:
        """Wait for and return the next delivery of `agent`, as RUNNING.

        That an attempt began is written without waiting for the disk, and not at all when it ends before the writer
        comes to it. One that was begun before does wait: a message that kills the process must run out of attempts.
        """
        delivery = replace(await self._lanes.get(agent), state=State.RUNNING)
        self._running.add(delivery.key)
        try:
            if delivery.redelivered:
                await self._writer.submit(lambda c: self._mark(c, delivery))
            else:
                self._writer.post(lambda c: self._mark(c, delivery))
        except (asyncio.CancelledError, StoreError):
            self._running.discard(delivery.key)
            self._lanes.give_back(replace(delivery, state=State.QUEUED))
            raise
        return delivery

    async def settle(self, delivery: Delivery, settlement: Settlement) -> None:
        """Return after the state and the outputs are committed together; then the lane is free."""
        new = [rows.new_row(output) for output in settlement.outputs]
        self._running.discard(delivery.key)
        now = self._clock()

        def then(added: list[bool]) -> None:
            self._queue_new(settlement.outputs, added)
            if settlement.retry_at is None:
                self._lanes.done(delivery)
            else:
                attempt = delivery.attempt + (not settlement.postponed)
                again = replace(delivery, attempt=attempt, redelivered=True, error=settlement.error)
                self._lanes.retry(again, settlement.retry_at)

        await self._writer.submit(lambda c: rows.settle(c, delivery, settlement, new, now), then)

    async def result(self, task: str, subscription: str) -> Message | None:
        """Return the result that the delivery was settled with, or None."""
        return await self._read(lambda c: rows.result(c, task, subscription))

    async def hand_back(self, delivery: Delivery) -> None:
        """Queue the delivery again, first in its lane; return when that is durable."""
        self._running.discard(delivery.key)
        again = replace(delivery, state=State.QUEUED, redelivered=True, queued_at=self._clock())
        await self._writer.submit(lambda c: rows.hand_back(c, again), lambda _: self._lanes.give_back(again))

    def queue_size(self, agent: str) -> int:
        """Return how many deliveries of `agent` are not in a final state, those being written included."""
        return self._lanes.size(agent) + self._incoming[agent]

    def agents(self) -> Collection[str]:
        """Return the agents that have unfinished deliveries."""
        return self._lanes.agents()

    async def idle(self, agents: Collection[str]) -> None:
        """Wait until only delayed deliveries of `agents` are left."""
        await self._lanes.idle(agents)

    async def counts(self) -> Mapping[tuple[str, State], int]:
        """Return how many deliveries there are by (agent, state)."""
        return await self._read(rows.counts)

    async def oldest(self) -> Mapping[str, datetime]:
        """Return, by agent, since when the first delivery waits."""
        return await self._read(rows.oldest)

    async def find(
        self, *, states: Sequence[State] = (), message_id: str = "", wanted: Wanted = ANY, limit: int = 100
    ) -> Sequence[Delivery]:
        """Return matching deliveries, newest first."""
        return await self._read(lambda c: rows.find(c, states, message_id, limit, wanted))

    async def requeue(self, message_id: str, subscription: str) -> bool:
        """Put a dead letter back in its queue; return whether there was one."""
        now = self._clock()

        def change(connection: sqlite3.Connection) -> list[Delivery]:
            found = rows.requeue(connection, message_id, subscription, now, outside=False)
            return [found] if found else []

        queued = await self._writer.submit(change, self._queue)
        return bool(queued)

    async def drop(self, message_id: str, subscription: str) -> bool:
        """Turn a dead letter into cancelled; return whether there was one."""
        now = self._clock()
        return await self._writer.submit(lambda c: rows.drop(c, message_id, subscription, now))

    async def cancel(self, context_id: str) -> int:
        """Turn what waits in the context into cancelled; return how many were."""
        return await self._cancel(context_id, self._clock(), outside=False)

    async def pause(self, *, paused: bool) -> None:
        """Keep in the file whether nothing may be handled."""
        now = self._clock()

        def change(connection: sqlite3.Connection) -> datetime | None:
            rows.set_paused(connection, now, paused=paused)
            return rows.paused_since(connection)

        await self._writer.submit(change, self._tell_pause)

    @property
    def _writer(self) -> Writer:
        if self._open_writer is None:
            raise StoreError(f"bus database {self._path} is not open")
        return self._open_writer

    def _recover(self, connection: sqlite3.Connection) -> list[tuple[Delivery, datetime | None]]:
        """Return what an earlier process left unfinished, with the time of a pending retry."""
        connection.execute("BEGIN IMMEDIATE")
        rows.cancel_left(connection, self._clock())
        self._paused_since = rows.take_outside(connection).paused_since
        connection.execute("COMMIT")
        return rows.unfinished(connection)

    async def _cancel(self, context_id: str, at: datetime, *, outside: bool) -> int:
        waiting = [each for each in self._lanes.waiting(context_id) if each.queued_at <= at]

        def change(connection: sqlite3.Connection) -> int:
            if not outside:
                rows.order_cancellation(connection, context_id, at, outside=False)
            return rows.cancel(connection, waiting, self._clock())

        def then(_number: int) -> None:
            self._lanes.discard(waiting)
            self._obey(Orders(paused_since=self._paused_since, cancelled={context_id: at}))

        return await self._writer.submit(change, then)

    def _tell_pause(self, since: datetime | None) -> None:
        if since != self._paused_since:
            self._paused_since = since
            self._obey(Orders(paused_since=since))

    def _queue(self, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            self._lanes.put(delivery)

    def _queue_new(self, deliveries: Sequence[Delivery], added: Sequence[bool]) -> None:
        self._queue(tuple(compress(deliveries, added)))

    def _mark(self, connection: sqlite3.Connection, delivery: Delivery) -> None:
        if delivery.key in self._running:
            rows.mark_running(connection, delivery)

    async def _read(self, query: Change[Result]) -> Result:
        """Run the query on a connection of its own, off the loop; the writer is not held up."""
        return await asyncio.to_thread(self._read_now, query)

    def _read_now(self, query: Change[Result]) -> Result:
        with as_store_error(self._path), contextlib.closing(connect(self._path)) as connection:
            return query(connection)

    async def _every(self, seconds: float, duty: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await duty()
            except StoreError:
                logger.exception("upkeep of the bus database failed, trying again later")
            await self._sleep(seconds)

    async def _look_outside(self) -> None:
        """Do what commands ask for. `data_version` changes only with commits of other connections."""
        news = await self._writer.submit(self._changed_outside, self._hear)
        for context_id, at in news.cancelled.items() if news else ():
            await self._cancel(context_id, at, outside=True)

    def _hear(self, news: rows.News | None) -> None:
        if news is not None:
            self._queue(news.requeued)
            self._tell_pause(news.paused_since)

    def _changed_outside(self, connection: sqlite3.Connection) -> rows.News | None:
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if version == self._seen_version:
            return None
        self._seen_version = version
        return rows.take_outside(connection)

    async def _purge(self) -> None:
        before = self._clock() - self._keep
        await self._writer.submit(lambda c: rows.forget_cancellations(c, before))
        old = await self._read(lambda c: rows.finished_before(c, before))
        for start in range(0, len(old), PURGE_AT_ONCE):
            some = old[start : start + PURGE_AT_ONCE]
            await self._writer.submit(lambda c, some=some: rows.delete(c, some))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
