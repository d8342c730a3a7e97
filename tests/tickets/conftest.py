from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hermes_bot.messages.payloads import Inbound
from hermes_bot.store.database import Database
from hermes_bot.store.schema import migrate
from hermes_bot.tickets.tickets import Tickets
from tests.servers import Postgres

START = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    url = f"sqlite:///{tmp_path}/hermes.db"
    if request.param == "postgresql":
        server: Postgres = request.getfixturevalue("postgres")
        url = server.new_database()
    database = Database(url)
    await database.open()
    await migrate(database)
    yield database
    await database.close()


@pytest.fixture
def tickets(database: Database, clock: Clock) -> Tickets:
    return Tickets(database, clock=clock, continue_window_s=900)


def inbound(
    text: str = "Where is my order?",
    *,
    user: str = "U0EMMA",
    channel: str = "C0SUPPORT",
    channel_type: str = "channel",
    ts: str = "1700000000.000100",
    thread_ts: str = "",
) -> Inbound:
    return Inbound(
        team="T0HERMES", channel=channel, channel_type=channel_type, ts=ts, user=user, text=text, thread_ts=thread_ts
    )
