from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.store.database import Database
from hermes_bot.store.schema import migrate
from tests.approvals.kit import APPROVERS, Clock, People, approvals_in, desk_for


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def people() -> People:
    return People()


@pytest.fixture(params=["sqlite", "postgresql"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/both.db"
    address: str = request.getfixturevalue("postgres").new_database()
    return address


@pytest_asyncio.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(f"sqlite:///{tmp_path}/hermes.db")
    await database.open()
    await migrate(database)
    yield database
    await database.close()


@pytest_asyncio.fixture
async def either(both: str) -> AsyncIterator[Database]:
    """A database with our tables, of each kind."""
    database = Database(both)
    await database.open()
    await migrate(database)
    yield database
    await database.close()


@pytest.fixture
def approvals(database: Database, clock: Clock) -> Approvals:
    return approvals_in(database, clock)


@pytest.fixture
def desk(approvals: Approvals, people: People) -> ApprovalDesk:
    return desk_for(approvals, people, APPROVERS)
