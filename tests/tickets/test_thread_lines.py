"""The lines of a thread in the store, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hermes_bot.store.database import Database
from hermes_bot.store.schema import migrate
from hermes_bot.tickets.thread import ThreadLine, Writer
from hermes_bot.tickets.thread_lines import ThreadLines
from hermes_bot.tickets.tickets import Tickets
from tests.servers import Postgres
from tests.tickets.conftest import inbound

ROOT, FIRST, SECOND = "1700000000.000100", "1700000000.000200", "1700000001.000100"


def line(ts: str, text: str, *, root: bool = False) -> ThreadLine:
    return ThreadLine(ts=ts, user="U0LINA", writer=Writer.PERSON, text=text, root=root)


async def check(database: Database) -> None:
    tickets = Tickets(database, clock=lambda: datetime(2026, 11, 30, tzinfo=UTC), continue_window_s=900)
    lines, ids = ThreadLines.of(tickets), []
    for number, channel in enumerate(("C0SUPPORT", "C0SUPPORT", "C0OTHER")):
        said = inbound("help", ts=f"1700000009.00010{number}", thread_ts=ROOT, channel=channel, user=f"U{number}")
        located = await tickets.locate(said, context_id=f"T:{channel}", message_id=f"MSG-{number}", language="en")
        ids.append(located.ticket.id)
        await lines.keep(ids[-1], [line(SECOND, "Two"), line(FIRST, "One"), line(ROOT, "The parent", root=True)])

    assert [each.text for each in await lines.all(ids[0])] == ["The parent", "One", "Two"]
    assert await lines.all(ids[0]) == await lines.keep(ids[0], [line(FIRST, "Read again")])
    assert await lines.keep("T-99", []) == []
    assert await lines.edit("T0HERMES", "C0SUPPORT", FIRST, "long " * 8_000) == ids[:2]
    assert [len(each.text) for each in await lines.all(ids[0])] == [10, 2_000, 3]
    assert await lines.edit("T0HERMES", "C0SUPPORT", FIRST, "First") == ids[:2]
    assert await lines.delete("T0HERMES", "C0SUPPORT", SECOND) == ids[:2]
    assert await lines.delete("T0HERMES", "C0SUPPORT", SECOND) == []
    assert await lines.delete("T9OTHER", "C0SUPPORT", FIRST) == []
    assert await lines.delete("T0HERMES", "C0SUPPORT", "") == []
    assert [[each.text for each in await lines.all(ticket)] for ticket in ids] == [
        ["The parent", "First"],
        ["The parent", "First"],
        ["The parent", "One", "Two"],
    ]


async def test_lines_are_kept_once_in_order_and_changed_where_they_stand(database: Database) -> None:
    await check(database)


async def test_the_same_on_postgresql(postgres: Postgres) -> None:
    database = Database(postgres.new_database())
    await database.open()
    try:
        await migrate(database)
        await check(database)
    finally:
        await database.close()


@pytest.mark.parametrize("text, words", [("[file: 10023.png]", ""), ("Look\n[file: a.png]\nhere", "Look\nhere")])
def test_a_files_name_is_no_word(text: str, words: str) -> None:
    assert line(ROOT, text).words == words
