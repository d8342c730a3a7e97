"""How fast the bus is, beside bare and third-party yardsticks in the same run: `bench_bus.py [--json]`.

Each contender is measured in a process of its own, one after another, in several rounds of which the best counts, so
that a busy moment of the machine hits no one alone. Third-party ones need `.venv-bench` (yardsticks.sh makes it).
What grows, many slow handlers and a second worker follow. No time is asserted: docs/bench.md tells the goals.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from hermes_bot.app.watched_bus import watched_bus
from hermes_bot.bus.port import Delivery, Policy
from hermes_bot.cli.bench import COLUMNS, columns_of, interleaved, redis_for_benches
from hermes_bot.cli.bench_contenders import messages
from hermes_bot.cli.bench_load import AGENTS, PRODUCERS, Load
from hermes_bot.messages.message import Message
from tests.fire.ledger import ledger_at
from tests.fire.lives import lives
from tests.fire.worker import ENDLESS

HOME = Path(__file__).resolve().parents[2] / ".venv-bench"
SCRIPT = Path(__file__).with_name("yardsticks.py")
OURS = ["queue", "memory", "memory, no journal", "one-commit", "sqlite", "raw-streams", "redis"]
THEIRS = {
    "taskiq": "yardsticks",
    "autogen-core": "yardsticks",
    "FastStream": "yardsticks",
    "taskiq redis": "yardsticks",
    "FastStream redis": "yardsticks",
    "arq": "yardsticks-arq",
}
SLOW_HANDLERS, SLOW_S, SLOW_ROUNDS = 200, 3.0, 3
WORKER_HANDLER_S = 0.1  # at most; 50 ms on average
WARM_S, WATCH_S = 2.0, 6.0

Figures = dict[str, dict[str, Any]]
Rows = list[tuple[str, str, str]]


def third_party() -> dict[str, list[str]]:
    """Return the commands of the yardsticks that are installed."""
    pythons = {name: HOME / env / "bin" / "python" for name, env in THEIRS.items()}
    return {name: [str(python), str(SCRIPT)] for name, python in pythons.items() if python.exists()}


async def timed(count: int, prepare: Callable[[Any], None], queued_first: bool) -> float:
    """Return CPU microseconds a message on the memory backend, queued whole before the first is handled or not."""
    handled, finished = 0, asyncio.Event()

    async def handler(_message: Message, _delivery: Delivery) -> Sequence[Message]:
        nonlocal handled
        handled += 1
        if handled == count:
            finished.set()
        return ()

    with tempfile.TemporaryDirectory() as folder:
        async with watched_bus("memory", Path(folder)) as bus:
            prepare(bus)
            for agent in range(AGENTS):
                bus.subscribe(f"bench.{agent}", f"agent{agent}", handler, Policy(max_queue_size=10**6))
            await bus.start()
            if queued_first:
                await bus.pause()
            load = messages(count)
            cpu = time.process_time()
            for message in load:
                await bus.publish(message)
            await bus.resume()
            await finished.wait()
        return (time.process_time() - cpu) / count * 1e6


def with_routes(number: int) -> Callable[[Any], None]:
    """Return what binds so many more routes, to an agent that gets none of the messages."""

    async def nobody(_message: Message, _delivery: Delivery) -> Sequence[Message]:
        return ()

    def prepare(bus: Any) -> None:
        for n in range(number):
            bus.subscribe(f"other.{n}.*", f"other{n % AGENTS}", nobody)

    return prepare


def growth(rounds: int) -> Rows:
    """Return how the cost of a message grows with routes and with the queue; the rounds take turns."""
    few, many, short, deep = [], [], [], []
    for _ in range(rounds):
        few.append(asyncio.run(timed(20_000, with_routes(10), False)))
        many.append(asyncio.run(timed(20_000, with_routes(10_000), False)))
        short.append(asyncio.run(timed(1_000, with_routes(0), True)))
        deep.append(asyncio.run(timed(100_000, with_routes(0), True)))
    return [
        ("10 → 10,000 routes, CPU", f"{min(many) / min(few):.2f}x", "<= 1.3x"),
        ("1,000 → 100,000 queued, CPU", f"{min(deep) / min(short):.2f}x", "<= 1.5x"),
    ]


async def slow_handlers() -> float:
    """Return messages a second where each of 200 handlers takes three seconds."""
    count, finished, left = SLOW_HANDLERS * SLOW_ROUNDS, asyncio.Event(), SLOW_HANDLERS * SLOW_ROUNDS

    async def handler(_message: Message, _delivery: Delivery) -> Sequence[Message]:
        nonlocal left
        await asyncio.sleep(SLOW_S)
        left -= 1
        if not left:
            finished.set()
        return ()

    with tempfile.TemporaryDirectory() as folder:
        async with watched_bus("memory", Path(folder)) as bus:
            bus.subscribe("#", "slow", handler, Policy(concurrency=SLOW_HANDLERS))
            await bus.start()
            began = time.perf_counter()
            for n in range(count):
                await bus.publish(Message(type="slow", sender="bench", context_id=f"c{n}"))
            await finished.wait()
            return count / (time.perf_counter() - began)


async def durable_publishes(count: int) -> float:
    """Return how many publishes a second sqlite takes from 64 producers while nothing is handled."""
    with tempfile.TemporaryDirectory() as folder:
        async with watched_bus("sqlite", Path(folder)) as bus:
            for agent in range(AGENTS):
                bus.subscribe(f"bench.{agent}", f"agent{agent}", _nothing, Policy(concurrency=0, max_queue_size=10**6))
            await bus.start()
            load = iter(messages(count))

            async def produce() -> None:
                for message in load:
                    await bus.publish(message)

            began = time.perf_counter()
            async with asyncio.TaskGroup() as producers:
                for number in range(PRODUCERS):
                    producers.create_task(produce(), name=f"producer-{number}")
            return count / (time.perf_counter() - began)


async def _nothing(_message: Message, _delivery: Delivery) -> Sequence[Message]:
    return ()


def workers_on_redis(url: str, number: int) -> float:
    """Return how many handlers of 50 ms a second so many worker processes finish, with more waiting than they can."""
    with (
        tempfile.TemporaryDirectory() as folder,
        lives(Path(folder), url) as all_lives,
        ledger_at(all_lives.ledger) as ledger,
    ):
        publisher = all_lives.start(publish=ENDLESS, rate=400.0, concurrency=0, max_queue_size=2_000)
        publisher.wait_for("ready")
        for _ in range(number):
            all_lives.start(handler_s=WORKER_HANDLER_S, concurrency=3).wait_for("ready")
        time.sleep(WARM_S)
        before, began = ledger.count("effects"), time.perf_counter()
        time.sleep(WATCH_S)
        return (ledger.count("effects") - before) / (time.perf_counter() - began)


def second_worker() -> Rows:
    """Return what a second worker adds."""
    rates = []
    for number in (1, 2):
        with redis_for_benches("", wanted=True) as url:
            rates.append(workers_on_redis(url, number))
    return [("redis, 50 ms handlers: a second worker adds", f"{rates[1] / rates[0] - 1:.0%}", ">= 80 %")]


def goals(told: Figures) -> Rows:
    """Return the figures that have a goal as a ratio or an absolute, beside the goal."""
    queue, memory = told["queue"], told["memory"]
    sqlite, one, redis, raw = told["sqlite"], told["one-commit"], told["redis"], told["raw-streams"]
    rows = [(f"memory {rate}/s p50, p99 ms", _latency(memory, rate), "<= 0.10, <= 0.30") for rate in ("200", "1000")]
    rows += [
        ("memory 3 hops ms", f"{memory['chain3_p50_ms']:.2f}", "<= 0.25"),
        ("memory msg/s", f"{memory['throughput_per_s']:,.0f}", ">= 40,000"),
        ("memory CPU, times the bare queue", _times(memory, queue), "<= 4x"),
        ("the same without the journal", _times(told["memory, no journal"], queue), ""),
    ]
    if "autogen-core" in told:
        rows.append(("autogen-core CPU, times memory", _times(told["autogen-core"], memory), ">= 8x"))
    gain = sqlite["throughput_per_s"] / one["throughput_per_s"]
    rows += [
        ("sqlite msg/s, whole cycle", f"{sqlite['throughput_per_s']:,.0f}", ">= 8,000"),
        ("sqlite 1000/s p50 ms", f"{sqlite['rates']['1000']['p50_ms']:.2f}", "<= 1 (quiet disk)"),
        ("sqlite msg/s, times one commit a message", f"{gain:.1f}x", ">= 10x"),
        ("redis 1000/s p50 ms", f"{redis['rates']['1000']['p50_ms']:.2f}", "<= 0.8"),
        ("redis msg/s, whole cycle", f"{redis['throughput_per_s']:,.0f}", ">= 5,000"),
        ("redis CPU with the server's, times raw streams", _times(redis, raw), "<= 2.5x"),
    ]
    return rows


def _latency(figures: dict[str, Any], rate: str) -> str:
    return f"{figures['rates'][rate]['p50_ms']:.3f}, {figures['rates'][rate]['p99_ms']:.2f}"


def _times(one: dict[str, Any], other: dict[str, Any]) -> str:
    ours, theirs = (each["cpu_us_per_message"] + each["server_cpu_us_per_message"] for each in (one, other))
    return f"{ours / theirs:.1f}x"


def show(told: Figures, rows: Rows) -> None:
    console = Console()
    figures = Table(title="The bus and its yardsticks", box=None, pad_edge=False, header_style="bold")
    for column in COLUMNS:
        figures.add_column(column, justify="right")
    for name, each in told.items():
        figures.add_row(name, *columns_of(each))
    against = Table(title="Against the goals", box=None, pad_edge=False, header_style="bold")
    for column in ("", "here", "goal"):
        against.add_column(column)
    for row in rows:
        against.add_row(*row)
    console.print(figures)
    console.print(against)


def run(options: argparse.Namespace) -> tuple[Figures, Rows]:
    theirs = {} if options.ours else third_party()
    if not theirs and not options.ours:
        Console(stderr=True).print("no .venv-bench: the third-party yardsticks are left out")
    load = Load(messages=options.messages, seconds=options.seconds)
    with redis_for_benches("", wanted=True) as url:
        told = interleaved([*OURS, *theirs], load, options.rounds, url, theirs)
    rows = goals(told)
    publishes = max(_run(durable_publishes(options.messages)) for _ in range(options.rounds))
    rows.append(("sqlite durable publishes/s, 64 producers", f"{publishes:,.0f}", ">= 20,000"))
    rows += growth(options.rounds)
    rows.append(("200 handlers of 3 s, msg/s", f"{_run(slow_handlers()):.1f}", ">= 66 (66.7 is the ceiling)"))
    rows += second_worker()
    return told, rows


def _run(measuring: Coroutine[Any, Any, float]) -> float:
    return asyncio.run(measuring)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the bus against yardsticks in the same run.")
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    parser.add_argument("--messages", type=int, default=20_000, help="messages for the throughput")
    parser.add_argument("--seconds", type=float, default=2.0, help="length at each rate")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds; the best counts")
    parser.add_argument("--ours", action="store_true", help="leave third-party yardsticks out")
    options = parser.parse_args()
    logging.disable(logging.ERROR)
    told, rows = run(options)
    if options.json:
        against = [{"what": what, "here": here, "goal": goal} for what, here, goal in rows]
        sys.stdout.write(json.dumps({"contenders": told, "goals": against}, indent=2) + "\n")
    else:
        show(told, rows)


if __name__ == "__main__":
    main()
