import contextlib
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import Backend
from hermes_bot.bus.redis_backend import RedisBackend
from hermes_bot.bus.sqlite import SqliteBackend
from tests.bus.harness import NEVER_S, FakeTime, Harness
from tests.dead_letters import fail_on_dead_letters
from tests.servers import Redis, running_redis


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Redis]:
    with running_redis() as server:
        yield server


def redis_on_fake_time(server: Redis, time: FakeTime, *, prefix: str = "") -> RedisBackend:
    """Return a bus of its own in the server, where nothing happens by the real clock."""
    return RedisBackend(
        server.url,
        prefix=prefix or f"t{uuid.uuid4().hex}",
        lease_s=NEVER_S,
        poll_s=NEVER_S,
        server_time=False,
        clock=time.clock,
        sleep=time.sleep,
    )


@pytest.fixture(params=["memory", "sqlite", "redis"])
async def harness(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Harness]:
    """A bus on each backend, not started. A dead letter of an agent not in `expected_dead` fails the test."""

    def new_backend(time: FakeTime) -> Backend:
        if request.param == "redis":
            server = request.getfixturevalue("redis_server")
            return redis_on_fake_time(server, time)
        if request.param == "memory":
            return MemoryBackend(clock=time.clock, sleep=time.sleep)
        return SqliteBackend(tmp_path / "bus.db", look_every_s=NEVER_S, clock=time.clock, sleep=time.sleep)

    harness = Harness(new_backend)
    async with contextlib.AsyncExitStack() as undo:
        undo.push_async_callback(lambda: harness.bus.stop(1))
        yield harness
        await fail_on_dead_letters(harness.backend, harness.expected_dead)
