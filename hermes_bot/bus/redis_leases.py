"""What this process holds of a redis bus: the workers that wait, the deliveries that they were given.

Redis is asked for as many deliveries as there are idle workers, never more, so that other processes get the rest.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from hermes_bot.bus.port import Delivery, State
from hermes_bot.bus.redis_link import Operation, Then
from hermes_bot.bus.redis_records import Record, unpacked

Key = tuple[str, str, int]
Submit = Callable[[Operation | Callable[[], Operation], Then | None], "asyncio.Future[Any]"]


def key_of(delivery: Delivery) -> Key:
    """Return what tells one lease from another: a later one of the same delivery is another attempt."""
    return (*delivery.key, delivery.attempt)


class Leases:
    """Hands deliveries to waiting workers. `submit(operation, then)` runs an operation in redis."""

    def __init__(self, submit: Submit) -> None:
        self._submit = submit
        self._records: dict[Key, Record] = {}
        self._waiting: defaultdict[str, deque[asyncio.Future[Delivery]]] = defaultdict(deque)
        self._asking: set[str] = set()
        self._ask_again: set[str] = set()

    async def lease(self, agent: str) -> Delivery:
        """Wait for and return the next delivery of `agent`."""
        future: asyncio.Future[Delivery] = asyncio.get_running_loop().create_future()
        self._waiting[agent].append(future)
        self.ask(agent)
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self._give_back(self.record(future.result()))
            future.cancel()
            raise

    def record(self, delivery: Delivery) -> Record:
        """Return what is held of `delivery`."""
        return self._records[key_of(delivery)]

    def forget(self, delivery: Delivery) -> None:
        """Hold `delivery` no longer."""
        self._records.pop(key_of(delivery), None)

    def ask(self, agent: str) -> None:
        """Ask redis for work for the idle workers of `agent`; one question at a time."""
        if agent in self._asking:
            self._ask_again.add(agent)
            return
        if not self._idle(agent):
            return
        self._asking.add(agent)
        asked: list[int] = []

        def operation() -> Operation:
            self._ask_again.discard(agent)
            asked.append(max(1, self._idle(agent)))
            return ["lease", agent, asked[-1]]

        question = self._submit(operation, lambda rows: self._leased(agent, rows, asked[-1]))
        question.add_done_callback(partial(self._answered, agent))

    def ask_all(self) -> None:
        """Ask for everybody who waits: a ring may have been lost."""
        for agent in list(self._waiting):
            self.ask(agent)

    def rung(self, agent: str) -> None:
        """Take a ring: there is work for `agent`. Where nobody here is idle, another process is rung."""
        if agent in self._asking or self._idle(agent):
            self.ask(agent)
        else:
            _unheeded(self._submit(["ring", agent], None))

    def agents(self) -> list[str]:
        """Return whose workers waited here."""
        return list(self._waiting)

    def held(self) -> list[list[str]]:
        """Return the leases as `extend` wants them: agent, band, entry, entry ..."""
        streams: dict[tuple[str, str], list[str]] = {}
        for record in self._records.values():
            band, entry = record.turn.split("/", 1)
            agent = record.delivery.agent
            streams.setdefault((agent, band), [agent, band]).append(entry)
        return list(streams.values())

    def reconcile(self) -> Sequence[Operation]:
        """Return what must be run first where an answer was lost: it may have held deliveries for this process."""
        return [["reconcile", [record.turn for record in self._records.values()]]]

    def clear(self) -> None:
        """Forget everything, as when the bus is closed."""
        self._records.clear()
        self._waiting.clear()
        self._asking.clear()

    def _idle(self, agent: str) -> int:
        waiting = self._waiting[agent]
        while waiting and waiting[0].done():
            waiting.popleft()
        return sum(not future.done() for future in waiting)

    def _leased(self, agent: str, rows: Sequence[Sequence[bytes]], asked: int) -> None:
        for row in rows:
            record = unpacked(row)
            delivery = replace(record.delivery, state=State.RUNNING)
            self._records[key_of(delivery)] = record
            if self._idle(agent):
                self._waiting[agent].popleft().set_result(delivery)
            else:
                self._give_back(record)
        if len(rows) == asked:
            self._ask_again.add(agent)

    def _answered(self, agent: str, question: asyncio.Future[Any]) -> None:
        """Ask again where more workers wait by now. After a failure the next look does it."""
        self._asking.discard(agent)
        again = agent in self._ask_again
        self._ask_again.discard(agent)
        if not question.cancelled() and question.exception() is None and again:
            self.ask(agent)

    def _give_back(self, record: Record) -> None:
        """Return what was leased for a worker that does not wait any more; no handler saw it."""
        operation = ["hand_back", record.number, record.turn, False]
        _unheeded(self._submit(operation, lambda _: self.forget(record.delivery)))


def _unheeded(future: asyncio.Future[Any]) -> None:
    """Let the failure pass: a lease that is not given back runs out."""
    future.add_done_callback(lambda done: done.cancelled() or done.exception())
