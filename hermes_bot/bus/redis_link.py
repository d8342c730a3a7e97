"""A connection to redis that runs the bus's functions, in batches, and outlasts outages.

While one call is under way, callers queue up; the next call takes them all. A call whose answer was lost is
repeated, which the scripts allow. What the functions do is no concern of this file.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import msgspec
from redis import exceptions
from redis.asyncio.connection import AbstractConnection, ConnectionPool

from hermes_bot.errors import StoreError

LIBRARY = ("redis_records.lua", "redis_steps.lua", "redis_looks.lua")
MOST_PER_CALL = 200
ANSWER_LIMIT_S = 10.0
CONNECT_LIMIT_S = 5.0
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 2.0
UNREACHABLE = (exceptions.ConnectionError, exceptions.TimeoutError, OSError)
NOT_NOW = (exceptions.BusyLoadingError, exceptions.ReadOnlyError, exceptions.TryAgainError, exceptions.MasterDownError)

Operation = Sequence[object]
Then = Callable[[Any], None]

logger = logging.getLogger(__name__)


@cache
def library() -> tuple[str, str]:
    """Return the name and the text of the functions; the name tells the text, so that versions do not meet."""
    folder = files("hermes_bot.bus")
    text = "\n".join(folder.joinpath(part).read_text(encoding="utf-8") for part in LIBRARY)
    name = f"hermes_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return name, f"#!lua name={name}\n{text.replace('LIBRARY', name)}"


async def invoke(connection: AbstractConnection, function: str, *arguments: object) -> Any:
    """Return what the function answers; load the library where the server does not know it yet."""
    name, text = library()
    for known in (False, True):
        await connection.send_command("FCALL", f"{name}_{function}", 1, *arguments)
        try:
            return await connection.read_response()
        except exceptions.ResponseError as error:
            if known or "Function not found" not in str(error):
                raise
        await connection.send_command("FUNCTION", "LOAD", "REPLACE", text)
        await connection.read_response()
    raise AssertionError("the second call returns or raises")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the bus is: the server's URL and the prefix of its keys. `clock` None means the server's.

    A call that is not answered within `answer_limit_s` counts as lost.
    """

    url: str
    prefix: str = "hermes"
    clock: Callable[[], float] | None = None
    answer_limit_s: float = ANSWER_LIMIT_S

    @property
    def key(self) -> str:
        """The prefix with its hash tag, which keeps all keys of the bus in one slot."""
        return f"{{{self.prefix}}}"

    @property
    def shown(self) -> str:
        """The URL without its password."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def connection(self, **options: Any) -> AbstractConnection:
        """Return a connection that is not open yet; raise StoreError for a URL that is none.

        Limits are ours to set, see `connect` and `invoke`: with a `socket_timeout` redis-py sends through `wait_for`,
        which starts a task for each command and, in Python 3.11, may swallow a cancellation.
        """
        try:
            pool = ConnectionPool.from_url(self.url, protocol=2, **{"socket_keepalive": True, **options})
        except ValueError as error:
            raise StoreError(f"bus.url is no redis URL: {error}") from error
        connection: AbstractConnection = pool.make_connection()  # type: ignore[no-untyped-call]  # as redis-py has it
        connection.socket_timeout = None
        return connection


async def connect(connection: AbstractConnection) -> None:
    """Open the connection within the limit."""
    async with asyncio.timeout(CONNECT_LIMIT_S):
        await connection.connect()  # type: ignore[no-untyped-call]  # as redis-py has it


@dataclass(slots=True)
class _Call:
    """An operation that somebody waits for; a function makes it at the last moment."""

    operation: Operation | Callable[[], Operation]
    future: asyncio.Future[Any]
    then: Then | None


class Link:
    """Runs operations on a connection of its own; `start` and `close` it.

    `on_sizes` is told what each answer says of the queues. `first(repeated)` returns operations to run before a
    batch that may be a repeat.
    """

    def __init__(
        self,
        address: Address,
        *,
        consumer: str,
        when_full: bool,
        retry_for_s: float,
        sleep: Callable[[float], Awaitable[None]],
        on_sizes: Callable[[Sequence[Any]], None],
        first: Callable[[], Sequence[Operation]] = tuple,
    ) -> None:
        self._address = address
        self._consumer = consumer
        self._function = "work" if when_full else "publish"
        self._retry_for_s = retry_for_s
        self._sleep = sleep
        self._on_sizes = on_sizes
        self._first = first
        self._calls: deque[_Call] = deque()
        self._wake = asyncio.Event()
        self._closing = False
        self._unanswered = False
        self._connection: AbstractConnection | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self, name: str) -> None:
        """Begin to run what is submitted."""
        self._task = asyncio.create_task(self._work(), name=name)

    async def close(self) -> None:
        """Run what was submitted, once more where that fails, and disconnect."""
        self._closing = True
        self._wake.set()
        if self._task is not None:
            await self._task
            self._task = None
        await self._disconnect()

    def submit(self, operation: Operation | Callable[[], Operation], then: Then | None = None) -> asyncio.Future[Any]:
        """Return a future of the operation's result; it fails with StoreError.

        `then` is called with the result before any later operation is sent, also when the one who waited is gone.
        """
        if self._closing or self._task is None:
            raise StoreError(f"the bus at {self._address.shown} is not open")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._calls.append(_Call(operation, future, then))
        self._wake.set()
        return future

    async def _work(self) -> None:
        while True:
            if not self._calls:
                if self._closing:
                    return
                self._wake.clear()
                await self._wake.wait()
                continue
            batch = [self._calls.popleft() for _ in range(min(len(self._calls), MOST_PER_CALL))]
            try:
                await self._run(batch)
            except StoreError as error:
                _fail(batch, error)
            except BaseException:  # a bug, or cancelled: nobody may wait for ever
                _fail([*batch, *self._calls], StoreError("the bus broke down"))
                raise

    async def _run(self, batch: Sequence[_Call]) -> None:
        operations = [call.operation() if callable(call.operation) else call.operation for call in batch]
        give_up_at = monotonic() + self._retry_for_s
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                return self._answer(batch, await self._evaluate(operations))
            except (*UNREACHABLE, *NOT_NOW) as error:
                await self._disconnect()
                if self._closing or monotonic() + pause_s > give_up_at:
                    raise StoreError(f"redis at {self._address.shown} does not answer: {error}") from error
                logger.warning("redis does not answer, trying again", extra={"error": str(error), "wait_s": pause_s})
            except exceptions.RedisError as error:
                raise StoreError(f"redis at {self._address.shown} refuses: {error}") from error
            await self._sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    async def _evaluate(self, operations: Sequence[Operation]) -> Sequence[Any]:
        """Return the answer to `operations`; while `_unanswered`, what an earlier call did may be unknown."""
        repeated = self._unanswered
        before = self._first() if repeated else ()
        clock = self._address.clock
        now = "" if clock is None else repr(clock())
        blob = msgspec.msgpack.encode([*before, *operations])
        self._unanswered = True
        try:
            answer = await self._invoke(self._address.key, now, self._consumer, "1" if repeated else "", blob)
        except (*UNREACHABLE, *NOT_NOW):
            raise
        except exceptions.RedisError:
            self._unanswered = repeated  # it was refused whole
            raise
        self._unanswered = False
        results: Sequence[Any]
        results, sizes = answer
        self._on_sizes(sizes)
        return results[len(before) :]

    async def _invoke(self, *arguments: object) -> Any:
        if self._connection is None:
            self._connection = self._address.connection()
            await connect(self._connection)
        async with asyncio.timeout(self._address.answer_limit_s):
            return await invoke(self._connection, self._function, *arguments)

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect(nowait=True)

    def _answer(self, batch: Sequence[_Call], results: Sequence[Any]) -> None:
        for call, result in zip(batch, results, strict=True):
            if not call.future.done():
                call.future.set_result(result)
            if call.then is not None:
                call.then(result)


def _fail(batch: Sequence[_Call], error: StoreError) -> None:
    for call in batch:
        if not call.future.done():
            call.future.set_exception(error)
