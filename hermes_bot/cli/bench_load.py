"""The load of the benches: the same messages, rates and counts for whatever can take a message and hand it on.

Only the standard library is used here, so that yardsticks in environments of their own can be measured with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import resource
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

AGENTS = 5
PER_CONTEXT = 50
PRODUCERS = 64
RATES = (200, 1000)
TEXT = "x" * 250  # with the envelope about 500 bytes
WARM = 100
WAIT_LIMIT_S = 300.0

Done = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much is measured: messages for the throughput, seconds at each rate, chains of three hops."""

    messages: int = 20_000
    seconds: float = 2.0
    chains: int = 300


class Contender(Protocol):
    """What is measured. It calls `done(n)` when message `n`, or chain `n`, has reached its last handler."""

    async def start(self, done: Done, numbers: int) -> None:
        """Get ready for messages 0 to `numbers`; what can be made before the clock starts is made here."""
        ...

    async def publish(self, n: int) -> None:
        """Send message `n` to one of five handlers that return at once."""
        ...

    async def chain(self, n: int) -> None:
        """Send message `n` on a way of three handlers."""
        ...

    async def stop(self) -> None:
        """Finish what is to be written, and let go."""
        ...

    def server_cpu_s(self) -> float:
        """Return the CPU seconds that a server has used for it so far, 0 where there is none."""
        ...


async def latency_ms(contender: Contender, rate: int, seconds: float) -> list[float]:
    """Return the time from publish to handler of each message, published at an even rate."""
    count = WARM + int(rate * seconds)
    began, took = [0.0] * count, [0.0] * count
    left, all_done = count, asyncio.Event()

    def done(n: int) -> None:
        nonlocal left
        took[n] = (time.perf_counter() - began[n]) * 1000
        left -= 1
        if not left:
            all_done.set()

    await _start(contender, done, count)
    start = time.perf_counter()
    async with asyncio.TaskGroup() as publishing:
        for n in range(count):
            await asyncio.sleep(max(0.0, start + n / rate - time.perf_counter()))
            began[n] = time.perf_counter()
            publishing.create_task(_await(contender.publish(n)), name="publish")
    async with asyncio.timeout(WAIT_LIMIT_S):
        await all_done.wait()
    await contender.stop()
    return took[WARM:]


async def throughput(contender: Contender, count: int) -> tuple[float, float, float]:
    """Return messages a second through the whole cycle, and CPU microseconds a message: own, and a server's."""
    left, all_done = count, asyncio.Event()

    def done(_n: int) -> None:
        nonlocal left
        left -= 1
        if not left:
            all_done.set()

    await _start(contender, done, count)
    numbers = iter(range(count))

    async def produce() -> None:
        for n in numbers:
            await contender.publish(n)

    server, wall, cpu = contender.server_cpu_s(), time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as producers:
        for number in range(PRODUCERS):
            producers.create_task(produce(), name=f"producer-{number}")
    async with asyncio.timeout(WAIT_LIMIT_S):
        await all_done.wait()
    wall = time.perf_counter() - wall
    server = contender.server_cpu_s() - server
    await contender.stop()
    return count / wall, (time.process_time() - cpu) / count * 1e6, server / count * 1e6


async def chain_ms(contender: Contender, count: int) -> list[float]:
    """Return the time of three hops, one chain after another."""
    took: list[float] = []
    arrived = asyncio.Event()
    warm = min(WARM, count)
    await _start(contender, lambda _n: arrived.set(), warm + count)
    for n in range(warm + count):
        arrived.clear()
        began = time.perf_counter()
        await contender.chain(n)
        async with asyncio.timeout(WAIT_LIMIT_S):
            await arrived.wait()
        took.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(0)
    await contender.stop()
    return took[warm:]


async def _start(contender: Contender, done: Done, numbers: int) -> None:
    """Start it; the garbage collector need not look at what is there by now, as in the program after its start."""
    await contender.start(done, numbers)
    gc.collect()
    gc.freeze()


async def _await(publishing: Awaitable[None]) -> None:
    await publishing


def measure(make: Callable[[], Contender], load: Load) -> dict[str, Any]:
    """Return the figures of one round, each part with a fresh contender."""
    rates = {}
    for rate in RATES:
        took = sorted(asyncio.run(latency_ms(make(), rate, load.seconds)))
        rates[str(rate)] = {"p50_ms": statistics.median(took), "p99_ms": took[int(len(took) * 0.99)]}
    per_second, cpu, server_cpu = asyncio.run(throughput(make(), load.messages))
    chains = asyncio.run(chain_ms(make(), load.chains))
    return {
        "rates": rates,
        "throughput_per_s": per_second,
        "chain3_p50_ms": statistics.median(chains),
        "cpu_us_per_message": cpu,
        "server_cpu_us_per_message": server_cpu,
        "rss_mb": peak_rss_mb(),
    }


def peak_rss_mb() -> float:
    """Return the most memory that this process has had; elsewhere than on Linux that of its parent may count too."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def best(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return each figure's best over the rounds: a busy moment of the machine is nobody's fault."""
    first, *others = rounds
    for other in others:
        first = _better(first, other)
    return first


def _better(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _better(value, other[key])
        if isinstance(value, dict)
        else (max if key.endswith("_per_s") else min)(value, other[key])
        for key, value in one.items()
    }


def rounded(figures: dict[str, Any]) -> dict[str, Any]:
    """Return the figures with the digits that mean something."""
    return {
        key: rounded(value) if isinstance(value, dict) else round(value, 0 if key.endswith("_per_s") else 4)
        for key, value in figures.items()
    }


def as_arguments(name: str, load: Load, folder: Path, url: str) -> list[str]:
    """Return the arguments with which a process measures one contender; `from_arguments` reads them."""
    numbers = asdict(load)
    return [name, str(numbers["messages"]), str(numbers["seconds"]), str(numbers["chains"]), str(folder), url]


def from_arguments(arguments: list[str]) -> tuple[str, Load, Path, str]:
    """Return what `as_arguments` made."""
    name, messages, seconds, chains, folder, url = arguments
    return name, Load(messages=int(messages), seconds=float(seconds), chains=int(chains)), Path(folder), url
