"""Long-term memory at 1,000 and 100,000 facts, 100 an owner, against yardsticks in the same run.

    python tests/benchmarks/bench_memory.py --facts 1000 100000 --dimension 512

Encoding is left out: vectors are random and of unit length, and the encoder answers at once. Recall is the whole way:
the owner's ids from SQL, the search, the facts from SQL. Yardsticks are numpy over the owner's vectors in memory
(no SQL at all), numpy over the owner's vectors read from SQL (what a recall falls back to), and FAISS over all facts
without a filter. Nothing here asserts a time: read the columns against each other.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import psutil
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sqlalchemy import Connection, insert

from hermes_bot.memory import fact_rows
from hermes_bot.memory.essence import essence
from hermes_bot.memory.fact import FactKind
from hermes_bot.memory.index import FactIndex
from hermes_bot.memory.memory import Memory
from hermes_bot.memory.owner import PersonOwner, Said
from hermes_bot.memory.upkeep import Upkeep
from hermes_bot.messages.message import utc_now
from hermes_bot.store.database import Database
from hermes_bot.store.memory_tables import fact_vectors, facts
from hermes_bot.store.schema import migrate

PER_OWNER = 100
K = 5
MB = 1_000_000


class RandomEncoder:
    """Answers at once, with vectors that mean nothing."""

    def __init__(self, dimension: int) -> None:
        self.name = f"random-{dimension}"
        self.dimension = dimension
        self._random = np.random.default_rng(5)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = self._random.standard_normal((len(texts), self.dimension), dtype=np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@dataclass(slots=True)
class Figures:
    """What one size measured, by name; times in milliseconds."""

    facts: int
    values: dict[str, float] = field(default_factory=dict)


def owner_of(number: int) -> PersonOwner:
    return PersonOwner("T1", f"U{number}")


async def measure(size: int, dimension: int, rounds: int, folder: Path) -> Figures:
    database = Database(f"sqlite:///{folder / 'hermes.db'}")
    await database.open()
    await migrate(database)
    encoder, figures = RandomEncoder(dimension), Figures(size)
    try:
        await fill(database, encoder, size)
        before = psutil.Process().memory_info().rss
        memory = Memory(database, encoder, clock=utc_now, index_path=folder / "facts.faiss")
        upkeep = Upkeep(database, memory.index, encoder)
        figures.values["rebuild s"] = await seconds(upkeep.refresh)
        figures.values["index in memory MB"] = (psutil.Process().memory_info().rss - before) / MB
        figures.values["index file MB"] = (folder / "facts.faiss").stat().st_size / MB
        again = FactIndex(folder / "facts.faiss", encoder=encoder.name)
        figures.values["load file s"] = await seconds(lambda: asyncio.to_thread(again.load))
        await recalls(memory, database, encoder, size, rounds, figures)
        await adds(memory, size, rounds, figures)
    finally:
        await database.close()
    return figures


async def recalls(
    memory: Memory, database: Database, encoder: RandomEncoder, size: int, rounds: int, figures: Figures
) -> None:
    """Take turns, so that all see the same moments of the machine; but for the search of everything.

    That one reads hundreds of megabytes: each recall after it would find the processor's caches emptied.
    """
    owners = size // PER_OWNER
    random = np.random.default_rng(7)
    kept = await vectors_of(database, owner_of(1), encoder.name)
    everything = await unfiltered(database, encoder, size)
    fallback = Memory(database, encoder, clock=utc_now)  # with an index that holds nothing
    taken: dict[str, list[float]] = {name: [] for name in ("recall", "recall from SQL", "numpy", "faiss unfiltered")}
    for _ in range(rounds):
        owner = owner_of(int(random.integers(owners)))
        vector = encoder.encode(["x"])[0]
        taken["recall"].append(await seconds(lambda owner=owner: memory.recall(owner, "anything", K)))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        taken["recall from SQL"].append(await seconds(lambda owner=owner: fallback.recall(owner, "anything", K)))  # type: ignore[misc]  # as above
        start = time.perf_counter()
        np.argsort(kept @ vector)[::-1][:K]
        taken["numpy"].append(time.perf_counter() - start)
    for _ in range(rounds // 5):
        vector = encoder.encode(["x"])[0]
        start = time.perf_counter()
        everything.search(vector[None, :], K)
        taken["faiss unfiltered"].append(time.perf_counter() - start)
    for name, times in taken.items():
        figures.values[f"{name} p50"], figures.values[f"{name} p99"] = (
            float(np.percentile(times, percent)) * 1_000 for percent in (50, 99)
        )


async def adds(memory: Memory, size: int, rounds: int, figures: Figures) -> None:
    times = []
    for number in range(rounds // 5):
        owner = owner_of(number % (size // PER_OWNER))
        said = Said(by=owner, message_id=f"N{number}")

        async def add(owner: PersonOwner = owner, said: Said = said, number: int = number) -> object:
            text = f"new thing{number}"
            return await memory.remember(owner, text, kind=FactKind.PREFERENCE, source=said)

        times.append(await seconds(add))
    figures.values["add p50"] = float(np.median(times)) * 1_000


async def seconds(work: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start


async def fill(database: Database, encoder: RandomEncoder, size: int) -> None:
    at_once = 5_000
    for start in range(0, size, at_once):
        numbers = range(start + 1, min(start + at_once, size) + 1)
        await database.run(lambda connection, numbers=numbers: _fill(connection, encoder, numbers))  # type: ignore[misc]  # as above


def _fill(connection: Connection, encoder: RandomEncoder, numbers: range) -> None:
    now, version = utc_now(), fact_rows.next_version(connection)
    common: dict[str, Any] = {
        "owner_kind": "person",
        "owner_team": "T1",
        "kind": "preference",
        "source_kind": "customer",
    }
    common |= {"source_by": "", "at": now, "confirmed_at": now, "version": version, "times": 1, "subject": ""}
    common |= {"ticket_id": "", "message_id": "", "replaced_by": None}
    texts = [f"I like thing{number} of kind {number % 17}" for number in numbers]
    rows = [
        common | {"id": number, "owner_id": f"U{(number - 1) // PER_OWNER}", "text": text, "digest": essence(text)}
        for number, text in zip(numbers, texts, strict=True)
    ]
    connection.execute(insert(facts), rows)
    vectors = [
        {"fact_id": number, "encoder": encoder.name, "vector": row.tobytes()}
        for number, row in zip(numbers, encoder.encode(texts), strict=True)
    ]
    connection.execute(insert(fact_vectors), vectors)


async def vectors_of(database: Database, owner: PersonOwner, encoder: str) -> NDArray[np.float32]:
    def read(connection: Connection) -> NDArray[np.float32]:
        return fact_rows.vectors(connection, fact_rows.ids(connection, owner), encoder)[1]

    return await database.run(read)


async def unfiltered(database: Database, encoder: RandomEncoder, size: int) -> faiss.IndexFlatIP:
    index = faiss.IndexFlatIP(encoder.dimension)
    for number in range(size // PER_OWNER):
        index.add(await vectors_of(database, owner_of(number), encoder.name))
    return index


def table(found: Sequence[Figures]) -> Table:
    """Return a row for each figure, with its ratio to numpy over vectors that are already in memory."""
    shown = Table("milliseconds, unless it says otherwise", *(f"{each.facts:,} facts" for each in found))
    for name in found[0].values:
        cells = []
        for each in found:
            value = each.values[name]
            percentile = name.rpartition(" ")[2]
            yardstick = each.values.get(f"numpy {percentile}")
            ratio = f"  ({value / yardstick:.1f}x numpy)" if yardstick and not name.startswith("numpy") else ""
            cells.append(f"{value:.3f}{ratio}")
        shown.add_row(name, *cells)
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--dimension", type=int, default=512, help="512 is the profile light's, 896 the default's")
    parser.add_argument("--rounds", type=int, default=500)
    given = parser.parse_args()
    found = []
    for size in given.facts:
        with tempfile.TemporaryDirectory() as folder:
            found.append(asyncio.run(measure(size, given.dimension, given.rounds, Path(folder))))
    Console().print(table(found))


if __name__ == "__main__":
    main()
