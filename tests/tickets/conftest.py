from datetime import UTC, datetime, timedelta

import pytest

from hermes_bot.messages.payloads import Inbound
from hermes_bot.store.database import Database
from hermes_bot.tickets.tickets import Tickets

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


@pytest.fixture
def database(either: Database) -> Database:
    """Each kind of database in turn."""
    return either


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
