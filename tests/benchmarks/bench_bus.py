"""How fast the bus is, as ratios against yardsticks in the same run: `python tests/benchmarks/bench_bus.py [--json]`.

Every contender gets messages of 500 bytes for five handlers that return at once. `queue` is a bare asyncio
PriorityQueue with a worker for each handler, `one-commit` is sqlite with a commit for each publish and each ack. The
contenders take turns, and the best of the rounds counts, so that a busy moment of the machine hits no one alone.
No time is asserted: a number from a shared machine is no promise.
"""

import argparse
import asyncio
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.table import Table

from hermes_bot.bus.bus import Bus
from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import Backend, Delivery, Policy
from hermes_bot.bus.sqlite import SqliteBackend
from hermes_bot.messages.message import Message, encode

AGENTS = 5
CONTEXTS = 2_000  # a context with more than 200 messages a minute is a storm
PRODUCERS = 64
RATES = (200, 1000)
Done = Callable[[Message], None]


class Contender(Protocol):
    async def start(self, done: Done) -> None: ...
    async def publish(self, message: Message) -> None: ...
    async def stop(self) -> None: ...


class BareQueue:
    """The yardstick: no topics, lanes, limits, retries or records."""

    async def start(self, done: Done) -> None:
        self._queues: list[asyncio.PriorityQueue[tuple[int, str, Message]]] = [
            asyncio.PriorityQueue() for _ in range(AGENTS)
        ]
        self._workers = [asyncio.create_task(self._work(queue, done), name="worker") for queue in self._queues]

    async def _work(self, queue: "asyncio.PriorityQueue[tuple[int, str, Message]]", done: Done) -> None:
        while True:
            _, _, message = await queue.get()
            done(message)

    async def publish(self, message: Message) -> None:
        self._queues[int(message.type[-1])].put_nowait((-message.priority, message.id, message))

    async def stop(self) -> None:
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)


class Hermes:
    """The bus, everything on."""

    def __init__(self, backend: Backend) -> None:
        self._bus = Bus(backend, on_hop=lambda *_: None)

    async def start(self, done: Done) -> None:
        async def handler(message: Message, delivery: Delivery) -> Sequence[Message]:
            done(message)
            return ()

        for agent in range(AGENTS):
            self._bus.subscribe(f"bench.{agent}", f"agent{agent}", handler, Policy(max_queue_size=10**9))
        await self._bus.start()

    async def publish(self, message: Message) -> None:
        await self._bus.publish(message)

    async def stop(self) -> None:
        await self._bus.drain(60)
        await self._bus.stop(5)


class OneCommit:
    """The other yardstick: durable in the plain way, a commit to publish and a commit to acknowledge."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def start(self, done: Done) -> None:
        self._done = done
        self._connection = sqlite3.connect(self._path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE messages (id TEXT PRIMARY KEY, state TEXT, body BLOB)")

    async def publish(self, message: Message) -> None:
        self._connection.execute("INSERT INTO messages VALUES (?, 'queued', ?)", (message.id, encode(message)))
        self._done(message)
        self._connection.execute("UPDATE messages SET state = 'done' WHERE id = ?", (message.id,))
        await asyncio.sleep(0)

    async def stop(self) -> None:
        self._connection.close()


@dataclass
class Figures:
    p50_ms: dict[int, float]
    p99_ms: dict[int, float]
    throughput_per_s: float
    cpu_us_per_message: float


def contenders(folder: Path) -> dict[str, Callable[[], Contender]]:
    names = iter(range(10**6))

    def fresh() -> Path:
        return folder / f"bench-{next(names)}.db"

    return {
        "queue": BareQueue,
        "memory": lambda: Hermes(MemoryBackend()),
        "sqlite": lambda: Hermes(SqliteBackend(fresh())),
        "one-commit": lambda: OneCommit(fresh()),
    }


def messages(number: int) -> list[Message]:
    text = "x" * 250  # an envelope of about 500 bytes
    return [
        Message(type=f"bench.{n % AGENTS}", sender="bench", context_id=f"c{n % CONTEXTS}", data={"text": text, "n": n})
        for n in range(number)
    ]


async def latency_ms(make: Callable[[], Contender], rate: int, seconds: float) -> list[float]:
    """Return the time from publish to handler of each message, published at an even rate."""
    contender, took = make(), []
    began: dict[str, float] = {}
    await contender.start(lambda message: took.append((time.perf_counter() - began[message.id]) * 1000))
    load = messages(int(rate * seconds))
    start = time.perf_counter()
    async with asyncio.TaskGroup() as publishing:
        for number, message in enumerate(load):
            await asyncio.sleep(max(0.0, start + number / rate - time.perf_counter()))
            began[message.id] = time.perf_counter()
            publishing.create_task(_call(contender.publish(message)), name="publish")
    await _all(took, len(load))
    await contender.stop()
    return took


async def throughput(make: Callable[[], Contender], number: int) -> tuple[float, float]:
    """Return messages a second through the whole cycle, and CPU microseconds a message."""
    contender, handled = make(), []
    await contender.start(lambda message: handled.append(0.0))
    load = iter(messages(number))

    async def produce() -> None:
        for message in load:
            await contender.publish(message)

    wall, cpu = time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as producers:
        for _ in range(PRODUCERS):
            producers.create_task(produce(), name="producer")
    await _all(handled, number)
    await contender.stop()
    return number / (time.perf_counter() - wall), (time.process_time() - cpu) / number * 1e6


async def _call(publishing: Awaitable[None]) -> None:
    await publishing


async def _all(handled: list[float], number: int) -> None:
    async with asyncio.timeout(120):
        while len(handled) < number:  # noqa: ASYNC110 - an event would cost each contender the same and blur the ratio
            await asyncio.sleep(0.001)


def measure(make: Callable[[], Contender], *, number: int, seconds: float) -> Figures:
    p50, p99 = {}, {}
    for rate in RATES:
        took = sorted(asyncio.run(latency_ms(make, rate, seconds)))
        p50[rate], p99[rate] = statistics.median(took), took[int(len(took) * 0.99)]
    per_second, cpu = asyncio.run(throughput(make, number))
    return Figures(p50, p99, per_second, cpu)


def best(rounds: Sequence[Figures]) -> Figures:
    return Figures(
        {rate: min(figures.p50_ms[rate] for figures in rounds) for rate in RATES},
        {rate: min(figures.p99_ms[rate] for figures in rounds) for rate in RATES},
        max(figures.throughput_per_s for figures in rounds),
        min(figures.cpu_us_per_message for figures in rounds),
    )


def show(results: dict[str, Figures]) -> None:
    table = Table(title="The bus (in brackets: times the bare queue)")
    columns = ("", "200/s p50 ms", "p99", "1,000/s p50 ms", "p99", "msg/s", "CPU µs/msg")
    for column in columns:
        table.add_column(column, justify="right")
    yard = results["queue"]
    for name, figures in results.items():
        cells = []
        for rate in RATES:
            ratio = figures.p50_ms[rate] / yard.p50_ms[rate]
            cells += [f"{figures.p50_ms[rate]:.3f} ({ratio:.1f}x)", f"{figures.p99_ms[rate]:.2f}"]
        cpu = figures.cpu_us_per_message
        speed = figures.throughput_per_s
        cells += [f"{speed:,.0f} ({speed / yard.throughput_per_s:.2f}x)"]
        cells += [f"{cpu:.1f} ({cpu / yard.cpu_us_per_message:.1f}x)"]
        table.add_row(name, *cells)
    console = Console()
    console.print(table)
    gain = results["sqlite"].throughput_per_s / results["one-commit"].throughput_per_s
    console.print(f"sqlite with group commit against a commit a message: {gain:.1f}x")


def as_json(results: dict[str, Figures]) -> str:
    body = {
        name: {
            "rates": {str(r): {"p50_ms": figures.p50_ms[r], "p99_ms": figures.p99_ms[r]} for r in RATES},
            "throughput_per_s": figures.throughput_per_s,
            "cpu_us_per_message": figures.cpu_us_per_message,
        }
        for name, figures in results.items()
    }
    return json.dumps(body, indent=2)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the bus against yardsticks in the same run.")
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    parser.add_argument("--messages", type=int, default=20_000, help="messages for the throughput")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of each latency run")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds; the best counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        makers = contenders(Path(folder))
        rounds: dict[str, list[Figures]] = {name: [] for name in makers}
        for _ in range(options.rounds):
            for name, make in makers.items():
                number = options.messages // 10 if name == "one-commit" else options.messages
                rounds[name].append(measure(make, number=number, seconds=options.seconds))
    results = {name: best(several) for name, several in rounds.items()}
    if options.json:
        sys.stdout.write(as_json(results) + "\n")
    else:
        show(results)


if __name__ == "__main__":
    main()
