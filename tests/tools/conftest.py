import asyncio
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from hermes_bot.store.database import Database
from hermes_bot.tools.demo_shop import create_demo_shop
from hermes_bot.tools.order_book import OrderBook
from tests.servers import Postgres

TODAY = date(2026, 11, 30)
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/empty.db"
    server: Postgres = request.getfixturevalue("postgres")
    return server.new_database()


@pytest.fixture(scope="session")
def sqlite_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("shop") / "orders.db"
    asyncio.run(_fill(f"sqlite:///{file}"))
    return file


@pytest.fixture(scope="session")
def postgres_shop(postgres: Postgres) -> str:
    url = postgres.new_database()
    asyncio.run(_fill(url))
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def shop_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database with the demo shop, the test's own, once of each kind."""
    if request.param == "sqlite":
        file = shutil.copy(request.getfixturevalue("sqlite_shop"), tmp_path / "orders.db")
        return f"sqlite:///{file}"
    server: Postgres = request.getfixturevalue("postgres")
    return server.new_database(like=request.getfixturevalue("postgres_shop"))


@pytest.fixture
async def database(shop_url: str) -> AsyncIterator[Database]:
    database = Database(shop_url)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def book(database: Database) -> OrderBook:
    return OrderBook(database)


async def _fill(url: str) -> None:
    database = Database(url)
    await database.open()
    await create_demo_shop(database, TODAY)
    await database.close()
