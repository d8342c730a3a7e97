"""The whole fire: `python -m tests.fire [--json FILE] [--scene NAME …]`; `make fire` runs it.

Exit code 1 where a scene found a problem.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from tests.fire import clocks, on_redis, on_sqlite, soak, two_bots
from tests.fire.lives import LifeFailed
from tests.fire.report import Report, Step
from tests.servers import Redis, running_redis

JUDGED_MIN = 4.0  # a shorter load says nothing about the slope of the memory

Scene = Callable[[Path, Step], Report]


def scenes(options: argparse.Namespace, server: Redis | None) -> Iterator[tuple[str, Scene]]:
    """Give the scenes in order; those on redis only where there is a server."""
    o = options
    yield "kills", lambda f, step: on_sqlite.kills(f, times=o.kills, seed=o.seed, step=step)
    if server is not None:
        yield (
            "redis-kills",
            lambda f, step: on_redis.worker_kills(f, emptied(server), times=o.redis_kills, seed=o.seed, step=step),
        )
        yield "redis-troubles", lambda f, step: on_redis.troubles(f, emptied(server), rounds=o.rounds, step=step)
    yield "full-disk", lambda f, step: on_sqlite.full_disk(f, step=step)
    yield "locked-file", lambda f, step: on_sqlite.locked_file(f, step=step, busy_s=5.0)
    for name in ("memory", "sqlite", *(["redis"] if server else [])):
        yield f"clock-{name}", _clock(name, server, limits=False, messages=o.clock_messages, seed=o.seed)
    yield "clock-limits", _clock("sqlite", None, limits=True, messages=o.clock_messages, seed=o.seed)
    yield "long-queue", lambda f, step: on_sqlite.long_queue(f, number=o.queued, step=step)
    if server is not None:
        yield (
            "redis-long-queue",
            lambda f, step: on_sqlite.long_queue(f, number=o.queued, bus=emptied(server).url, step=step),
        )
        yield (
            "two-bots",
            lambda f, step: two_bots.refunds(
                f, emptied(server), tickets=o.tickets, kills=o.bot_kills, seed=o.seed, step=step
            ),
        )
    yield "steady", lambda f, step: soak.steady(f, seconds=o.minutes * 60, judged=o.minutes >= JUDGED_MIN, step=step)


def _clock(name: str, server: Redis | None, *, limits: bool, messages: int, seed: int) -> Scene:
    url = server.url if server else ""
    return lambda f, step: clocks.jumps(f, name, messages=messages, url=url, limits=limits, seed=seed, step=step)


def emptied(server: Redis) -> Redis:
    """Return the server with nothing in it, for the next scene."""
    with server.client() as client:
        client.flushall()
    return server


def run(options: argparse.Namespace, server: Redis | None, folder: Path, console: Console) -> list[Report]:
    """Run what is wanted, one scene after another; a scene that breaks off is a problem too."""
    reports = []
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=False) as progress:
        for name, scene in scenes(options, server):
            if options.scene and name not in options.scene:
                continue
            bar = progress.add_task(name, total=None)

            def step(done: int, of: int, bar: object = bar) -> None:
                progress.update(bar, completed=done, total=of)  # type: ignore[arg-type]  # what add_task returned

            place = folder / name
            place.mkdir()
            try:
                reports.append(scene(place, step))
            except (LifeFailed, TimeoutError) as error:
                reports.append(Report(scene=name, problems=(str(error),)))
            progress.update(bar, completed=1, total=1)
            shutil.rmtree(place, ignore_errors=True)
    return reports


def show(reports: list[Report], console: Console) -> None:
    """Print a table, and every problem whole."""
    table = Table(title="The bus under fire", box=None, pad_edge=False, header_style="bold")
    for column in ("scene", "figures", "held"):
        table.add_column(column, overflow="fold")
    for report in reports:
        figures = ", ".join(f"{name} {value}" for name, value in report.figures.items())
        table.add_row(report.scene, figures, "no" if report.problems else "yes")
    console.print(table)
    for report in reports:
        for problem in report.problems:
            console.print(f"{report.scene}: {problem}", markup=False)


def arguments() -> argparse.Namespace:
    """Return what was asked for; the defaults are the whole."""
    parser = argparse.ArgumentParser(prog="python -m tests.fire", description="The bus under fire.")
    parser.add_argument("--json", type=Path, help="write the figures into this file as JSON")
    parser.add_argument("--scene", action="append", default=[], help="only this scene; may be given several times")
    parser.add_argument("--kills", type=int, default=200, help="kills of a sqlite bus")
    parser.add_argument("--redis-kills", type=int, default=100, help="kills of one of three redis workers")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the five troubles of redis")
    parser.add_argument("--clock-messages", type=int, default=5_000, help="messages while the clock jumps")
    parser.add_argument("--queued", type=int, default=100_000, help="messages of the long queue")
    parser.add_argument("--tickets", type=int, default=500, help="refunds that two bots are asked for")
    parser.add_argument("--bot-kills", type=int, default=12, help="kills of one of these two bots")
    parser.add_argument("--minutes", type=float, default=10.0, help="length of the steady load")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments")
    return parser.parse_args()


def main() -> int:
    """Run the fire; return the exit code."""
    options, console = arguments(), Console()
    logging.disable(logging.CRITICAL)  # what is provoked is not reported again
    with tempfile.TemporaryDirectory(prefix="hermes-fire-") as folder:
        if shutil.which("redis-server"):
            with running_redis() as server:
                reports = run(options, server, Path(folder), console)
        else:
            console.print("redis-server is not installed: the scenes on redis are left out")
            reports = run(options, None, Path(folder), console)
    show(reports, console)
    if options.json:
        told = [{"scene": each.scene, **each.figures, "problems": list(each.problems)} for each in reports]
        options.json.write_text(json.dumps(told, indent=2) + "\n")
    return 1 if any(report.problems for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
