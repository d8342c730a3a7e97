"""Every table: which of its columns may hold somebody's words, and that these go when the person is forgotten."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import JSON, Boolean, Connection, DateTime, Float, Integer, LargeBinary, Table, insert, select

from hermes_bot.memory import erasing
from hermes_bot.memory.fact import FactKind
from hermes_bot.memory.memory import Memory
from hermes_bot.memory.owner import PersonOwner, Said
from hermes_bot.store import tables as t
from hermes_bot.store.columns import UtcDateTime
from hermes_bot.store.database import Database
from hermes_bot.store.rewriting import rewrite
from hermes_bot.store.schema import migrate
from tests.memory.kit import EMMA, LI, Clock, WordEncoder
from tests.servers import Postgres

WITHOUT_WORDS = {
    "tickets": {
        "opened_by", "context_id", "team", "channel", "channel_type", "thread_ts", "requester", "language", "status",
        "owner", "route", "agent", "assignee", "ownership_message_id", "priority", "rating", "returned_by", "held_by",
        "hold_id", "suggest_to",
    },
    "ticket_messages": {"message_id", "ts", "state"},
    "ticket_journal": {"message_id", "by", "what"},
    "runs": {"ticket_id", "agent", "message_id"},
    "approvals": {
        "id", "key", "ticket_id", "context_id", "agent", "tool", "level", "shown_hash", "requested_by", "trace_id",
        "status", "settled_by", "settle_message_id", "source_ts", "work_type", "edited_by", "cause",
        "fingerprint",
    },
    "approval_votes": {"approval_id", "user", "message_id"},
    "approval_questions": {"message_id", "approval_id", "ticket_id", "asked_by", "answer_message_id"},
    "audit": {"key", "action", "subject", "ticket_id", "actor", "team", "facts", "texts", "previous", "hash"},
    "posts": {"key", "channel", "ts"},
    "journal": {
        "kind", "outcome", "message_id", "trace_id", "context_id", "type", "sender", "agent", "subscription", "outputs",
        "name", "level",
    },
    "route_proposals": {
        "key", "ticket_id", "route_was", "route", "language", "suggested_by", "status", "settled_by", "settle_key",
    },
    "routing_changes": {"key", "by", "file", "digest"},
    "tool_calls": {"key", "tool", "level", "agent", "ticket_id", "digest", "status"},
    "model_usage": {"day", "ticket_id", "agent", "message_id", "model"},
    "forgotten_facts": set(),
    "memory_versions": {"name"},
}  # fmt: skip
"""Columns that stay: ids, names of ours, states, hashes. A table that loses its rows is not here."""


def words_of(table: Table) -> set[str]:
    """Return the columns that could hold words."""
    plain = (Integer, Float, Boolean, DateTime, UtcDateTime)
    return {column.name for column in table.columns if not isinstance(column.type, plain)}


def erased() -> dict[str, set[str] | None]:
    """Return what is erased, by table: the columns, None for whole rows."""
    blanks = [(each.table.name, each.blank) for each in erasing.ERASED]
    blanks += [(each.table.name, each.blank) for each in erasing.BY_MESSAGE]
    found = {name: None if blank is None else {*blank} for name, blank in blanks}
    return found | {"facts": None, "fact_vectors": None}


@pytest.mark.parametrize("name", sorted(t.metadata.tables))
def test_every_column_of_every_table_is_erased_or_holds_no_words(name: str) -> None:
    columns, gone = words_of(t.metadata.tables[name]), erased().get(name, set())

    if gone is not None:
        assert not columns - gone - WITHOUT_WORDS.get(name, set()), (
            "say in hermes_bot/memory/erasing.py what happens to it when a person is forgotten, "
            "or here that it never holds anybody's words"
        )


def row_for(table: Table, number: int, mark: str, now: datetime) -> dict[str, Any]:
    """Return a row of person `number` in which the mark stands wherever words may stand."""
    keys = {"ticket_number": number, "ticket_id": f"T-{number}", "proposal": number, "approval_id": f"A{number}"}
    keys |= {"message_id": f"M{number}-1", "team": "T1", "requester": f"U{number}", "owner": f"U{number}"}
    keys |= {"context_id": f"T1:C1:{number}", "status": "pending", "user": f"U{number}"}
    row: dict[str, Any] = {}
    for column in table.columns:
        kind, stays = column.type, column.name in WITHOUT_WORDS.get(table.name, set())
        if column.name in keys:
            row[column.name] = keys[column.name]
        elif column.primary_key and not isinstance(kind, Integer):
            row[column.name] = f"M{number}-2"
        elif isinstance(kind, UtcDateTime):
            row[column.name] = now
        elif isinstance(kind, Boolean):
            row[column.name] = False
        elif isinstance(kind, Integer | Float):
            row[column.name] = number
        elif isinstance(kind, JSON):
            row[column.name] = {"x": f"{number}" if stays else mark}
        elif isinstance(kind, LargeBinary):
            row[column.name] = mark.encode()
        else:
            row[column.name] = f"{number}"[:8] if stays else mark
    return row


def plant(connection: Connection, number: int, mark: str, now: datetime) -> None:
    for table in t.metadata.sorted_tables:
        if table.name not in ("facts", "fact_vectors", "memory_versions", "audit", "forgotten_facts"):
            row = row_for(table, number, mark, now)
            if table.name == "tickets":
                row |= {"opened_by": f"M{number}", "owner": "bot"}
            if table.name == "vouched_people":
                row |= {"id": f"U{number}"}
            if table.name == "ticket_messages":
                row |= {"message_id": f"M{number}"}
            connection.execute(insert(table).values(row))


def dump(connection: Connection) -> dict[str, str]:
    """Return all that stands in each table."""
    return {table.name: repr(connection.execute(select(table)).all()) for table in t.metadata.sorted_tables}


def marked(tables: dict[str, str], mark: str) -> dict[str, int]:
    """Return how often the mark stands in each table in which it does."""
    return {name: text.count(mark) for name, text in tables.items() if mark in text}


async def check(database: Database, clock: Clock) -> None:
    """Forget one of two people whose words stand everywhere."""
    memory = Memory(database, WordEncoder(), clock=clock)
    for number, person in ((1, PersonOwner("T1", "U1")), (2, PersonOwner("T1", "U2"))):
        await database.run(lambda connection, number=number: plant(connection, number, f"mark{number}x", clock()))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        said = Said(by=person, message_id=f"M{number}")
        await memory.remember(person, f"I like mark{number}x.", kind=FactKind.PREFERENCE, source=said)
    before = await database.run(dump)
    assert marked(before, "mark1x") == marked(before, "mark2x")
    scope = await database.run(lambda connection: erasing.scope_of(connection, PersonOwner("T1", "U1")))

    counts = await database.run(lambda connection: erasing.erase(connection, scope, clock()))
    again = await database.run(lambda connection: erasing.erase(connection, scope, clock()))
    after = await database.run(dump)
    assert marked(after, "mark1x") == {}
    assert marked(after, "mark2x") == marked(before, "mark2x")
    assert set(counts) >= {"facts", "tickets", "ticket_messages", "approvals", "runs", "boards", "journal"}
    assert again == {}
    rows = await database.run(
        lambda connection: connection.execute(
            select(t.tickets.c.number, t.tickets.c.status).order_by(t.tickets.c.number)
        ).all()
    )
    assert [tuple(row) for row in rows] == [(1, "pending"), (2, "pending")]


async def test_a_forgotten_persons_words_leave_every_table_and_nobody_elses_do(
    database: Database, clock: Clock
) -> None:
    await check(database, clock)


async def test_the_same_on_postgresql(postgres: Postgres, clock: Clock) -> None:
    database = Database(postgres.new_database())
    await database.open()
    try:
        await migrate(database)
        await check(database, clock)
    finally:
        await database.close()


async def test_nothing_deleted_is_left_in_the_file_or_its_log(database: Database, tmp_path: Path, clock: Clock) -> None:
    memory = Memory(database, WordEncoder(), clock=clock)
    for number in range(300):  # so many that pages are split
        for person in (EMMA, LI):
            text = f"I like {person.user} thing{number} " + "x" * (number % 90)
            said = Said(by=person, message_id=f"M{number}")
            await memory.remember(person, text, kind=FactKind.PREFERENCE, source=said)
    with closing(sqlite3.connect(tmp_path / "hermes.db")) as reader:  # another process that has it open
        reader.execute("SELECT count(*) FROM facts").fetchone()
        await memory.forget(EMMA)
        await asyncio.to_thread(rewrite, tmp_path / "hermes.db")

    names = ("hermes.db", "hermes.db-wal", "hermes.db-shm")
    left = b"".join([(tmp_path / name).read_bytes() for name in names])
    assert b"U0EMMA thing" not in left
    assert b"U0LI thing" in left
    assert len(await memory.facts(LI)) == 300


async def test_what_was_deleted_before_anybody_took_care_is_gone_as_well(tmp_path: Path) -> None:
    file = tmp_path / "old.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("CREATE TABLE words (text TEXT)")
        connection.executemany("INSERT INTO words VALUES (?)", [("secretword " * 50,) for _ in range(100)])
        connection.execute("DELETE FROM words")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert b"secretword" in await asyncio.to_thread(file.read_bytes)

        await asyncio.to_thread(rewrite, file)
        assert b"secretword" not in await asyncio.to_thread(file.read_bytes)


async def test_the_people_of_an_id_are_told_apart_by_their_teams(database: Database, clock: Clock) -> None:
    memory = Memory(database, WordEncoder(), clock=clock)
    for team in ("T2", "T1"):
        person = PersonOwner(team, "U1")
        await memory.remember(person, "I like tea.", kind=FactKind.PREFERENCE, source=Said(by=person))

    found = await database.run(lambda connection: erasing.persons_called(connection, "U1"))
    assert found == [PersonOwner("T1", "U1"), PersonOwner("T2", "U1")]
