"""What really happened, in a database that knows nothing of the bus, and what is wrong with it.

`attempts` takes whatever comes; `effects` is keyed, as a table with an idempotency key is. Several processes write to
it, and any of them may be killed at any moment.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from hermes_bot.bus.port import Delivery
from hermes_bot.messages.message import Message

FIRST, SECOND = "first", "second"
PRODUCERS = 16
PER_CONTEXT = 40  # messages, so that no guard takes the load for a storm
BUSY_LIMIT_S = 30.0
SHOWN = 3

_TABLES = """
    CREATE TABLE IF NOT EXISTS acked (n INTEGER PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS refused (n INTEGER, error TEXT);
    CREATE TABLE IF NOT EXISTS attempts (n INTEGER, agent TEXT, redelivered INTEGER, life INTEGER, worker TEXT);
    CREATE TABLE IF NOT EXISTS effects (task TEXT, agent TEXT, PRIMARY KEY (task, agent));
"""


def task_of(n: int, agent: str) -> str:
    """Return the task of message `n` as `agent` gets it."""
    return f"t{n}" if agent == FIRST else f"t{n}.{agent}"


def number_of(message: Message) -> int:
    """Return the number of the message, or of the one that it follows from."""
    return int(message.task[1:].split(".")[0])


def context_of(n: int) -> str:
    """Return the context of message `n`; all messages of one come from one producer, in order."""
    return f"c{n % PRODUCERS}-{n // (PRODUCERS * PER_CONTEXT)}"


class Ledger:
    """An open ledger. A kill of the process loses nothing that a method wrote."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_LIMIT_S)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.executescript(_TABLES)

    def close(self) -> None:
        self._connection.close()

    def acked(self, n: int) -> None:
        """`publish` of message `n` returned."""
        self._connection.execute("INSERT OR IGNORE INTO acked VALUES (?)", (n,))

    def refused(self, n: int, error: Exception) -> None:
        """`publish` of message `n` raised."""
        self._connection.execute("INSERT INTO refused VALUES (?, ?)", (n, type(error).__name__))

    def attempt(self, message: Message, delivery: Delivery, life: int, worker: str) -> None:
        """A handler was called."""
        row = (number_of(message), delivery.agent, delivery.redelivered, life, worker)
        self._connection.execute("INSERT INTO attempts VALUES (?, ?, ?, ?, ?)", row)

    def effect(self, message: Message, delivery: Delivery) -> None:
        """A handler did what it is for, under its key."""
        self._connection.execute("INSERT OR IGNORE INTO effects VALUES (?, ?)", (message.task, delivery.agent))

    def next_of(self, producer: int) -> int:
        """Return the first number of the producer that was not acknowledged."""
        query = "SELECT max(n) FROM acked WHERE n % ? = ?"
        (last,) = self._connection.execute(query, (PRODUCERS, producer)).fetchone()
        return producer if last is None else int(last) + PRODUCERS

    def top(self) -> int:
        """Return the number after the last one that was acknowledged or handled."""
        query = "SELECT max(n) FROM (SELECT n FROM acked UNION ALL SELECT n FROM attempts)"
        (last,) = self._connection.execute(query).fetchone()
        return 0 if last is None else int(last) + 1

    def count(self, table: str) -> int:
        """Return how many rows the table has."""
        (number,) = self._connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - our own names
        return int(number)

    def audit(self, killed: Collection[int]) -> Audit:
        """Return what is wrong, where the lives `killed` were ended with `kill -9` and no others."""
        attempts = self._connection.execute(
            "SELECT rowid, n, agent, redelivered, life, worker FROM attempts ORDER BY rowid"
        ).fetchall()
        last = {(life, worker): row for row, _, _, _, life, worker in attempts}
        runs: defaultdict[tuple[int, str], list[tuple[int, bool, tuple[int, str]]]] = defaultdict(list)
        for row, n, agent, redelivered, life, worker in attempts:
            runs[n, agent].append((row, bool(redelivered), (life, worker)))
        problems = [*self._missing(runs.keys()), *_out_of_order(runs)]
        repeated = {key: several for key, several in runs.items() if len(several) > 1}
        for key, several in repeated.items():
            if any(where[0] not in killed or last[where] != row for row, _, where in several[:-1]):
                problems.append(f"{key} ran again though it was not in flight at a kill")
            if not all(redelivered for _, redelivered, _ in several[1:]):
                problems.append(f"{key} ran again and was not told")
        return Audit(messages=self.count("acked"), repeated=len(repeated), problems=tuple(problems))

    def _missing(self, begun: Collection[tuple[int, str]]) -> Iterator[str]:
        """Tell what was acknowledged and not done, and what was done under a key of another name.

        What was in the middle of being published at a kill may be done and was not acknowledged.
        """
        numbers = {n for (n,) in self._connection.execute("SELECT n FROM acked")}
        wanted = {(task_of(n, agent), agent) for n in numbers for agent in (FIRST, SECOND)}
        done = set(self._connection.execute("SELECT task, agent FROM effects").fetchall())
        known = {(task_of(n, agent), agent) for n, agent in begun}
        for what, keys in (("lost", wanted - done), ("done under another key", done - known)):
            if keys:
                yield f"{len(keys)} {what}, among them {sorted(keys)[:SHOWN]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What a ledger tells: how many messages, how many handlings ran more than once, and what must not be."""

    messages: int
    repeated: int
    problems: tuple[str, ...]


def _out_of_order(runs: dict[tuple[int, str], list[tuple[int, bool, tuple[int, str]]]]) -> Iterator[str]:
    """Tell which lanes were first handled in another order than the messages were published in."""
    lanes: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for (n, agent), several in runs.items():
        lanes[context_of(n), agent].append((several[0][0], n))
    for lane, begun in lanes.items():
        order = [n for _, n in sorted(begun)]
        if order != sorted(order):
            yield f"lane {lane} was handled in the order {order}"


@contextmanager
def ledger_at(path: Path) -> Iterator[Ledger]:
    """Open the ledger while the block runs."""
    with closing(Ledger(path)) as ledger:
        yield ledger
