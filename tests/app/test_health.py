"""What `/readyz` and `/metrics` look up, on real backends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from hermes_bot.app.health import Health
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import Backend, Delivery, Policy
from hermes_bot.bus.sqlite import SqliteBackend
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.observe.metrics import Metrics
from hermes_bot.store.database import Database
from hermes_bot.store.journal import Journal
from tests.bus.harness import NEVER_S, FakeTime, blocking, until

STALE_AFTER_S = 600.0


class Waiting:
    """Approvals, counted."""

    async def count_waiting(self) -> int:
        return 2


class Rig:
    """A bus on a backend, its health, and a clock moved by hand."""

    def __init__(self, backend: Backend, time: FakeTime) -> None:
        self.time = time
        self.bus = Bus(backend, clock=time.clock, sleep=time.sleep)
        self.handler, self.go, self.begun = blocking()
        self.bus.subscribe("ticket.created", "entry", self.handler, Policy(concurrency=1, timeout_s=NEVER_S))
        self.health = Health(
            backend,
            Waiting(),
            Journal(Database("sqlite://"), clock=time.clock, keep_days=1, max_rows=1),
            Metrics(),
            stale_after_s=STALE_AFTER_S,
            clock=time.clock,
            paused_since=lambda: self.bus.paused_since,
            breakers=lambda: {agent: state.value for agent, state in self.bus.breakers().items()},
        )

    async def publish(self, id: str, context_id: str = "c1") -> None:
        await self.bus.publish(Message(id=id, type="ticket.created", sender="s", context_id=context_id))


@pytest.fixture(params=["memory", "sqlite"])
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    """A running bus."""
    time = FakeTime()
    if request.param == "memory":
        backend: Backend = MemoryBackend(clock=time.clock, sleep=time.sleep)
    else:
        backend = SqliteBackend(tmp_path / "bus.db", look_every_s=NEVER_S, clock=time.clock, sleep=time.sleep)
    made = Rig(backend, time)
    await made.bus.start()
    yield made
    made.go.set()
    await made.bus.stop(5)


async def test_a_message_past_its_deadline_is_named_until_it_ends(rig: Rig) -> None:
    await rig.publish("MSG-1")
    await until(lambda: bool(rig.begun))
    assert await rig.health.trouble() == ""
    rig.time.advance(STALE_AFTER_S + 1)

    told = await rig.health.trouble()
    assert told.startswith("without an end for more than 600 s: MSG-1 for entry (")
    rig.go.set()
    await rig.bus.drain(10)
    assert await rig.health.trouble() == ""


async def test_of_many_the_oldest_are_named(rig: Rig) -> None:
    for number in range(1, 6):
        await rig.publish(f"MSG-{number}")
        rig.time.advance(1)
    rig.time.advance(STALE_AFTER_S)

    told = await rig.health.trouble()
    assert told.index("MSG-1") < told.index("MSG-2") < told.index("MSG-3")
    assert told.endswith("and 2 more")


async def test_while_the_bus_is_paused_nothing_is_too_old(rig: Rig) -> None:
    await rig.bus.pause()
    await rig.publish("MSG-1")
    rig.time.advance(STALE_AFTER_S + 1)

    assert await rig.health.trouble() == ""
    assert rig.health.probes().paused()
    assert (await rig.health.look()).paused


async def test_queues_ages_and_dead_letters_are_looked_up(rig: Rig) -> None:
    async def refuse(_message: Message, _delivery: Delivery) -> Sequence[Message]:
        raise PermanentError("no")

    rig.bus.subscribe("ticket.order", "order", refuse)
    await rig.bus.publish(Message(type="ticket.order", sender="s", context_id="c2"))
    for number in range(3):
        await rig.publish(f"MSG-{number}")
    rig.time.advance(90)
    async with asyncio.timeout(60):
        while not (await rig.health.look()).dead_letters:  # noqa: ASYNC110 - settled in its own time
            await asyncio.sleep(0)

    look = await rig.health.look()
    assert look.queued == {"entry": 3, "order": 0}
    assert look.oldest_s == {"entry": 90.0}
    assert look.dead_letters == {("order", "dead"): 1}
    assert look.approvals_waiting == 2
    assert timedelta(seconds=look.oldest_s["entry"]) < timedelta(seconds=STALE_AFTER_S)


async def test_the_metrics_of_all_this_are_written(rig: Rig) -> None:
    await rig.publish("MSG-1")

    body, content_type = await rig.health.metrics()
    assert b'hermes_queue_size{agent="entry"} 1.0' in body
    assert content_type.startswith("text/plain")
