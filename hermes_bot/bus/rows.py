"""Deliveries as rows: every SQL statement on them, each a function of a connection.

The backend calls these in its writer thread, the commands (`hermes_bot.bus.inspect`) on a connection of their own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from hermes_bot.bus.port import ANY, DEAD_LETTERS, Delivery, Settlement, State, Wanted
from hermes_bot.errors import PermanentError, StoreError
from hermes_bot.messages.message import Message, decode, encode

Connection = sqlite3.Connection

_COLUMNS = "subscription, agent, state, attempt, redelivered, branch, error, queued_at, updated_at, body"
_DEAD = ", ".join(f"'{state.value}'" for state in sorted(DEAD_LETTERS))
_NOT_BEFORE = "(julianday(CAST(body AS TEXT) ->> '$.not_before') - 2440587.5) * 86400"  # by way of Julian days
_WAITS_SINCE = f"max(queued_at, coalesce({_NOT_BEFORE}, 0))"
_UNFINISHED = "state NOT IN ('done', 'cancelled')"  # the words of the partial index
_INSERT = """
    INSERT INTO deliveries (task, subscription, agent, message_id, branch, queued_at, body)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (task, subscription) DO NOTHING
"""


Row = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What other processes changed: deliveries put back, contexts cancelled and when, since when there is a pause."""

    requeued: list[Delivery] = field(default_factory=list)
    cancelled: dict[str, datetime] = field(default_factory=dict)
    paused_since: datetime | None = None


def new_row(delivery: Delivery) -> Row:
    """Return what `insert` wants of a new delivery; raise PermanentError where its message is not JSON."""
    message = delivery.message
    try:
        body = encode(message)
    except (TypeError, ValueError, RecursionError) as error:
        raise PermanentError(f"{message.type} {message.id} cannot be stored: {error}") from error
    return (*delivery.key, delivery.agent, message.id, delivery.branch, delivery.queued_at.timestamp(), body)


def insert(connection: Connection, new: Sequence[Row]) -> list[bool]:
    """Add, as queued, those whose (task, subscription) is not known; return which were."""
    return [connection.execute(_INSERT, row).rowcount == 1 for row in new]


def mark_running(connection: Connection, delivery: Delivery) -> None:
    """Record that an attempt began, so that after a crash it counts."""
    connection.execute(
        "UPDATE deliveries SET state = 'running', attempt = ? WHERE task = ? AND subscription = ?",
        (delivery.attempt, *delivery.key),
    )


def settle(
    connection: Connection, delivery: Delivery, settlement: Settlement, outputs: Sequence[Row], now: datetime
) -> list[bool]:
    """Record what became of the attempt and add its outputs; return which of them were new."""
    attempts = delivery.attempt - settlement.postponed
    retry_at = settlement.retry_at.timestamp() if settlement.retry_at else None
    connection.execute(
        "UPDATE deliveries SET state = ?, attempt = ?, error = ?, retry_at = ?, updated_at = ?"
        " WHERE task = ? AND subscription = ?",
        (settlement.state.value, attempts, settlement.error, retry_at, now.timestamp(), *delivery.key),
    )
    if settlement.result is not None:
        connection.execute(
            "UPDATE deliveries SET result = ? WHERE task = ? AND subscription = ?",
            (encode(settlement.result), *delivery.key),
        )
    return insert(connection, outputs)


def result(connection: Connection, task: str, subscription: str) -> Message | None:
    """Return what the delivery was settled with as its result."""
    row = connection.execute(
        "SELECT result FROM deliveries WHERE task = ? AND subscription = ? AND result IS NOT NULL", (task, subscription)
    ).fetchone()
    return decode(row[0]) if row else None


def cancel(connection: Connection, deliveries: Iterable[Delivery], now: datetime) -> int:
    """Turn those of the deliveries that have not ended into cancelled; return how many did.

    One that waits may be `running` here, since it was when an earlier process ended.
    """
    changed = connection.executemany(
        "UPDATE deliveries SET state = 'cancelled', updated_at = ?"
        " WHERE task = ? AND subscription = ? AND state IN ('queued', 'retrying', 'running')",
        [(now.timestamp(), *delivery.key) for delivery in deliveries],
    )
    return max(changed.rowcount, 0)


def order_cancellation(connection: Connection, context_id: str, at: datetime, *, outside: bool) -> None:
    """Keep that the context was cancelled, for what runs now and would come back after a crash."""
    connection.execute(
        "INSERT INTO cancellations (context_id, at, outside) VALUES (?, ?, ?)", (context_id, at.timestamp(), outside)
    )


def forget_cancellations(connection: Connection, before: datetime) -> None:
    """Delete the cancellations that are older; nothing of that age can still run."""
    connection.execute("DELETE FROM cancellations WHERE at < ?", (before.timestamp(),))


def cancel_left(connection: Connection, now: datetime) -> None:
    """Cancel what an earlier process left of contexts that were cancelled."""
    rows = connection.execute("SELECT context_id, max(at) FROM cancellations GROUP BY context_id").fetchall()
    if not rows:
        return
    cancelled = {context_id: _time(at) for context_id, at in rows}
    for delivery, _ in unfinished(connection):
        at = cancelled.get(delivery.message.context_id)
        if at is not None and delivery.queued_at <= at:
            settle(connection, delivery, Settlement(state=State.CANCELLED), (), now)
    connection.execute("DELETE FROM cancellations")


def count_waiting(connection: Connection, context_id: str) -> int:
    """Return how many deliveries of the context are not in a final state."""
    row = connection.execute(
        f"SELECT count(*) FROM deliveries WHERE {_UNFINISHED} AND state NOT IN ({_DEAD})"  # noqa: S608 - constants
        " AND CAST(body AS TEXT) ->> '$.context_id' = ?",
        (context_id,),
    ).fetchone()
    return int(row[0])


def set_paused(connection: Connection, now: datetime, *, paused: bool) -> None:
    """Keep that nothing may be handled, with the time of the first order, or that it may again."""
    if not paused:
        connection.execute("DELETE FROM pauses")
    elif paused_since(connection) is None:
        connection.execute("INSERT INTO pauses (since) VALUES (?)", (now.timestamp(),))


def paused_since(connection: Connection) -> datetime | None:
    """Return since when nothing may be handled, or None."""
    (since,) = connection.execute("SELECT min(since) FROM pauses").fetchone()
    return None if since is None else _time(since)


def hand_back(connection: Connection, delivery: Delivery) -> None:
    """Record that the delivery waits again and that its attempt does not count."""
    connection.execute(
        "UPDATE deliveries SET state = 'queued', attempt = ?, redelivered = 1, queued_at = ?"
        " WHERE task = ? AND subscription = ?",
        (delivery.attempt, delivery.queued_at.timestamp(), *delivery.key),
    )


def unfinished(connection: Connection) -> list[tuple[Delivery, datetime | None]]:
    """Return what an earlier process left, in the order to queue it, with the time of a pending retry.

    Those that were begun come first: they hold their lanes. The attempt is the one to run next.
    """
    rows = connection.execute(
        f"SELECT {_COLUMNS}, retry_at FROM deliveries WHERE {_UNFINISHED} AND state NOT IN ({_DEAD})"  # noqa: S608 - constants
        " ORDER BY state = 'queued', seq"
    )
    found = []
    for *columns, retry_at in rows:
        delivery = _delivery(columns, restored=True)
        pending = delivery.state is State.RETRYING and retry_at is not None
        found.append((delivery, _time(retry_at) if pending else None))
    return found


def take_outside(connection: Connection) -> News:
    """Return what other processes changed since the last call, and whether there is a pause."""
    rows = connection.execute("SELECT context_id, max(at) FROM cancellations WHERE outside = 1 GROUP BY context_id")
    cancelled = {context_id: _time(at) for context_id, at in rows}
    if cancelled:
        connection.execute("UPDATE cancellations SET outside = 0")
    return News(requeued=_take_requeued(connection), cancelled=cancelled, paused_since=paused_since(connection))


def _take_requeued(connection: Connection) -> list[Delivery]:
    rows = connection.execute(f"SELECT {_COLUMNS} FROM deliveries WHERE {_UNFINISHED} AND outside = 1 ORDER BY seq")  # noqa: S608 - constants
    found = [_delivery(row) for row in rows]
    if found:
        connection.execute(f"UPDATE deliveries SET outside = 0 WHERE {_UNFINISHED} AND outside = 1")  # noqa: S608 - constants
    return found


def find(
    connection: Connection, states: Sequence[State], message_id: str, limit: int, wanted: Wanted = ANY
) -> list[Delivery]:
    """Return matching deliveries, newest first."""
    terms = [(text, values) for text, values in _terms(states, message_id, wanted) if values]
    where = " AND ".join(["1", *(text for text, _ in terms)])
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM deliveries WHERE {where} ORDER BY seq DESC LIMIT ?",  # noqa: S608 - placeholders only
        (*(value for _, values in terms for value in values), limit),
    )
    return [_delivery(row) for row in rows]


def _terms(states: Sequence[State], message_id: str, wanted: Wanted) -> list[tuple[str, Sequence[object]]]:
    """Return the conditions with their values; one without values is not asked for.

    What follows from a message has its id and a hyphen in front, and `.` is the character after the hyphen.
    """
    chain, before = wanted.chain, wanted.queued_before
    return [
        (f"state IN ({', '.join('?' * len(states))})", [state.value for state in states]),
        ("message_id = ?", [message_id] if message_id else []),
        ("(message_id = ? OR message_id > ? AND message_id < ?)", [chain, f"{chain}-", f"{chain}."] if chain else []),
        ("CAST(body AS TEXT) ->> '$.type' = ?", [wanted.type] if wanted.type else []),
        ("agent = ?", [wanted.agent] if wanted.agent else []),
        (f"{_WAITS_SINCE} < ?", [before.timestamp()] if before else []),
    ]


def counts(connection: Connection) -> dict[tuple[str, State], int]:
    """Return how many deliveries there are by (agent, state)."""
    rows = connection.execute("SELECT agent, state, count(*) FROM deliveries GROUP BY agent, state")
    return {(agent, State(state)): number for agent, state, number in rows}


def oldest(connection: Connection) -> dict[str, datetime]:
    """Return, by agent, since when the delivery waits that has waited longest of those in no final state."""
    rows = connection.execute(
        f"SELECT agent, min({_WAITS_SINCE}) FROM deliveries"  # noqa: S608 - constants
        f" WHERE {_UNFINISHED} AND state NOT IN ({_DEAD}) GROUP BY agent"
    )
    return {agent: _time(since) for agent, since in rows}


def requeue(
    connection: Connection, message_id: str, subscription: str, now: datetime, *, outside: bool
) -> Delivery | None:
    """Put a dead letter back at the end of its lane, as attempt 1, and return it, or None where there is none."""
    row = connection.execute(
        "UPDATE deliveries SET seq = (SELECT max(seq) + 1 FROM deliveries), state = 'queued', attempt = 1,"  # noqa: S608 - constants
        " redelivered = 1, error = '', queued_at = ?, retry_at = NULL, updated_at = NULL, outside = ?"
        f" WHERE message_id = ? AND subscription = ? AND state IN ({_DEAD}) RETURNING {_COLUMNS}",
        (now.timestamp(), outside, message_id, subscription),
    ).fetchall()
    return _delivery(row[0]) if row else None


def drop(connection: Connection, message_id: str, subscription: str, now: datetime) -> bool:
    """Turn a dead letter into cancelled; return whether there was one."""
    changed = connection.execute(
        "UPDATE deliveries SET state = 'cancelled', updated_at = ?"  # noqa: S608 - constants
        f" WHERE message_id = ? AND subscription = ? AND state IN ({_DEAD})",
        (now.timestamp(), message_id, subscription),
    )
    return changed.rowcount == 1


def finished_before(connection: Connection, before: datetime) -> list[int]:
    """Return the row numbers of finished deliveries, dead letters excepted, that are older than `before`."""
    rows = connection.execute(
        "SELECT seq FROM deliveries WHERE state IN ('done', 'cancelled') AND updated_at < ?", (before.timestamp(),)
    )
    return [seq for (seq,) in rows]


def delete(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete the rows of these numbers."""
    connection.executemany("DELETE FROM deliveries WHERE seq = ?", [(number,) for number in numbers])


def _delivery(row: Sequence[Any], *, restored: bool = False) -> Delivery:
    """Return the row as a delivery; `restored` prepares it for its next attempt in this process."""
    subscription, agent, state, attempt, redelivered, branch, error, queued_at, updated_at, body = row
    begun = restored and state != State.QUEUED
    try:
        message = decode(body)
    except PermanentError as cause:
        raise StoreError(
            f"the delivery for {subscription!r} queued at {_time(queued_at)} is damaged: {cause}"
        ) from cause
    return Delivery(
        message=message,
        subscription=subscription,
        agent=agent,
        state=State(state),
        attempt=attempt + 1 if begun else attempt,
        redelivered=restored or bool(redelivered),
        branch=branch,
        error=error,
        queued_at=_time(queued_at),
        updated_at=_time(updated_at) if updated_at is not None else None,
    )


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
