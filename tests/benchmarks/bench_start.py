"""Start and memory: from `make run` to the page answering and the bot being ready, and the idle bot's memory.

Goals: the page within 20 s; at most 400 MB idle in profile light, 900 MB in default. `first` starts on an empty data
folder, `again` on the one that the first start left. The yardstick is the bare interpreter importing the same
libraries' smallest part: what no bot in Python can be faster than.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
LIMIT_S = 300.0
IDLE_S = 5.0
GOALS_MB = {"light": 400, "default": 900}


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What one start took, in seconds, and the memory of the idle bot in MB."""

    page_s: float
    ready_s: float
    cpu_s: float
    rss_mb: float


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(url: str) -> bool:
    """Return whether the address answers with success."""
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - our own address on this machine
            return int(answer.status) == 200
    except (urllib.error.URLError, OSError):
        return False


def wait_for(url: str, process: subprocess.Popen[bytes], started: float) -> float:
    """Return the seconds from `started` until the address answers."""
    while not answers(url):
        if process.poll() is not None or time.perf_counter() - started > LIMIT_S:
            raise SystemExit(f"{url} did not answer; exit code {process.poll()}")
        time.sleep(0.05)
    return time.perf_counter() - started


def measure(profile: str, data: Path) -> Start:
    """Return what a start with `make run` takes."""
    page, http = free_port(), free_port()
    environ = os.environ | {"HERMES_ENCODER__PROFILE": profile, "HERMES_DATA__PATH": str(data)}
    command = ["make", "--silent", "run", f"ARGS=--json --port {http} --workspace-port {page}"]
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        page_s = wait_for(f"http://127.0.0.1:{page}/", process, started)
        ready_s = wait_for(f"http://127.0.0.1:{http}/readyz", process, started)
        time.sleep(IDLE_S)
        family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        bot = max(family, key=lambda each: each.memory_info().rss)
        cpu = bot.cpu_times()
        return Start(
            page_s=page_s, ready_s=ready_s, cpu_s=cpu.user + cpu.system, rss_mb=bot.memory_info().rss / 1_000_000
        )
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def yardstick_s() -> float:
    """Return the seconds that the bare interpreter needs for the libraries that every start imports."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import aiohttp, slack_bolt, sqlalchemy, numpy, pydantic"], check=True)
    return time.perf_counter() - started


def main() -> None:
    """Print a line per profile and start, and one JSON object at the end."""
    bare_s = yardstick_s()
    figures: dict[str, object] = {"yardstick_imports_s": round(bare_s, 2)}
    print(f"{'profile':<9}{'start':<7}{'page':>8}{'ready':>9}{'x imports':>11}{'CPU':>8}{'idle RSS':>10}{'goal':>8}")
    for profile, goal_mb in GOALS_MB.items():
        with tempfile.TemporaryDirectory() as data:
            for which in ("first", "again"):
                took = measure(profile, Path(data))
                figures[f"{profile}.{which}"] = {
                    "page_s": round(took.page_s, 2),
                    "ready_s": round(took.ready_s, 2),
                    "rss_mb": round(took.rss_mb),
                }
                print(
                    f"{profile:<9}{which:<7}{took.page_s:>6.1f} s{took.ready_s:>7.1f} s{took.ready_s / bare_s:>11.1f}"
                    f"{took.cpu_s:>6.1f} s{took.rss_mb:>7.0f} MB{goal_mb:>5} MB"
                )
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
