"""One SQL database: an engine, a thread to run transactions in, and foreign errors turned into ours.

Knows nothing about tables; `hermes_bot.store.schema` brings Hermes' own up to date.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, InterfaceError, OperationalError, SQLAlchemyError

from hermes_bot.errors import StoreError, TransientError

Answer = TypeVar("Answer")

POSTGRES_CONNECTIONS = 4
BUSY_TIMEOUT_MS = 5_000


class Database:
    """Runs transactions off the event loop. SQLite gets one thread, PostgreSQL a few."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._engine: Engine | None = None
        self._threads: ThreadPoolExecutor | None = None

    @property
    def shown_url(self) -> str:
        """The URL without its password."""
        return make_url(self.url).render_as_string(hide_password=True)

    @property
    def missing(self) -> bool:
        """Whether it is a SQLite file that nobody has made yet: to open it would make it."""
        try:
            url = make_url(self.url)
        except ArgumentError:
            return False  # `open` says what is wrong with it
        file = url.database
        return url.get_backend_name() == "sqlite" and bool(file) and file != ":memory:" and not Path(str(file)).exists()

    async def open(self) -> None:
        """Connect once, so that a wrong address or folder is known at the start; raise StoreError."""
        try:
            self._engine, threads = _engine(self.url)
        except (ArgumentError, ModuleNotFoundError, ValueError) as error:
            raise StoreError(f"{_without_password(self.url)!r} is not a database address: {error}") from error
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="store")
        try:
            await self.run(lambda connection: connection.exec_driver_sql("SELECT 1").scalar())
        except TransientError as error:
            await self.close()
            raise StoreError(f"cannot use the database {self.shown_url}: {_cause(error)}") from error

    async def close(self) -> None:
        """Finish what runs and let go of all connections."""
        if self._threads is not None:
            await asyncio.to_thread(self._threads.shutdown)
            self._threads = None
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    async def run(self, work: Callable[[Connection], Answer]) -> Answer:
        """Return what `work` returns, run whole in one transaction; it must not be rerun-sensitive beyond that.

        Raise TransientError when the database is away, busy or full.
        """
        if self._threads is None or self._engine is None:
            raise StoreError("the database is not open")
        return await asyncio.get_running_loop().run_in_executor(self._threads, _transact, self._engine, work)


def _transact(engine: Engine, work: Callable[[Connection], Answer]) -> Answer:
    try:
        with engine.begin() as connection:
            return work(connection)
    except (OperationalError, InterfaceError) as error:
        raise TransientError(f"database: {_cause(error)}") from error
    except DatabaseError as error:
        if "malformed" in str(error) or "not a database" in str(error):
            raise TransientError(f"database: {_cause(error)}") from error
        raise


def _engine(url: str) -> tuple[Engine, int]:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        if parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        return create_engine(
            parsed, pool_size=POSTGRES_CONNECTIONS, pool_pre_ping=True, hide_parameters=True
        ), POSTGRES_CONNECTIONS
    if parsed.database and parsed.database != ":memory:":
        _make_folder(Path(parsed.database).parent)
    options = {"check_same_thread": False, "timeout": BUSY_TIMEOUT_MS / 1000}
    engine = create_engine(parsed, connect_args=options, hide_parameters=True)  # they hold people's words
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine, 1


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot create the data folder {folder}: {error.strerror}; set data.path") from error


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # BEGIN is ours, or pysqlite would delay it until the first write
    # secure_delete: what is deleted here were somebody's words
    wanted = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON")
    for pragma in (*wanted, f"busy_timeout={BUSY_TIMEOUT_MS}"):
        connection.execute(f"PRAGMA {pragma}")


def _without_password(url: str) -> str:
    """Return what cannot be read as a URL without all that may be a secret: who connects, and what it asks for."""
    head, at, tail = url.partition("?")[0].rpartition("@")
    scheme, slashes, _ = head.partition("://")
    return f"{scheme if slashes else ''}{slashes}***@{tail}" if at else tail


def _cause(error: BaseException) -> str:
    """Return the driver's own sentence, without SQL and parameters, which may hold personal data."""
    cause = error.__cause__ if isinstance(error, TransientError) and error.__cause__ else error
    driver_error = cause.orig if isinstance(cause, SQLAlchemyError) and hasattr(cause, "orig") else cause
    return str(driver_error).strip().splitlines()[0]
