"""The edge behind the real bus: retries, order and copies, as they are in a running program."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime

import pytest
import pytest_asyncio

from hermes_bot.bus.bus import Bus
from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import FINAL_STATES, Delivery, Policy, State
from hermes_bot.messages.message import Message, utc_now
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.workspace.faults import Fault, RateLimited, ReplyLost, ServerError
from tests.edge.rig import Rig, reply_to

POST = "chat.postMessage"
FAST = Policy(concurrency=4, backoff_start_s=0.5, backoff_max_s=1.0, max_retries=8)
HASTE = 50


class Hasty:
    """A clock and a sleep for which time runs fifty times as fast."""

    def __init__(self) -> None:
        self._start = utc_now()

    def now(self) -> datetime:
        return self._start + (utc_now() - self._start) * HASTE

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / HASTE)


@pytest.fixture
def backend() -> MemoryBackend:
    time = Hasty()
    return MemoryBackend(clock=time.now, sleep=time.sleep)


@pytest_asyncio.fixture
async def bus(socket_rig: Rig, backend: MemoryBackend) -> AsyncIterator[Bus]:
    """A bus with the edge's handlers."""
    time, socket_rig.hurry = Hasty(), HASTE
    bus = Bus(backend, clock=time.now, sleep=time.sleep, random=lambda: 0.5)
    for type_, handler in socket_rig.edge.handlers().items():
        bus.subscribe(type_, "slack", handler, FAST)
    bus.subscribe("ticket.answered", "tickets", nothing, FAST)
    await bus.start()
    yield bus
    await bus.stop(2.0)


async def nothing(_message: Message, _delivery: Delivery) -> list[Message]:
    """Take a message of which nothing follows."""
    return []


async def shown(rig: Rig, ticket: Ticket, count: int) -> list[str]:
    """Return the replies in the ticket's thread once there are `count`."""
    await rig.server.workspace.wait_for(lambda: len(rig.thread(ticket.channel, ticket.thread_ts)) >= count)
    return [reply["text"] for reply in rig.thread(ticket.channel, ticket.thread_ts)]


@pytest.mark.parametrize("fault", [RateLimited(1), RateLimited(None), ReplyLost(), ServerError()])
async def test_ten_replies_of_a_thread_appear_once_and_in_order(
    socket_rig: Rig, bus: Bus, backend: MemoryBackend, fault: Fault
) -> None:
    ticket = await socket_rig.ticket()
    socket_rig.server.faults.add(method=POST, fault=fault, times=2)

    for number in range(10):
        await bus.publish(reply_to(ticket, f"reply {number}"))
    texts = await shown(socket_rig, ticket, 10)
    await bus.drain(10)

    assert texts == [f"reply {number}" for number in range(10)]
    assert socket_rig.server.faults.waiting() == 0
    assert await backend.find(states=tuple(FINAL_STATES - {State.DONE})) == []


async def test_one_published_twice_is_posted_once(socket_rig: Rig, bus: Bus) -> None:
    ticket = await socket_rig.ticket()
    message = reply_to(ticket, "hello")

    await bus.publish(message)
    await bus.publish(message)
    await bus.drain(10)

    assert await shown(socket_rig, ticket, 1) == ["hello"]
