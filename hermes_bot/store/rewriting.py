"""Rewrites a SQLite file, so that nothing deleted is left in it: not in free pages, not in its write-ahead log."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

from hermes_bot.errors import StoreError

LIMIT_S = 60.0
BUSY_S = 5.0
REST_S = 0.05


def rewrite(path: Path, *, limit_s: float = LIMIT_S, rest: Callable[[float], None] = sleep) -> None:
    """Write the file anew and empty its log, also while others have it open; blocks, and they wait about as long.

    `secure_delete` overwrites what is deleted while it is on and says nothing of before; a vacuum leaves only what is
    there. The log can be emptied between other processes' readings: it is tried until it can.
    Raise StoreError when the limit passes first.
    """
    end = monotonic() + limit_s
    with contextlib.closing(sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        _until(end, path, lambda: _vacuumed(connection), rest)
        _until(end, path, lambda: _emptied(connection), rest)


def _until(end: float, path: Path, done: Callable[[], bool], rest: Callable[[float], None]) -> None:
    while not done():
        if monotonic() > end:
            raise StoreError(f"{path} is in use without a pause: what was deleted may still stand in it; try again")
        rest(REST_S)


def _vacuumed(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("VACUUM")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise StoreError(f"a database file cannot be rewritten: {error}") from error
        return False
    return True


def _emptied(connection: sqlite3.Connection) -> bool:
    """Return whether the log is empty (https://www.sqlite.org/pragma.html#pragma_wal_checkpoint)."""
    try:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError:
        return False
    return not busy
