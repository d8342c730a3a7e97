"""`hermes-bot bench`: how fast the bus is here, beside a bare yardstick in the same run."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from hermes_bot.cli import bench_routing
from hermes_bot.cli.bench_load import RATES, Load, as_arguments, best, rounded
from hermes_bot.cli.output import AsJson, say_json, say_table
from hermes_bot.errors import HermesError

ROUND_LIMIT_S = 900
START_LIMIT_S = 30
TAIL = 500
SLOW = {"one-commit": 20, "arq": 40}  # they get so many times fewer messages and chains

app = typer.Typer(help="Measure the bus or the routing on this machine.", no_args_is_help=True)


class Kind(StrEnum):
    """The bus's backends."""

    MEMORY = "memory"
    SQLITE = "sqlite"
    REDIS = "redis"


YARDSTICKS = {
    Kind.MEMORY: ("queue", "a bare asyncio.PriorityQueue"),
    Kind.SQLITE: ("one-commit", "sqlite with a commit for each message and each ack"),
    Kind.REDIS: ("raw-streams", "raw Redis Streams in batches"),
}


app.command("routing")(bench_routing.routing)


@app.callback()
def _options() -> None:
    """Measure on this machine."""


@app.command("bus")
def bus(
    backend: Annotated[Kind, typer.Option("--backend", help="Where messages are kept.")] = Kind.MEMORY,
    url: Annotated[str, typer.Option("--url", help="A redis; default: one of its own while it runs.")] = "",
    messages: Annotated[int, typer.Option(min=1000, help="Messages for the throughput.")] = 20_000,
    seconds: Annotated[float, typer.Option(min=0.5, help="Length at each rate.")] = 2.0,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds; the best figures count.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Measure latency, throughput and CPU of the bus with everything on, and a yardstick, taking turns."""
    yardstick, told = YARDSTICKS[backend]
    load = Load(messages=messages, seconds=seconds)
    with redis_for_benches(url, wanted=backend is Kind.REDIS) as address:
        results = interleaved([backend.value, yardstick], load, rounds, address)
    figures = {"backend": backend.value, **results[backend.value], "yardstick": results[yardstick]}
    if as_json:
        say_json(figures)
        return
    typer.echo(f"{backend.value} with everything on, beside {told}; the best of {rounds} rounds, which took turns")
    rows = [[name, *columns_of(results[name])] for name in (backend.value, yardstick)]
    say_table(COLUMNS, rows, empty="")


COLUMNS = ("", *(f"{rate}/s p50/p99 ms" for rate in RATES), "3 hops ms", "msg/s", "CPU µs/msg", "RSS MB")


def columns_of(figures: dict[str, Any]) -> list[str]:
    """Return a contender's figures as cells, those of `COLUMNS` after the first."""
    rates = [figures["rates"][str(rate)] for rate in RATES]
    cpu, server = figures["cpu_us_per_message"], figures["server_cpu_us_per_message"]
    return [
        *(f"{rate['p50_ms']:.3f}/{rate['p99_ms']:.2f}" for rate in rates),
        f"{figures['chain3_p50_ms']:.2f}",
        f"{figures['throughput_per_s']:,.0f}",
        f"{cpu:.1f}" + (f" + {server:.1f}" if server else ""),
        f"{figures['rss_mb']:.0f}",
    ]


def interleaved(
    names: list[str], load: Load, rounds: int, url: str, commands: dict[str, list[str]] | None = None
) -> dict[str, dict[str, Any]]:
    """Return the best figures of each contender; each is measured in a process of its own, one after another.

    `commands` names other programs than ours that take the same arguments.
    """
    seen: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    ours = [sys.executable, "-m", "hermes_bot.cli.bench_contenders"]
    for _ in range(rounds):
        for name in names:
            seen[name].append(_one_round((commands or {}).get(name, ours), name, load, url))
    return {name: rounded(best(several)) for name, several in seen.items()}


def _one_round(command: list[str], name: str, load: Load, url: str) -> dict[str, Any]:
    slower = SLOW.get(name, 1)
    chains, count = max(3, load.chains // slower), max(200, load.messages // slower)
    fitting = Load(messages=count, seconds=load.seconds, chains=chains)
    with tempfile.TemporaryDirectory(prefix="hermes-bench-") as folder:
        arguments = as_arguments(name, fitting, Path(folder), url)
        done = subprocess.run(  # noqa: S603 - our own program
            [*command, *arguments], capture_output=True, text=True, timeout=ROUND_LIMIT_S, check=False
        )
    if done.returncode != 0:
        raise HermesError(f"bench of {name} failed: {done.stderr.strip()[-TAIL:]}")
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


@contextmanager
def redis_for_benches(url: str, *, wanted: bool) -> Iterator[str]:
    """Give the URL of the redis to measure: the one named, or one of our own (append-only file, everysec)."""
    if url or not wanted:
        yield url
        return
    program = shutil.which("redis-server")
    if program is None:
        raise HermesError("redis-server is not installed; install it, or name a redis with --url")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="hermes-bench-", ignore_cleanup_errors=True) as folder:
        options = f"--port {port} --bind 127.0.0.1 --dir {folder} --appendonly yes --appendfsync everysec".split()
        server = subprocess.Popen([program, *options, "--save", ""], stdout=subprocess.DEVNULL)  # noqa: S603 - found on PATH
        try:
            _wait_for(port)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            server.kill()
            server.wait()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError as error:
            if time.monotonic() > deadline:
                raise HermesError("redis-server did not start") from error
            time.sleep(0.05)
        else:
            return
