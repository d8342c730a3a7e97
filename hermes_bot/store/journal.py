"""The journal in SQL: every attempt and every call, written in batches beside the work, kept for a while.

Adding a record only puts it on a list. A task writes the list at least every `flush_every_s`, and once more at the
end, so `kill -9` may lose the records of that time; the bus's own records still tell what became of the messages.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, String, delete, func, insert, or_, select
from sqlalchemy.exc import SQLAlchemyError

from hermes_bot.errors import StoreError, TransientError
from hermes_bot.observe.records import Make, Record, RecordKind
from hermes_bot.store.database import Database
from hermes_bot.store.tables import journal

FLUSH_EVERY_S = 0.2
TRIM_EVERY_S = 600.0
MOST_WAITING = 50_000
MOST_PER_FLUSH = 2_000
MOST_READ = 10_000

_COLUMNS = [column.name for column in journal.c if column.name != "number"]
_LENGTHS = {column.name: column.type.length for column in journal.c if isinstance(column.type, String)}
_TO_JSON = msgspec.json.Encoder().encode

Clock = Callable[[], datetime]
Sink = Callable[[Sequence[Record]], None]

logger = logging.getLogger(__name__)


class Journal:
    """Records in the store. `sink` is shown every batch, in the writing thread: spans are made there.

    While the database is away up to `MOST_WAITING` records wait; `lost` counts those beyond.
    """

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock,
        keep_days: float,
        max_rows: int,
        sink: Sink | None = None,
        flush_every_s: float = FLUSH_EVERY_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.lost = 0
        self._database = database
        self._clock = clock
        self._keep = timedelta(days=keep_days)
        self._max_rows = max_rows
        self.sink = sink
        self._flush_every_s = flush_every_s
        self._sleep = sleep
        self._waiting: list[Make] = []
        self._unwritten: list[Record] = []
        self._writing = asyncio.Lock()

    def add(self, make: Make) -> None:
        """Take a record, made when it is written. Cheap: call it on the event loop wherever something was done."""
        if len(self._waiting) >= MOST_WAITING:
            self.lost += 1
            return
        self._waiting.append(make)

    async def run(self) -> None:
        """Write and trim until cancelled; call `close` afterwards."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._every(self._flush_every_s, self.flush), name="journal-flush")
            tasks.create_task(self._every(TRIM_EVERY_S, self.trim), name="journal-trim")

    async def close(self) -> None:
        """Write what is left, if the database takes it."""
        await self._quietly(self.flush)

    async def flush(self) -> None:
        """Write what waits; raise TransientError when the database does not take it: it is kept for the next time."""
        async with self._writing:
            while self._waiting or self._unwritten:
                batch, self._waiting = self._waiting[:MOST_PER_FLUSH], self._waiting[MOST_PER_FLUSH:]
                if batch:
                    self._keep_unwritten(await asyncio.to_thread(self._made, batch))
                await self._write()

    def _keep_unwritten(self, records: Sequence[Record]) -> None:
        room = MOST_WAITING - len(self._unwritten)
        self.lost += max(0, len(records) - room)
        self._unwritten += records[:room]

    async def _write(self) -> None:
        rows = [_row_of(record) for record in self._unwritten]
        try:
            await self._database.run(lambda connection: _insert(connection, rows))
        except SQLAlchemyError as error:  # not for want of a database: these rows would be refused for ever
            self.lost += len(rows)
            logger.error("journal entries refused", extra={"error": type(error).__name__, "count": len(rows)})  # noqa: TRY400 - the cause holds the rows
        self._unwritten = []

    async def trim(self) -> int:
        """Delete what is older than `keep_days` and what is beyond `max_rows`; return how many rows went."""
        before = self._clock() - self._keep

        def work(connection: Connection) -> int:
            old = connection.execute(delete(journal).where(journal.c.started_at < before)).rowcount
            last = connection.scalar(select(func.max(journal.c.number))) or 0
            beyond = connection.execute(delete(journal).where(journal.c.number <= last - self._max_rows)).rowcount
            return int(old + beyond)

        return await self._database.run(work)

    async def of(self, *, message_ids: Collection[str] = (), trace_ids: Collection[str] = ()) -> list[Record]:
        """Return the records of these messages and of these traces, oldest first."""
        ours = or_(journal.c.message_id.in_(message_ids), journal.c.trace_id.in_(trace_ids))
        wanted = select(journal).where(ours).order_by(journal.c.number).limit(MOST_READ)
        return await self._database.run(lambda connection: [_record(row) for row in connection.execute(wanted)])

    def _made(self, batch: Sequence[Make]) -> list[Record]:
        records = [make() for make in batch]
        if self.sink is not None:
            self.sink(records)
        return records

    async def _every(self, seconds: float, duty: Callable[[], Awaitable[object]]) -> None:
        while True:
            await self._quietly(duty)
            await self._sleep(seconds)

    async def _quietly(self, duty: Callable[[], Awaitable[object]]) -> None:
        try:
            await duty()
        except (TransientError, StoreError) as error:
            logger.warning("the journal cannot be written now", extra={"error": str(error), "lost": self.lost})


def _insert(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Add the rows; on SQLite by its own driver, which takes a third of the time: thousands come in a second."""
    if not rows:
        return
    if connection.dialect.name != "sqlite":
        connection.execute(insert(journal), rows)
        return
    names = ", ".join(_COLUMNS)
    statement = f"INSERT INTO journal ({names}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608 - our own columns
    connection.exec_driver_sql(statement, [_sqlite_row(row) for row in rows])


def _sqlite_row(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return the values as SQLAlchemy would store them."""
    at: datetime = row["started_at"]
    stored = row | {
        "started_at": at.astimezone(UTC).isoformat(" ", "microseconds")[:26],
        "outputs": _TO_JSON(row["outputs"]).decode(),
    }
    return tuple(stored.values())


def _row_of(record: Record) -> dict[str, Any]:
    """Return the record in the order of the columns, with text that fits and that every database takes."""
    row = {name: getattr(record, name) for name in _COLUMNS}
    for name, length in _LENGTHS.items():
        row[name] = row[name].replace("\0", "")[:length]
    return row


def _record(row: Row[Any]) -> Record:
    columns = dict(row._mapping)
    del columns["number"]
    outputs = tuple((str(message_id), str(type_)) for message_id, type_ in columns["outputs"])
    return Record(**columns | {"kind": RecordKind(row.kind), "outputs": outputs})
