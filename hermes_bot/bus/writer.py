"""One thread that writes to sqlite, with natural group commit.

While a commit waits for the disk, callers queue up; the next transaction takes them all. Nobody waits for a timer,
and under load one `fsync` serves hundreds of callers.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from hermes_bot.errors import StoreError

MOST_PER_COMMIT = 1000

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
Change = Callable[[sqlite3.Connection], Result]


@dataclass(slots=True)
class _Job:
    """A change, and who waits for it. `then` runs on the loop after the commit, in the order of the commits."""

    change: Change[Any]
    future: asyncio.Future[Any] | None
    then: Callable[[Any], None] | None
    result: Any = None
    error: Exception | None = None


class Writer:
    """Runs changes in transactions on its own thread and answers on the event loop after COMMIT."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.commits = 0
        self._connection = connection
        self._path = path
        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="bus-writer", daemon=True)
        self._thread.start()

    def submit(self, change: Change[Result], then: Callable[[Result], None] | None = None) -> asyncio.Future[Result]:
        """Return a future of the change's result, done after COMMIT; it fails with StoreError.

        `then` is called with the result on the loop, also when the one who waited was cancelled.
        """
        if self._closed:
            raise StoreError(f"bus database {self._path} is closed")
        future: asyncio.Future[Result] = self._loop.create_future()
        self._jobs.put(_Job(change, future, then))
        return future

    def post(self, change: Change[None]) -> None:
        """Make the change without anybody waiting; that it failed is logged."""
        if not self._closed:
            self._jobs.put(_Job(change, None, None))

    async def close(self) -> None:
        """Write what was submitted, then end the thread and close the connection."""
        self._closed = True
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        closing = False
        while not closing:
            batch, closing = self._next_batch()
            self._write(batch)
            self._loop.call_soon_threadsafe(_answer, batch)
        self._connection.close()

    def _next_batch(self) -> tuple[list[_Job], bool]:
        batch: list[_Job] = []
        job = self._jobs.get()
        while job is not None:
            batch.append(job)
            if len(batch) == MOST_PER_COMMIT:
                return batch, False
            try:
                job = self._jobs.get_nowait()
            except Empty:
                return batch, False
        return batch, True

    def _write(self, batch: list[_Job]) -> None:
        """Commit the batch as one transaction; where that fails, each job alone, so that only culprits fail.

        Not so when another process holds the file: that is nobody's fault, and each would wait as long again.
        """
        failure = self._commit(batch)
        if failure is None or len(batch) == 1 or getattr(failure, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            return
        for job in batch:
            self._commit([job])

    def _commit(self, batch: list[_Job]) -> Exception | None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for job in batch:
                job.error = None
                job.result = job.change(self._connection)
            self._connection.execute("COMMIT")
        except Exception as cause:  # noqa: BLE001 - it goes to everybody who waits; the thread must live on
            self._roll_back()
            error = StoreError(f"bus database {self._path}: {cause}")
            error.__cause__ = cause
            for job in batch:
                job.error = error
            return cause
        self.commits += 1
        return None

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


def _answer(batch: list[_Job]) -> None:
    for job in batch:
        if job.future is None:
            if job.error is not None:
                logger.warning("a change that nobody waits for failed", exc_info=job.error)
            continue
        if job.error is not None:
            if not job.future.done():
                job.future.set_exception(job.error)
            continue
        if not job.future.done():
            job.future.set_result(job.result)
        if job.then is not None:
            job.then(job.result)
