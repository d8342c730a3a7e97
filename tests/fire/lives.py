"""Starts, orders and kills the processes of `tests.fire.worker`; when the block ends none of them is left."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from tests.fire.worker import Life

ROOT = Path(__file__).resolve().parents[2]
READY_LIMIT_S = 60.0
TAIL = 2000


class LifeFailed(Exception):
    """A process ended that nobody killed, or did not do in time what it was told."""


@dataclass(slots=True, kw_only=True)
class Running:
    """A process that was started; `life` says what it does."""

    life: Life
    process: subprocess.Popen[bytes]
    log: Path
    said: bytes = b""

    def wait_for(self, word: str, limit_s: float = READY_LIMIT_S) -> None:
        """Return once it printed the word."""
        assert self.process.stdout is not None
        deadline = monotonic() + limit_s
        while word.encode() not in self.said:
            left_s = deadline - monotonic()
            readable, _, _ = select.select([self.process.stdout], [], [], max(0.0, left_s))
            got = os.read(self.process.stdout.fileno(), 4096) if readable else b""
            if not got:
                raise LifeFailed(f"life {self.life.number} did not say {word!r}:\n{self.tail()}")
            self.said += got

    def order(self, word: str) -> None:
        """Give it an order."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n".encode())
        self.process.stdin.flush()

    def kill(self) -> None:
        """End it with `kill -9`."""
        self.process.kill()
        self.process.wait(READY_LIMIT_S)

    def drain(self, limit_s: float = 180.0) -> None:
        """Have it finish what is queued and end."""
        self.order("drain")
        self.ended(limit_s)

    def ended(self, limit_s: float = 180.0) -> None:
        """Wait until it has ended well."""
        try:
            code = self.process.wait(limit_s)
        except subprocess.TimeoutExpired as error:
            self.process.send_signal(signal.SIGABRT)  # it tells where it stands
            self.process.wait(READY_LIMIT_S)
            raise LifeFailed(f"life {self.life.number} does not end:\n{self.tail()}") from error
        if code != 0:
            raise LifeFailed(f"life {self.life.number} ended with {code}:\n{self.tail()}")

    def tail(self) -> str:
        """Return the end of what it wrote to stderr."""
        return self.log.read_text(errors="replace")[-TAIL:]


@dataclass(slots=True)
class Lives:
    """Makes processes that share a bus and a ledger. `killed` holds the numbers of those that were killed."""

    folder: Path
    bus: str
    killed: set[int] = field(default_factory=set)
    _ends: ExitStack = field(default_factory=ExitStack)
    _number: int = 0

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.db"

    def start(self, **plan: Any) -> Running:
        """Start a process; `wait_for("ready")` tells when it works."""
        self._number += 1
        life = Life(bus=self.bus, ledger=str(self.ledger), number=self._number, **plan)
        log = self.folder / "lives.log"
        command = [sys.executable, "-m", "tests.fire.worker", msgspec.json.encode(life).decode()]
        with log.open("ab") as stderr:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1"},
            )
        self._ends.callback(_end, process)
        return Running(life=life, process=process, log=log)

    def kill(self, running: Running) -> None:
        """End the process with `kill -9` and remember that."""
        self.killed.add(running.life.number)
        running.kill()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait(READY_LIMIT_S)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


@contextmanager
def lives(folder: Path, bus: str) -> Iterator[Lives]:
    """Give what starts processes; those that are left at the end are killed."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as ends:
        yield Lives(folder, bus, _ends=ends)
