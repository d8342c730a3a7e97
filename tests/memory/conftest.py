from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.memory.memory import Memory
from hermes_bot.store.database import Database
from hermes_bot.store.schema import migrate
from tests.memory.kit import Clock, WordEncoder


@pytest_asyncio.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(f"sqlite:///{tmp_path / 'hermes.db'}")
    await database.open()
    await migrate(database)
    yield database
    await database.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(database: Database, clock: Clock, tmp_path: Path) -> Memory:
    return Memory(database, WordEncoder(), clock=clock, index_path=tmp_path / "memory" / "facts.faiss")
