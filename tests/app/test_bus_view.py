"""What commands see and change beside a running bot: in a sqlite file, and on a redis that many processes share."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from hermes_bot.app.bus_view import BackendView, BusView, FileView
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.inspect import BusFile
from hermes_bot.bus.port import Backend, Delivery, State, Wanted
from hermes_bot.bus.redis_backend import RedisBackend
from hermes_bot.bus.sqlite import SqliteBackend
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from tests.servers import Redis

LIMIT_S = 60.0


class Rig:
    """A running bus whose handler fails at first, and a view of it from outside."""

    def __init__(self, backend: Backend) -> None:
        self.bus = Bus(backend)
        self.view: BusView
        self.handled: list[str] = []
        self.fails = True
        self.bus.subscribe("ticket.created", "entry", self._handle)

    async def _handle(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        if self.fails:
            raise PermanentError("no")
        self.handled.append(message.id)
        return []

    async def publish(self, id: str) -> None:
        await self.bus.publish(Message(id=id, type="ticket.created", sender="s", context_id=id))

    async def until_handled(self, *ids: str) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not set(ids) <= set(self.handled):  # noqa: ASYNC110 - the bus has no event for it
                await asyncio.sleep(0.01)


@pytest.fixture(params=["sqlite", "redis"])
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    """A running bus and its view."""
    if request.param == "sqlite":
        made = Rig(SqliteBackend(tmp_path / "bus.db"))
        await made.bus.start()
        file = BusFile(tmp_path / "bus.db")
        made.view = FileView(file)
        yield made
        file.close()
    else:
        server: Redis = request.getfixturevalue("redis_server")
        prefix = uuid.uuid4().hex
        made = Rig(RedisBackend(server.url, prefix=prefix))
        await made.bus.start()
        made.view = view = BackendView(RedisBackend(server.url, prefix=prefix))
        yield made
        await view.close()
    await made.bus.stop(2)


async def test_what_is_there_is_counted_and_found(rig: Rig) -> None:
    await rig.publish("MSG-1")
    await rig.bus.drain(LIMIT_S)

    assert await rig.view.counts() == {("entry", State.DEAD): 1}
    (found,) = await rig.view.find(states=[State.DEAD], wanted=Wanted(type="ticket.created"))
    assert found.message.id == "MSG-1"
    assert await rig.view.oldest() == {}


async def test_a_dead_letter_that_is_replayed_from_outside_is_handled(rig: Rig) -> None:
    await rig.publish("MSG-1")
    await rig.bus.drain(LIMIT_S)
    rig.fails = False

    assert await rig.view.requeue("MSG-1", "entry:ticket.created")
    await rig.until_handled("MSG-1")
    assert not await rig.view.requeue("MSG-1", "entry:ticket.created")


async def test_a_dead_letter_is_dropped_from_outside(rig: Rig) -> None:
    await rig.publish("MSG-1")
    await rig.bus.drain(LIMIT_S)

    assert await rig.view.drop("MSG-1", "entry:ticket.created")
    assert await rig.view.counts() == {("entry", State.CANCELLED): 1}


async def test_a_pause_from_outside_is_obeyed_by_the_running_bus_and_ends_so(rig: Rig) -> None:
    rig.fails = False
    assert await rig.view.paused_since() is None
    await rig.view.pause(paused=True)
    async with asyncio.timeout(LIMIT_S):
        while rig.bus.paused_since is None:  # noqa: ASYNC110 - the bus has no event for it
            await asyncio.sleep(0.01)
    await rig.publish("MSG-1")
    assert await rig.view.oldest() != {}
    assert rig.handled == []

    await rig.view.pause(paused=False)
    await rig.until_handled("MSG-1")
    assert await rig.view.paused_since() is None
