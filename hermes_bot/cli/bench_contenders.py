"""What `bench bus` measures, one in a process: the bus on its backends, and the bare yardsticks beside it.

`python -m hermes_bot.cli.bench_contenders NAME …` prints the figures of one round as JSON.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import redis
from redis.asyncio import Redis

from hermes_bot.app.watched_bus import watched_bus
from hermes_bot.bus.port import Delivery, Handler, Policy
from hermes_bot.cli.bench_load import AGENTS, PER_CONTEXT, TEXT, Contender, Done, from_arguments, measure
from hermes_bot.messages.message import Message, decode, encode

HOPS = 3
BATCH = 100


def messages(count: int) -> list[Message]:
    """Return messages for five handlers in turn."""
    return [_message(f"bench.{n % AGENTS}", n) for n in range(count)]


def _message(type_: str, n: int) -> Message:
    return Message(type=type_, sender="bench", context_id=f"c{n // PER_CONTEXT}", data={"text": TEXT, "n": n})


class HermesBus:
    """The bus with everything on, or without its journal."""

    def __init__(self, kind: str, folder: Path, url: str, *, journal: bool = True) -> None:
        self._journal = journal
        self._kind, self._folder, self._url = kind, folder / secrets.token_hex(4), url
        self._parts = AsyncExitStack()

    async def start(self, done: Done, numbers: int) -> None:
        """Subscribe five handlers, and three in a row."""
        self._folder.mkdir(parents=True)
        prefix = f"bench-{self._folder.name}"
        bus = watched_bus(self._kind, self._folder, url=self._url, prefix=prefix, journal=self._journal)
        self._bus = await self._parts.enter_async_context(bus)
        for agent in range(AGENTS):
            self._bus.subscribe(f"bench.{agent}", f"agent{agent}", _last(done), Policy(max_queue_size=10**6))
        for hop in range(HOPS):
            handler = _last(done) if hop == HOPS - 1 else _next(f"hop.{hop + 1}")
            self._bus.subscribe(f"hop.{hop}", f"hop{hop}", handler)
        await self._bus.start()
        self._load = messages(numbers)
        self._chains = [_message("hop.0", n) for n in range(numbers)]

    async def publish(self, n: int) -> None:
        """Publish one message."""
        await self._bus.publish(self._load[n])

    async def chain(self, n: int) -> None:
        """Publish the first message of a chain."""
        await self._bus.publish(self._chains[n])

    async def stop(self) -> None:
        """Drain, stop, write the journal."""
        await self._bus.drain(60)
        await self._parts.aclose()
        if self._url:
            await _forget(self._url, self._folder.name)

    def server_cpu_s(self) -> float:
        """Return the server's CPU time."""
        return server_cpu_s(self._url)


def _last(done: Done) -> Handler:
    async def handler(message: Message, _delivery: Delivery) -> Sequence[Message]:
        done(message.data["n"])
        return ()

    return handler


def _next(type_: str) -> Handler:
    async def handler(message: Message, _delivery: Delivery) -> Sequence[Message]:
        return [message.child(type_, message.data)]

    return handler


async def _forget(url: str, name: str) -> None:
    """Delete the keys that hold the name, so that a redis of others is left as it was."""
    async with Redis.from_url(url) as client:
        keys = [key async for key in client.scan_iter(match=f"*{name}*", count=5000)]
        for start in range(0, len(keys), 5000):
            await client.unlink(*keys[start : start + 5000])


def server_cpu_s(url: str) -> float:
    """Return the user and system time of the redis server since its start; 0 without a URL."""
    if not url:
        return 0.0
    with redis.Redis.from_url(url) as client:
        told: dict[str, float] = client.info("cpu")
    return float(told["used_cpu_user"]) + float(told["used_cpu_sys"])


class BareQueue:
    """asyncio's PriorityQueue with a worker for each handler: no topics, lanes, limits, retries or records."""

    async def start(self, done: Done, numbers: int) -> None:
        """Start eight workers."""
        self._done, self._load = done, messages(numbers)
        self._chains = [_message("hop.0", n) for n in range(numbers)]
        names = [*(f"bench.{n}" for n in range(AGENTS)), *(f"hop.{n}" for n in range(HOPS))]
        self._queues: dict[str, asyncio.PriorityQueue[tuple[int, str, Message]]] = {
            name: asyncio.PriorityQueue() for name in names
        }
        self._workers = [asyncio.create_task(self._work(name), name=name) for name in names]

    async def _work(self, name: str) -> None:
        queue, hop = self._queues[name], int(name[-1]) + 1
        ends = name.startswith("bench") or hop == HOPS
        while True:
            _, _, message = await queue.get()
            if ends:
                await self._handle(message)
            else:
                self._put(message.child(f"hop.{hop}", message.data))

    async def _handle(self, message: Message) -> None:
        self._done(message.data["n"])

    def _put(self, message: Message) -> None:
        self._queues[message.type].put_nowait((-message.priority, message.id, message))

    async def publish(self, n: int) -> None:
        """Put one message."""
        self._put(self._load[n])

    async def chain(self, n: int) -> None:
        """Put the first message of a chain."""
        self._put(self._chains[n])

    async def stop(self) -> None:
        """End the workers."""
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)

    def server_cpu_s(self) -> float:
        """Return 0."""
        return 0.0


class OneCommit(BareQueue):
    """The bare queue made durable in the plain way: a commit to publish and a commit to acknowledge."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{secrets.token_hex(4)}.db"

    async def start(self, done: Done, numbers: int) -> None:
        """Open the file, then as the bare queue."""
        self._connection = sqlite3.connect(self._path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE messages (id TEXT PRIMARY KEY, state TEXT, body BLOB)")

        def settled(n: int) -> None:
            done(n)
            self._connection.execute("UPDATE messages SET state = 'done' WHERE id = ?", (self._load[n].id,))

        await super().start(settled, numbers)

    def _put(self, message: Message) -> None:
        stored = message.id or f"{message.data['n']}-{message.type}"
        self._connection.execute("INSERT INTO messages VALUES (?, 'queued', ?)", (stored, encode(message)))
        super()._put(message)

    async def publish(self, n: int) -> None:
        """Store and put one message, and let the workers have a turn."""
        await super().publish(n)
        await asyncio.sleep(0)

    async def stop(self) -> None:
        """End the workers and close the file."""
        await super().stop()
        self._connection.close()


class RawStreams:
    """Redis Streams without anything: XADD in pipelines, XREADGROUP and XACK in batches, a stream for each agent."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def start(self, done: Done, numbers: int) -> None:
        """Make streams and groups, start a reader for each and a writer."""
        self._done, self._load = done, messages(numbers)
        self._chains = [_message("hop.0", n) for n in range(numbers)]
        self._prefix = f"raw-{secrets.token_hex(4)}"
        self._client = Redis.from_url(self._url, protocol=2, max_connections=64)
        self._waiting: list[tuple[Message, asyncio.Future[None]]] = []
        self._wake = asyncio.Event()
        names = [*(f"bench.{n}" for n in range(AGENTS)), *(f"hop.{n}" for n in range(HOPS))]
        for name in names:
            await self._client.xgroup_create(f"{self._prefix}.{name}", "g", mkstream=True)
        self._tasks = [asyncio.create_task(self._read(name), name=name) for name in names]
        self._tasks.append(asyncio.create_task(self._write(), name="writer"))

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            batch, self._waiting = self._waiting, []
            for start in range(0, len(batch), BATCH):
                some = batch[start : start + BATCH]
                async with self._client.pipeline(transaction=False) as pipe:
                    for message, _ in some:
                        pipe.xadd(f"{self._prefix}.{message.type}", {"m": encode(message)})
                    await pipe.execute()
                for _, written in some:
                    written.set_result(None)

    async def _read(self, name: str) -> None:
        stream, hop = f"{self._prefix}.{name}", int(name[-1]) + 1
        ends = name.startswith("bench") or hop == HOPS
        while True:
            got: Any = await self._client.xreadgroup("g", "c", {stream: ">"}, count=BATCH, block=5000)
            for _, entries in got:
                for _, fields in entries:
                    message = decode(fields[b"m"])
                    if ends:
                        self._done(message.data["n"])
                    else:
                        await self._add(message.child(f"hop.{hop}", message.data))
                await self._client.xack(stream, "g", *(entry for entry, _ in entries))

    async def _add(self, message: Message) -> None:
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((message, written))
        self._wake.set()
        await written

    async def publish(self, n: int) -> None:
        """Add one message; return when redis has it."""
        await self._add(self._load[n])

    async def chain(self, n: int) -> None:
        """Add the first message of a chain."""
        await self._add(self._chains[n])

    async def stop(self) -> None:
        """End the readers and throw the streams away."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.aclose()
        await _forget(self._url, self._prefix)

    def server_cpu_s(self) -> float:
        """Return the server's CPU time."""
        return server_cpu_s(self._url)


def maker(name: str, folder: Path, url: str) -> Callable[[], Contender]:
    """Return what makes the contender of that name."""
    makers: dict[str, Callable[[], Contender]] = {
        "queue": BareQueue,
        "memory, no journal": lambda: HermesBus("memory", folder, "", journal=False),
        "one-commit": lambda: OneCommit(folder),
        "raw-streams": lambda: RawStreams(url),
    }
    return makers.get(name) or (lambda: HermesBus(name, folder, url if name == "redis" else ""))


def main(arguments: list[str]) -> None:
    """Measure one contender and print its figures."""
    logging.disable(logging.ERROR)
    name, load, folder, url = from_arguments(arguments)
    figures: dict[str, Any] = measure(maker(name, folder, url), load)
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
