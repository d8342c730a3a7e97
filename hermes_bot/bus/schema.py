"""The sqlite file of the bus: opened with care, checked, migrated, locked for the one process that leases from it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from hermes_bot.errors import StoreError

APPLICATION_ID = 0x48524D53  # "HRMS", so that another program's database is never taken for ours
BUSY_TIMEOUT_S = 5.0

MIGRATIONS = (
    """
    CREATE TABLE deliveries (
      seq INTEGER PRIMARY KEY,  -- publish order
      task TEXT NOT NULL,
      subscription TEXT NOT NULL,
      agent TEXT NOT NULL,
      message_id TEXT NOT NULL,
      state TEXT NOT NULL DEFAULT 'queued',
      attempt INTEGER NOT NULL DEFAULT 1,
      redelivered INTEGER NOT NULL DEFAULT 0,
      branch TEXT NOT NULL,
      error TEXT NOT NULL DEFAULT '',
      queued_at REAL NOT NULL,  -- seconds since the epoch, as all times here
      retry_at REAL,
      updated_at REAL,
      outside INTEGER NOT NULL DEFAULT 0,  -- put back by another process; the bus has not seen it yet
      body BLOB NOT NULL,  -- the message as JSON
      UNIQUE (task, subscription)
    ) STRICT;
    CREATE INDEX deliveries_by_message ON deliveries (message_id);
    CREATE INDEX deliveries_unfinished ON deliveries (seq) WHERE state NOT IN ('done', 'cancelled');
    """,
    """
    ALTER TABLE deliveries ADD COLUMN result BLOB;  -- what a request was answered with: a message as JSON
    CREATE TABLE pauses (since REAL NOT NULL) STRICT;  -- one row while the bus is paused
    CREATE TABLE cancellations (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      context_id TEXT NOT NULL,
      at REAL NOT NULL,  -- what was queued by then is cancelled
      outside INTEGER NOT NULL  -- wanted by another process; the bus has not seen it yet
    ) STRICT;
    """,
)
"""What brings a file from version n to n + 1. Never change one that was released: append."""


@contextlib.contextmanager
def as_store_error(path: Path) -> Iterator[None]:
    """Turn what sqlite and the file system raise into a StoreError that names the file."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"bus database {path}: {error}") from error


def connect(path: Path, *, synchronous: str = "FULL") -> sqlite3.Connection:
    """Return a connection in autocommit mode, usable from any one thread at a time."""
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA secure_delete = ON")  # what is deleted here were somebody's words
    return connection


def prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Create or migrate the schema; raise StoreError for a file that is not ours or newer than this program."""
    version = _version(connection, path)
    if version > len(MIGRATIONS):
        require_current(connection, path)
    connection.execute("PRAGMA journal_mode = WAL")
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        marks = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {number};"
        try:
            connection.executescript(f"BEGIN IMMEDIATE; {script} {marks} COMMIT;")
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def require_current(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError unless the file has exactly the version that this program works on."""
    version = _version(connection, path)
    if version != len(MIGRATIONS):
        remedy = "install a newer program" if version > len(MIGRATIONS) else "start the bot once to bring it up to date"
        raise StoreError(f"bus database {path} has version {version}, this program needs {len(MIGRATIONS)}: {remedy}")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    ours = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    if not ours and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreError(f"bus database {path} belongs to another program; choose another data.path")
    return version


class LeaseLock:
    """A lock file beside the database: only its holder may lease. The kernel frees it when the process ends."""

    def __init__(self, path: Path) -> None:
        self._database = path
        self._path = path.with_name(path.name + ".lock")
        self._file: IO[str] | None = None

    def take(self) -> None:
        """Take the lock; raise StoreError where another process holds it."""
        file = self._path.open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            file.close()
            raise StoreError(
                f"bus database {self._database} is in use by process {holder}; stop that one, or set another data.path"
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._file = file

    def release(self) -> None:
        """Free the lock. The file stays: to delete it would let two processes lock two files of one name."""
        if self._file is not None:
            self._file.close()
            self._file = None


@contextlib.contextmanager
def alone(path: Path) -> Iterator[bool]:
    """Give whether no bot has the file; while that is so, none can take it before the block ends."""
    lock = LeaseLock(path)
    try:
        lock.take()
    except StoreError:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
