"""A loaded sqlite bus in a process of its own, to be killed: `fire_worker.py BUS_FILE LEDGER_FILE MESSAGES`.

It publishes numbered messages until each was acknowledged once, handles them in two steps, and writes every attempt
and every effect into a ledger that knows nothing of the bus. A line on stdout is a sign of life.
"""

import asyncio
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Delivery, Handler, Policy
from hermes_bot.bus.sqlite import SqliteBackend
from hermes_bot.messages.message import Message

PRODUCERS = 8
CONTEXTS = 16
LEDGER = """
    CREATE TABLE IF NOT EXISTS acked (task TEXT PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS attempts (task TEXT, agent TEXT, attempt INTEGER, redelivered INTEGER, context TEXT);
    CREATE TABLE IF NOT EXISTS effects (task TEXT, agent TEXT, PRIMARY KEY (task, agent));
"""


def recording(ledger: sqlite3.Connection, agent: str) -> Handler:
    async def handler(message: Message, delivery: Delivery) -> Sequence[Message]:
        row = (message.task, agent, delivery.attempt, delivery.redelivered, message.context_id)
        ledger.execute("INSERT INTO attempts VALUES (?, ?, ?, ?, ?)", row)
        await asyncio.sleep(0)
        ledger.execute("INSERT OR IGNORE INTO effects VALUES (?, ?)", row[:2])
        sys.stdout.write(f"{agent} {message.task}\n")
        sys.stdout.flush()
        return [message.child("second", {}, task_id=f"{message.task}.second")] if agent == "first" else []

    return handler


async def main(bus_file: str, ledger_file: str, messages: int) -> None:
    ledger = sqlite3.connect(ledger_file, isolation_level=None)
    ledger.execute("PRAGMA journal_mode = WAL")
    ledger.execute("PRAGMA synchronous = OFF")  # a kill of the process loses nothing that was written
    ledger.executescript(LEDGER)
    bus = Bus(SqliteBackend(Path(bus_file)))
    for agent in ("first", "second"):
        bus.subscribe(agent, agent, recording(ledger, agent), Policy(max_retries=1000))
    await bus.start()
    acked = {task for (task,) in ledger.execute("SELECT task FROM acked")}
    wanted = iter([n for n in range(messages) if f"task-{n}" not in acked])

    async def produce() -> None:
        for n in wanted:
            message = Message(type="first", sender="fire", context_id=f"c{n % CONTEXTS}", task_id=f"task-{n}")
            await bus.publish(message)
            ledger.execute("INSERT OR IGNORE INTO acked VALUES (?)", (message.task_id,))

    async with asyncio.TaskGroup() as producers:
        for number in range(PRODUCERS):
            producers.create_task(produce(), name=f"producer-{number}")
    await bus.drain(60)
    await bus.stop(5)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
