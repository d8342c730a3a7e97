"""Stores with our tables, copies of one that was migrated once: a copy takes a thirtieth of the time."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from hermes_bot.store.database import Database
from hermes_bot.store.schema import migrate
from tests.servers import Postgres


def sqlite_with_tables(file: Path) -> str:
    """Return the URL of the file; where there is none yet, it is made with our tables."""
    if not file.exists():
        file.write_bytes(_sqlite())
    return f"sqlite:///{file}"


def postgres_with_tables(server: Postgres) -> str:
    """Return the URL of a new database with our tables."""
    return server.new_database(like=_postgres(server))


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    """Open the database while the block runs."""
    database = Database(url)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


@cache
def _sqlite() -> bytes:
    with tempfile.TemporaryDirectory(prefix="hermes-tables-") as folder:
        file = Path(folder) / "hermes.db"
        _migrate(f"sqlite:///{file}")
        return file.read_bytes()


@cache
def _postgres(server: Postgres) -> str:
    url = server.new_database()
    _migrate(url)
    return url


def _migrate(url: str) -> None:
    async def migrated() -> None:
        async with opened(url) as database:
            await migrate(database)

    with ThreadPoolExecutor(1) as aside:  # whoever asks may run in an event loop
        aside.submit(lambda: asyncio.run(migrated())).result()
