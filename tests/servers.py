"""Real servers for tests: a PostgreSQL and a redis of our own in temporary folders, on free ports of this machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psycopg
import pytest
import redis
from psycopg.sql import SQL, Identifier

from tests.ports import free_port

START_LIMIT_S = 60
STOP_LIMIT_S = 30
HASTY = "-c fsync=off -c full_page_writes=off -c synchronous_commit=off -c autovacuum=off"  # nothing here must last
READY = "database system is ready to accept connections"


class NoServer(Exception):
    """The server's program is not installed; the text says what to install."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Postgres:
    """A running server that trusts everyone on this machine."""

    port: int

    def new_database(self, like: str = "") -> str:
        """Create a database, empty or a copy of the one whose URL is `like` and which nobody uses; return its URL."""
        name, template = f"t{uuid.uuid4().hex}", like.rsplit("/", 1)[-1] or "template1"
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            statement = SQL("CREATE DATABASE {} TEMPLATE {}")
            connection.execute(statement.format(Identifier(name), Identifier(template)))
        return self._address(name)

    def _address(self, database: str) -> str:
        return f"postgresql://hermes@127.0.0.1:{self.port}/{database}"


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """Run a PostgreSQL server while the block runs; raise NoServer where it is not installed.

    It refuses to run as root, so for root it runs as the user `postgres`, which the packages create.
    """
    programs = _programs()
    user: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="hermes-postgres-"))
    try:
        if user:
            shutil.chown(folder, user["user"], user["group"])
        data = folder / "data"
        create = f"{programs / 'initdb'} -D {data} -U hermes -A trust -E UTF8 --locale=C --no-sync".split()
        subprocess.run(create, check=True, capture_output=True, timeout=START_LIMIT_S, cwd=folder, **user)
        with _serving(programs, data, user) as port:
            yield Postgres(port=port)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _serving(programs: Path, data: Path, user: dict[str, Any]) -> Iterator[int]:
    port = free_port()
    options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= {HASTY}".split()
    command = [str(programs / "postgres"), "-D", str(data), *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=data, **user)
    log = _Log(server)
    try:
        if not log.ready.wait(START_LIMIT_S) or server.poll() is not None:
            raise RuntimeError("PostgreSQL did not start:\n" + "".join(log.lines))
        yield port
    finally:
        server.send_signal(signal.SIGQUIT)  # at once, without putting the files in order: they are thrown away
        try:
            server.wait(STOP_LIMIT_S)
        finally:
            server.kill()
            log.close()


class _Log:
    """Reads what the server prints, so that it never blocks; `ready` is set when it is, or when it has ended."""

    def __init__(self, server: subprocess.Popen[str]) -> None:
        self.ready = threading.Event()
        self.lines: list[str] = []
        self._server = server
        self._thread = threading.Thread(target=self._read, name="postgres-log", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._thread.join(STOP_LIMIT_S)
        if self._server.stdout is not None:
            self._server.stdout.close()

    def _read(self) -> None:
        for line in self._server.stdout or ():
            self.lines.append(line)
            if READY in line:
                self.ready.set()
        self.ready.set()


def _programs() -> Path:
    on_path = shutil.which("postgres")
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    if on_path:
        return Path(on_path).resolve().parent
    if not installed:
        raise NoServer("PostgreSQL is not installed (Debian, Ubuntu: apt-get install postgresql)")
    return installed[-1].parent


@dataclass(slots=True, kw_only=True)
class Redis:
    """A redis server that can be stopped, killed and started again; it keeps an append-only file in `folder`."""

    folder: Path
    port: int
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of its first database."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it and return once it answers; raise NoServer where it is not installed."""
        program = shutil.which("redis-server")
        if program is None:
            raise NoServer("redis-server is not installed (Debian, Ubuntu: apt-get install redis-server)")
        options = f"--port {self.port} --bind 127.0.0.1 --dir {self.folder} --logfile redis.log --appendonly yes"
        self._process = subprocess.Popen([program, *options.split(), "--save", ""], stdout=subprocess.DEVNULL)
        deadline = monotonic() + START_LIMIT_S
        while not self._answers():
            if self._process.poll() is not None or monotonic() > deadline:
                raise RuntimeError("redis did not start:\n" + (self.folder / "redis.log").read_text())
            sleep(0.01)

    def stop(self) -> None:
        """Ask it to end and wait until it has."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once, as a crash does."""
        self._end(signal.SIGKILL)

    def client(self) -> redis.Redis:
        """Return a client, to look into it and to disturb it."""
        return redis.Redis(port=self.port)

    def _answers(self) -> bool:
        with self.client() as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(STOP_LIMIT_S)
            self._process = None


@contextmanager
def running_redis() -> Iterator[Redis]:
    """Run a redis server while the block runs.

    Where it is not installed, skip the test, or fail it when HERMES_REQUIRE_SHARED is 1.
    """
    with tempfile.TemporaryDirectory(prefix="hermes-redis-", ignore_cleanup_errors=True) as folder:
        server = Redis(folder=Path(folder), port=free_port())
        try:
            server.start()
            yield server
        except NoServer as error:
            if os.environ.get("HERMES_REQUIRE_SHARED") == "1":
                pytest.fail(str(error))
            pytest.skip(str(error))
        finally:
            server.kill()
