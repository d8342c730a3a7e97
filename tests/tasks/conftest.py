import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import Backend
from hermes_bot.bus.sqlite import SqliteBackend
from hermes_bot.store.database import Database
from tests.bus.harness import NEVER_S, FakeTime, Harness
from tests.dead_letters import fail_on_dead_letters
from tests.tasks.office import Office, OfficeTime


@pytest.fixture(params=["memory", "sqlite"])
async def office(request: pytest.FixtureRequest, tmp_path: Path, database: Database) -> AsyncIterator[Office]:
    """An agent `boss` that delegates, and a bus on each backend. An unexpected dead letter fails."""

    def new_backend(time: FakeTime) -> Backend:
        if request.param == "memory":
            return MemoryBackend(clock=time.clock, sleep=time.sleep)
        return SqliteBackend(tmp_path / "bus.db", look_every_s=NEVER_S, clock=time.clock, sleep=time.sleep)

    office = Office(Harness(new_backend, time=OfficeTime()), database)
    async with contextlib.AsyncExitStack() as undo:
        undo.push_async_callback(lambda: office.harness.bus.stop(1))
        await office.harness.bus.start()
        yield office
        await fail_on_dead_letters(office.harness.backend, office.harness.expected_dead)
