"""Scenes on sqlite: kills, a full disk, a locked file, a long queue over a restart."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random
from time import monotonic, sleep

from hermes_bot.bus.port import Backend, State
from hermes_bot.bus.sqlite import SqliteBackend
from tests.fire.ledger import Ledger, ledger_at
from tests.fire.lives import Lives, lives
from tests.fire.report import Report, Step, no_step, pause_s, report_of
from tests.fire.worker import ENDLESS

WHILE_STARTING = 0.15  # of the kills hit a process that is not ready yet
LIVES_S = (0.02, 0.8)
STARTS_S = 0.6


def kills(folder: Path, *, times: int, rate: float = 1000.0, seed: int = 1, step: Step = no_step) -> Report:
    """`kill -9` at random points of a bus that is loaded at `rate` messages a second, and of its starts."""
    chance, began, alive_s = Random(seed), monotonic(), 0.0
    with lives(folder, str(folder / "bus.db")) as all_lives, ledger_at(folder / "ledger.db") as ledger:
        for number in range(times):
            life = all_lives.start(publish=ENDLESS, rate=rate)
            if chance.random() < WHILE_STARTING:
                sleep(pause_s(chance, 0.0, STARTS_S))
            else:
                life.wait_for("ready")
                alive_s += (lived_s := pause_s(chance, *LIVES_S))
                sleep(lived_s)
            all_lives.kill(life)
            step(number + 1, times)
        published = ledger.count("acked")
        problems = finish(all_lives, ledger, SqliteBackend(folder / "bus.db"))
        audit = ledger.audit(all_lives.killed)
    figures = {"kills": times, "published_per_s": round(published / max(alive_s, 0.01)), "seconds": took(began)}
    return report_of("kill -9, sqlite", audit, problems, **figures)


def finish(all_lives: Lives, ledger: Ledger, backend: Backend) -> tuple[str, ...]:
    """Have a last life publish what was not acknowledged and do what is left; return what is wrong in the bus."""
    last = all_lives.start(publish=ledger.top())
    last.wait_for("ready")
    last.wait_for("published")
    last.drain()
    return not_done(backend)


def not_done(backend: Backend) -> tuple[str, ...]:
    """Tell what a bus that should have finished everything has in another state than done."""
    counts = asyncio.run(_counts(backend))
    return tuple(f"{number} {state.value} of {agent}" for (agent, state), number in counts if state is not State.DONE)


async def _counts(backend: Backend) -> list[tuple[tuple[str, State], int]]:
    return [(key, number) for key, number in (await backend.counts()).items() if number]


def full_disk(folder: Path, *, limit_bytes: int = 12_000_000, full_s: float = 3.0, step: Step = no_step) -> Report:
    """No file may grow beyond the limit for a while; then there is room again. Nobody is killed."""
    began = monotonic()
    with lives(folder, str(folder / "bus.db")) as all_lives, ledger_at(folder / "ledger.db") as ledger:
        life = all_lives.start(publish=ENDLESS, rate=500.0, data_bytes=20_000, file_limit=limit_bytes)
        life.wait_for("ready")
        wait_until(lambda: ledger.count("refused") > 0)
        sleep(full_s)
        refused, acked = ledger.count("refused"), ledger.count("acked")
        life.order("room")
        wait_until(lambda: ledger.count("acked") > acked + 100)
        life.drain()
        problems = not_done(SqliteBackend(folder / "bus.db"))
        audit = ledger.audit(all_lives.killed)
    step(1, 1)
    return report_of("disk full, sqlite", audit, problems, refused=refused, seconds=took(began))


def locked_file(folder: Path, *, times: int = 3, busy_s: float = 0.3, step: Step = no_step) -> Report:
    """Another program holds the file for longer than the bus waits for it. Nobody is killed."""
    began = monotonic()
    with lives(folder, str(folder / "bus.db")) as all_lives, ledger_at(folder / "ledger.db") as ledger:
        life = all_lives.start(publish=ENDLESS, rate=200.0, busy_s=busy_s)
        life.wait_for("ready")
        for number in range(times):
            before = ledger.count("refused")
            with closing(sqlite3.connect(folder / "bus.db", isolation_level=None, timeout=30)) as other:
                other.execute("BEGIN IMMEDIATE")
                wait_until(lambda: ledger.count("refused") > before)  # noqa: B023 - called in this turn
                other.execute("ROLLBACK")
            acked = ledger.count("acked")
            wait_until(lambda: ledger.count("acked") > acked + 20)  # noqa: B023 - called in this turn
            step(number + 1, times)
        refused = ledger.count("refused")
        life.drain()
        problems = not_done(SqliteBackend(folder / "bus.db"))
        audit = ledger.audit(all_lives.killed)
    return report_of("file locked, sqlite", audit, problems, times=times, refused=refused, seconds=took(began))


def long_queue(folder: Path, *, number: int, bus: str = "", step: Step = no_step) -> Report:
    """So many messages are queued and not handled; the process is killed; the next one handles them all."""
    scene = "long queue, " + ("redis" if bus else "sqlite")
    with lives(folder, bus or str(folder / "bus.db")) as all_lives, ledger_at(folder / "ledger.db") as ledger:
        began = monotonic()
        plan = {"publish": number, "rate": 1e9, "max_queue_size": number * 2}
        full = all_lives.start(concurrency=0, **plan)
        full.wait_for("published", 600)
        publish_s, acked = took(began), ledger.count("acked")
        all_lives.kill(full)
        step(1, 3)
        began = monotonic()
        heir = all_lives.start(handler_s=0.0, drain_s=900.0, **plan)
        heir.wait_for("ready", 300)
        start_s, began = took(began), monotonic()
        step(2, 3)
        heir.drain(1000)
        drain_s = took(began)
        audit = ledger.audit(all_lives.killed)
        problems = () if acked == number else (f"{acked} of {number} were published",)
    step(3, 3)
    return report_of(scene, audit, problems, publish_s=publish_s, start_s=start_s, drain_s=drain_s)


def wait_until(holds: object, limit_s: float = 60.0) -> None:
    """Return when `holds()`; raise TimeoutError after the limit."""
    deadline = monotonic() + limit_s
    assert callable(holds)
    while not holds():
        if monotonic() > deadline:
            raise TimeoutError("it did not happen in time")
        sleep(0.02)


def took(since: float) -> float:
    """Return the seconds since then, rounded for people."""
    return round(monotonic() - since, 1)
