"""A steady load for minutes on a bus with everything on, and the slope of the memory: `python -m tests.fire.soak`."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

import msgspec
import psutil

from hermes_bot.app.watched_bus import watched_bus
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Delivery, Policy
from hermes_bot.messages.message import Message
from tests.fire.ledger import context_of
from tests.fire.lives import ROOT, LifeFailed
from tests.fire.report import Report, Step, no_step

MOST_MB_PER_MIN = 1.0
LOOK_S = 1.0
MB = 1024 * 1024


class Soaked(msgspec.Struct, frozen=True, kw_only=True):
    """What a soak saw: the seconds and megabytes of every look."""

    published: int
    handled: int
    seconds: list[float]
    rss_mb: list[float]


async def soak(kind: str, folder: Path, seconds: float, rate: float) -> Soaked:
    """Publish at the rate, each message handled in two steps; look at the memory once a second."""
    handled = 0

    async def first(message: Message, _delivery: Delivery) -> Sequence[Message]:
        return [message.child("second", message.data)]

    async def second(_message: Message, _delivery: Delivery) -> Sequence[Message]:
        nonlocal handled
        handled += 1
        return []

    policy = Policy(concurrency=32)  # a busy disk takes tens of milliseconds for a commit, and a worker waits for it
    async with watched_bus(kind, folder) as bus:
        bus.subscribe("first", "first", first, policy)
        bus.subscribe("second", "second", second, policy)
        await bus.start()
        looks: list[tuple[float, float]] = []
        looking = asyncio.create_task(_look(looks), name="looks")
        published = await _publish(bus, seconds, rate)
        looking.cancel()
        await bus.drain(120)
    return Soaked(
        published=published, handled=handled, seconds=[at for at, _ in looks], rss_mb=[size for _, size in looks]
    )


async def _publish(bus: Bus, seconds: float, rate: float) -> int:
    began, number = monotonic(), 0
    async with asyncio.TaskGroup() as publishing:
        while (now := monotonic() - began) < seconds:
            while number < now * rate:
                text = f"message {number} " + "x" * 250
                message = Message(type="first", sender="soak", context_id=context_of(number), data={"text": text})
                publishing.create_task(bus.publish(message), name="publish")
                number += 1
            await asyncio.sleep(0.005)
    return number


async def _look(looks: list[tuple[float, float]]) -> None:
    process, began = psutil.Process(), monotonic()
    while True:
        looks.append((monotonic() - began, process.memory_info().rss / MB))
        await asyncio.sleep(LOOK_S)


def slope_per_min(seconds: Sequence[float], sizes: Sequence[float]) -> float:
    """Return by how much the sizes grow in a minute: the least squares' line."""
    mean_at, mean_size = sum(seconds) / len(seconds), sum(sizes) / len(sizes)
    spread = sum((at - mean_at) ** 2 for at in seconds)
    shared = sum((at - mean_at) * (size - mean_size) for at, size in zip(seconds, sizes, strict=True))
    return 60 * shared / spread if spread else 0.0


def steady(folder: Path, *, seconds: float, rate: float = 300.0, judged: bool = True, step: Step = no_step) -> Report:
    """Soak sqlite in a process of its own. The slope over the last half is judged where the time is long enough."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.fire.soak", str(folder), str(seconds), str(rate)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=env) as process:
        try:
            began = monotonic()
            while process.poll() is None and monotonic() - began < seconds + 180:
                step(int(min(monotonic() - began, seconds)), int(seconds))
                _wait(process)
        finally:
            process.kill()
        assert process.stdout is not None
        told = process.stdout.read()
    if process.returncode != 0:
        raise LifeFailed(f"the soak ended with {process.returncode}")
    return _report(msgspec.json.decode(told, type=Soaked), seconds, rate, judged=judged)


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(1)
    except subprocess.TimeoutExpired:
        return


def _report(seen: Soaked, seconds: float, rate: float, *, judged: bool) -> Report:
    half = len(seen.seconds) // 2
    slope = slope_per_min(seen.seconds[half:], seen.rss_mb[half:])
    problems = []
    if seen.handled != seen.published:
        problems.append(f"{seen.published - seen.handled} of {seen.published} were not handled")
    if judged and slope > MOST_MB_PER_MIN:
        problems.append(f"the memory grows by {slope:.2f} MB a minute")
    figures: dict[str, float | int | str] = {
        "messages": seen.published,
        "rate": rate,
        "minutes": round(seconds / 60, 2),
        "rss_mb": round(seen.rss_mb[-1], 1),
        "slope_mb_per_min": round(slope, 2),
    }
    return Report(scene="steady load, sqlite", figures=figures, problems=tuple(problems))


def main(folder: str, seconds: str, rate: str) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as own:
        seen = asyncio.run(soak("sqlite", Path(own), float(seconds), float(rate)))
    sys.stdout.write(msgspec.json.encode(seen).decode())


if __name__ == "__main__":
    main(*sys.argv[1:])
