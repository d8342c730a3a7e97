"""One life of a loaded bus, in a process of its own: `python -m tests.fire.worker LIFE`, LIFE being `Life` as JSON.

It says `ready` once it works. Then it takes orders from stdin, a word a line: `room` lifts the limit on the size of
files, `drain` ends publishing, finishes what is queued and ends the process. It ends too when stdin is closed.
"""

from __future__ import annotations

import asyncio
import random
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from hermes_bot.bus import schema
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Backend, Delivery, Handler, Policy
from hermes_bot.bus.redis_backend import RedisBackend
from hermes_bot.bus.sqlite import SqliteBackend
from hermes_bot.errors import BusFull, StoreError
from hermes_bot.messages.message import Message
from tests.fire.ledger import FIRST, PRODUCERS, SECOND, Ledger, context_of, ledger_at, task_of

LONGEST_S = 3600.0
AGAIN_S = 0.05
ENDLESS = 10**9


class Life(msgspec.Struct, frozen=True, kw_only=True):
    """What this process is to do. `bus` is a file or a redis URL; `publish` is the number to stop before."""

    bus: str
    ledger: str
    number: int
    publish: int = 0
    rate: float = 1000.0
    concurrency: int = 8
    handler_s: float = 0.002
    lease_s: float = 10.0
    data_bytes: int = 0
    file_limit: int = 0
    busy_s: float = 5.0
    max_queue_size: int = 10_000
    drain_s: float = 120.0


def backend_of(life: Life) -> Backend:
    """Return the backend, not opened."""
    if life.bus.startswith("redis://"):
        return RedisBackend(life.bus, lease_s=life.lease_s)
    return SqliteBackend(Path(life.bus))


def recording(ledger: Ledger, life: Life) -> Handler:
    async def handler(message: Message, delivery: Delivery) -> Sequence[Message]:
        task = asyncio.current_task()
        ledger.attempt(message, delivery, life.number, task.get_name() if task else "")
        await asyncio.sleep(random.random() * life.handler_s)
        ledger.effect(message, delivery)
        return [message.child(SECOND, task_id=f"{message.task}.{SECOND}")] if delivery.agent == FIRST else []

    return handler


async def produce(bus: Bus, ledger: Ledger, life: Life, producer: int, enough: asyncio.Event) -> None:
    """Publish the producer's numbers in order at its share of the rate; what is refused is tried again."""
    loop = asyncio.get_running_loop()
    due = loop.time() + producer / life.rate
    for n in range(ledger.next_of(producer), life.publish, PRODUCERS):
        await asyncio.sleep(max(0.0, due - loop.time()))
        if enough.is_set():
            return
        due += PRODUCERS / life.rate
        data = {"text": "x" * life.data_bytes}
        message = Message(type=FIRST, sender="fire", context_id=context_of(n), task_id=task_of(n, FIRST), data=data)
        while not await published(bus, ledger, message, n):  # noqa: ASYNC110 - a pause before it tries again
            await asyncio.sleep(AGAIN_S)


async def published(bus: Bus, ledger: Ledger, message: Message, n: int) -> bool:
    try:
        await bus.publish(message)
    except (StoreError, BusFull) as error:
        ledger.refused(n, error)
        return False
    ledger.acked(n)
    return True


async def obey(enough: asyncio.Event) -> None:
    """Take orders until `drain`; end the process when nobody can give any more."""
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while True:
        order = (await reader.readline()).decode().strip()
        if order == "room":
            limit_files(resource.RLIM_INFINITY)
        elif order == "drain":
            enough.set()
            return
        elif not order:
            raise SystemExit("nobody is there any more")


def limit_files(size: int) -> None:
    """Let no file grow beyond the size; writing more fails as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def live(life: Life, ledger: Ledger) -> None:
    bus = Bus(backend_of(life))
    policy = Policy(concurrency=life.concurrency, max_retries=1000, max_queue_size=life.max_queue_size)
    for agent in (FIRST, SECOND):
        bus.subscribe(agent, agent, recording(ledger, life), policy)
    await bus.start()
    if life.file_limit:
        limit_files(life.file_limit)
    sys.stdout.write("ready\n")
    sys.stdout.flush()

    enough = asyncio.Event()

    async def all_producers() -> None:
        async with asyncio.TaskGroup() as producers:
            for number in range(PRODUCERS):
                producers.create_task(produce(bus, ledger, life, number, enough), name=f"producer-{number}")
        sys.stdout.write("published\n")
        sys.stdout.flush()

    publishing = asyncio.create_task(all_producers(), name="producers")
    await obey(enough)
    await publishing
    if life.concurrency:
        await bus.drain(life.drain_s)
    await bus.stop(5)


async def main(life: Life) -> None:
    schema.BUSY_TIMEOUT_S = life.busy_s
    with ledger_at(Path(life.ledger)) as ledger:
        async with asyncio.timeout(LONGEST_S):
            await live(life, ledger)


if __name__ == "__main__":
    asyncio.run(main(msgspec.json.decode(sys.argv[1], type=Life)))
