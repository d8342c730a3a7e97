"""The index beside SQL: rebuilt when it is no good, late without being wrong, the same for every process."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import faiss
import pytest

from hermes_bot.memory import index_file
from hermes_bot.memory.fact import FactKind
from hermes_bot.memory.memory import Memory
from hermes_bot.memory.owner import PersonOwner, Said
from hermes_bot.memory.upkeep import Upkeep
from hermes_bot.store.database import Database
from tests.memory.kit import EMMA, LI, Clock, WordEncoder

TEXTS = [
    "I like green tea.",
    "The zipper of the jacket is broken.",
    "My size is large.",
    "Please leave parcels outside.",
]


async def fill(memory: Memory, owner: PersonOwner = EMMA) -> None:
    for number, text in enumerate(TEXTS):
        said = Said(by=owner, message_id=f"M{number}")
        await memory.remember(owner, text, kind=FactKind.PREFERENCE, source=said)


def process(database: Database, clock: Clock, path: Path, encoder: WordEncoder | None = None) -> tuple[Memory, Upkeep]:
    """Return the memory of one process; each has an index of its own, and all share the database and the file."""
    encoder = encoder or WordEncoder()
    memory = Memory(database, encoder, clock=clock, index_path=path)
    return memory, Upkeep(database, memory.index, encoder)


async def best(memory: Memory, query: str = "the broken zipper of my jacket") -> str:
    (first, *_) = await memory.recall(EMMA, query)
    return first.fact.text


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "facts.faiss"


def cut(content: bytes) -> bytes:
    return content[:-100]


def flipped(content: bytes) -> bytes:
    return content[:-200] + bytes([content[-200] ^ 1]) + content[-199:]


@pytest.mark.parametrize("damage", [cut, flipped, lambda _: b"", lambda _: b"HRMSFAISS1\n{", lambda _: b"\x00" * 4096])
async def test_a_damaged_file_is_built_anew_and_recall_goes_on_meanwhile(
    database: Database, clock: Clock, file: Path, damage: Callable[[bytes], bytes]
) -> None:
    memory, upkeep = process(database, clock, file)
    await fill(memory)
    await upkeep.refresh()
    await asyncio.to_thread(lambda: file.write_bytes(damage(file.read_bytes())))
    again, care = process(database, clock, file)

    assert not again.index.load()
    assert await best(again) == TEXTS[1]  # from SQL
    await care.refresh()
    assert len(again.index) == len(TEXTS)
    assert await best(again) == TEXTS[1]
    header = index_file.read_header(file)
    assert header is not None
    assert header.size == len(TEXTS)


async def test_a_missing_file_is_built_anew(database: Database, clock: Clock, file: Path) -> None:
    memory, upkeep = process(database, clock, file)
    await fill(memory)
    await upkeep.refresh()
    await asyncio.to_thread(file.unlink)

    _, care = process(database, clock, file)
    await care.refresh()
    assert index_file.read_header(file) is not None


async def test_a_good_file_is_taken_over_as_it_is(database: Database, clock: Clock, file: Path) -> None:
    memory, upkeep = process(database, clock, file)
    await fill(memory)
    await upkeep.refresh()

    again, _ = process(database, clock, file)
    assert again.index.load()
    assert (len(again.index), again.index.version) == (len(TEXTS), memory.index.version)


async def test_another_encoder_encodes_everything_anew(database: Database, clock: Clock, file: Path) -> None:
    memory, upkeep = process(database, clock, file)
    await fill(memory)
    await upkeep.refresh()
    other = WordEncoder("words-2", dimension=48)
    again, care = process(database, clock, file, other)

    assert await best(again) == TEXTS[1]  # by its words, while no vector fits
    await care.refresh()
    assert other.encoded >= len(TEXTS)
    assert len(again.index) == len(TEXTS)
    assert await best(again) == TEXTS[1]
    header = index_file.read_header(file)
    assert header is not None
    assert (header.encoder, header.dimension) == ("words-2", 48)


async def test_what_another_process_keeps_is_recalled_at_once_and_indexed_at_the_next_look(
    database: Database, clock: Clock, file: Path
) -> None:
    one, _ = process(database, clock, file)
    two, care = process(database, clock, file)
    await care.refresh()
    await fill(one)

    assert await best(two) == TEXTS[1]
    assert len(two.index) == 0
    await care.refresh()
    assert len(two.index) == len(TEXTS)
    assert await best(two) == TEXTS[1]


async def test_what_is_forgotten_leaves_every_index_and_the_file(database: Database, clock: Clock, file: Path) -> None:
    one, upkeep = process(database, clock, file)
    two, care = process(database, clock, file)
    await fill(one)
    await fill(one, LI)
    await upkeep.refresh()
    await care.refresh()
    await one.forget(EMMA)

    assert await two.recall(EMMA, "zipper") == []
    await care.refresh()
    assert len(two.index) == len(TEXTS)
    loaded = index_file.load(file, encoder="words-1")
    assert loaded is not None
    index, _ = loaded
    kept = {fact.id for fact in await one.facts(LI)}
    assert {int(index.id_map.at(place)) for place in range(index.ntotal)} == kept


async def test_a_replaced_fact_leaves_the_index(database: Database, clock: Clock, file: Path) -> None:
    memory, upkeep = process(database, clock, file)
    for number, text in enumerate(("Ship with DHL.", "Ship with UPS.")):
        said = Said(by=EMMA, message_id=f"M{number}")
        await memory.remember(EMMA, text, kind=FactKind.PREFERENCE, source=said, subject="carrier")
        await upkeep.refresh()

    assert len(memory.index) == 1


async def test_facts_written_while_the_encoder_was_away_are_encoded_later(
    database: Database, clock: Clock, file: Path
) -> None:
    encoder = WordEncoder()
    memory, upkeep = process(database, clock, file, encoder)
    encoder.away = True
    await fill(memory)
    encoder.away = False
    await upkeep.refresh()

    assert len(memory.index) == len(TEXTS)


async def test_a_database_from_an_older_day_makes_the_index_start_again(
    database: Database, clock: Clock, file: Path
) -> None:
    memory, upkeep = process(database, clock, file)
    await fill(memory)
    await upkeep.refresh()
    index_file.save(file, *_of_the_future(file))
    again, care = process(database, clock, file)
    await care.refresh()

    assert again.index.version == memory.index.version
    assert len(again.index) == len(TEXTS)


def _of_the_future(file: Path) -> tuple[faiss.IndexIDMap2, index_file.Header]:
    loaded = index_file.load(file, encoder="words-1")
    assert loaded is not None
    index, header = loaded
    return index, index_file.Header(encoder=header.encoder, dimension=header.dimension, version=999, size=header.size)
