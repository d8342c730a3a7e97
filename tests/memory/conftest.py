from pathlib import Path

import pytest

from hermes_bot.memory.memory import Memory
from hermes_bot.store.database import Database
from tests.memory.kit import Clock, WordEncoder


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(database: Database, clock: Clock, tmp_path: Path) -> Memory:
    return Memory(database, WordEncoder(), clock=clock, index_path=tmp_path / "memory" / "facts.faiss")
