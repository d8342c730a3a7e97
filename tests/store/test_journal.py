"""The journal, on real SQLite and on real PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hermes_bot.errors import TransientError
from hermes_bot.observe.records import Make, Record, RecordKind
from hermes_bot.store.database import Database
from hermes_bot.store.journal import MOST_WAITING, Journal
from tests.stores import opened, sqlite_with_tables

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LIMIT_S = 30


@pytest.fixture
def database(either: Database) -> Database:
    """A store with our tables, of each kind."""
    return either


def journal_of(database: Database, **options: Any) -> Journal:
    given: dict[str, Any] = {"clock": lambda: NOW, "keep_days": 30, "max_rows": 1000}
    return Journal(database, **given | options)


def record(message_id: str = "MSG-1", **fields: Any) -> Record:
    given: dict[str, Any] = {
        "kind": RecordKind.ATTEMPT,
        "started_at": NOW,
        "duration_ms": 1.5,
        "outcome": "done",
        "trace_id": "t1",
        "outputs": (("MSG-1-1", "ticket.order"),),
    }
    return Record(message_id=message_id, **given | fields)


def maker(made: Record) -> Make:
    return lambda: made


async def test_what_was_added_is_read_back_whole_by_message_and_by_trace(database: Database) -> None:
    journal = journal_of(database)
    first = record(agent="entry", bytes_in=10, tokens_in=3, cost_usd=0.25)
    other = record("MSG-2", trace_id="t2", kind=RecordKind.TOOL, name="find_order", level="L0")
    for each in (first, other):
        journal.add(maker(each))
    await journal.flush()

    assert await journal.of(message_ids=["MSG-1"]) == [first]
    assert await journal.of(trace_ids=["t2"]) == [other]
    assert await journal.of(message_ids=["MSG-1"], trace_ids=["t2"]) == [first, other]
    assert await journal.of() == []


async def test_it_is_written_by_itself_and_once_more_at_the_end(database: Database) -> None:
    loop, taken = asyncio.get_running_loop(), asyncio.Event()
    journal = journal_of(database, flush_every_s=0.01, sink=lambda _: loop.call_soon_threadsafe(taken.set))
    running = asyncio.create_task(journal.run(), name="journal")
    journal.add(maker(record("MSG-1")))
    async with asyncio.timeout(LIMIT_S):
        await taken.wait()
        await journal.flush()  # waits for the one that runs
    assert len(await journal.of(message_ids=["MSG-1"])) == 1
    running.cancel()
    await asyncio.wait({running})
    journal.add(maker(record("MSG-2")))
    await journal.close()

    assert len(await journal.of(message_ids=["MSG-2"])) == 1


async def test_old_rows_and_those_beyond_the_limit_are_deleted(database: Database) -> None:
    journal = journal_of(database, max_rows=2)
    journal.add(maker(record("MSG-0", started_at=NOW - timedelta(days=31))))
    for number in range(1, 5):
        journal.add(maker(record(f"MSG-{number}")))
    await journal.flush()

    assert await journal.trim() == 3
    kept = await journal.of(message_ids=[f"MSG-{number}" for number in range(5)])
    assert [each.message_id for each in kept] == ["MSG-3", "MSG-4"]


async def test_odd_and_long_text_is_made_to_fit(database: Database) -> None:
    journal = journal_of(database)
    journal.add(maker(record(type="x" * 5000, error="a\0b")))
    await journal.flush()

    (kept,) = await journal.of(message_ids=["MSG-1"])
    assert (len(kept.type), kept.error) == (120, "ab")


async def test_a_row_that_is_refused_does_not_stop_those_after_it(tmp_path: Path) -> None:
    async with opened(sqlite_with_tables(tmp_path / "hermes.db")) as database:
        journal = journal_of(database)
        journal.add(maker(record(bytes_in=None)))
        await journal.flush()
        journal.add(maker(record("MSG-2")))
        await journal.flush()

        assert journal.lost == 1
        assert len(await journal.of(message_ids=["MSG-2"])) == 1


async def test_while_the_database_is_away_records_wait_and_beyond_the_limit_they_are_counted() -> None:
    class Away(Database):
        away = True
        rows = 0

        async def run(self, work: Any) -> Any:
            if self.away:
                raise TransientError("away")
            self.rows += 1

    database = Away("sqlite://")
    shown: list[int] = []

    def sink(records: Sequence[Record]) -> None:
        shown.append(len(records))

    journal = journal_of(database, sink=sink)
    for _ in range(MOST_WAITING + 5):
        journal.add(maker(record()))
    with pytest.raises(TransientError):
        await journal.flush()
    database.away = False
    await journal.flush()

    assert journal.lost == 5
    assert sum(shown) == MOST_WAITING
