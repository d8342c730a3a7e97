"""The memory on PostgreSQL: what differs there is locks, ids and comparisons of times."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio

from hermes_bot.memory.board import Board
from hermes_bot.memory.endings import Endings
from hermes_bot.memory.fact import FactKind
from hermes_bot.memory.memory import Memory
from hermes_bot.memory.owner import Said
from hermes_bot.memory.retractions import Retractions
from hermes_bot.memory.upkeep import Upkeep
from hermes_bot.memory.window import Window
from hermes_bot.memory.working import WorkingMemory
from hermes_bot.store.database import Database
from hermes_bot.store.schema import migrate
from tests.memory.kit import EMMA, Clock, WordEncoder
from tests.memory.test_board_and_working import step
from tests.memory.test_endings import done, ticket
from tests.servers import Postgres


@pytest_asyncio.fixture
async def database(postgres: Postgres) -> AsyncIterator[Database]:
    database = Database(postgres.new_database())
    await database.open()
    await migrate(database)
    yield database
    await database.close()


async def test_facts_written_at_once_are_merged_recalled_and_indexed(database: Database, clock: Clock) -> None:
    encoder = WordEncoder()
    memory = Memory(database, encoder, clock=clock)
    upkeep = Upkeep(database, memory.index, encoder)

    async def keep(number: int) -> None:
        said = Said(by=EMMA, message_id=f"M{number}")
        carrier = ("DHL", "UPS", "GLS")[number % 3]
        await memory.remember(EMMA, f"Ship with {carrier}.", kind=FactKind.PREFERENCE, source=said, subject="carrier")
        await memory.remember(EMMA, f"I love item {number + 700}.", kind=FactKind.PREFERENCE, source=said)

    await asyncio.gather(*(keep(number) for number in range(12)))
    await upkeep.refresh()
    held = await memory.facts(EMMA)
    assert len(memory.index) == len(held) == 13
    assert sum(fact.subject == "carrier" for fact in held) == 1
    (best, *_) = await memory.recall(EMMA, "what about item 707?")
    assert best.fact.text == "I love item 707."


async def test_boards_windows_summaries_and_retractions(database: Database, clock: Clock) -> None:
    memory = Memory(database, WordEncoder(), clock=clock)
    board, working = Board(database, clock=clock), WorkingMemory(database, memory, clock=clock)
    await ticket(database, clock, 1, "solved")
    await done(database, clock)
    await asyncio.gather(
        *(board.write("T-2", {f"k{number}": number}, author="a", message_id=f"M{number}") for number in range(10))
    )
    await working.save("T-2", "order", Window().added(step("one")), message_id="M1")

    assert len(await board.history("T-2")) == 10
    assert (await board.read("T-2", message_id="M3")).get("k3") is None
    assert (await working.load("T-2", "order", message_id="M2")).entries == (step("one"),)
    assert [await Endings(database, memory).sum_up(), await Endings(database, memory).sum_up()] == [1, 0]
    assert await Retractions(database, clock=clock).take_back() == 0
    (found,) = await memory.recall(EMMA, "the lamp")
    assert found.fact.kind is FactKind.SUMMARY
