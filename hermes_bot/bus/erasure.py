"""Takes somebody's words out of messages that the bus keeps, and leaves what is needed to know that they were handled.

A delivery stays, with its ids, type and state: a repeat of it is still known, and a trace still shows its way.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from hermes_bot.bus.port import FINAL_STATES, State
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Chain, Message, decode, encode

AT_ONCE = 500

Concerns = Callable[[Message], bool]
"""Says whether a message holds the words that have to go."""

_KEPT = ("ticket_id", "approval_id", "proposal_id")


@dataclass(frozen=True, slots=True)
class Erased:
    """How many deliveries lost their words, and how many still hold them because they are not finished.

    `contexts` are those of the unfinished ones in which nothing waits that does not concern: they can be cancelled.
    """

    blanked: int = 0
    unfinished: int = 0
    contexts: frozenset[str] = frozenset()


class Unfinished:
    """Collects what is not finished, to tell it in `Erased`."""

    def __init__(self) -> None:
        self._count = 0
        self._mine: set[str] = set()
        self._others: set[str] = set()

    def add(self, message: Message, *, concerns: bool) -> None:
        """Note a delivery of this message; one without words can stay as it is."""
        if not concerns:
            self._others.add(message.context_id)
        elif blanked(message) != message:
            self._count += 1
            self._mine.add(message.context_id)

    def told(self, done: int) -> Erased:
        """Return all of it, beside how many were blanked."""
        return Erased(done, self._count, frozenset(self._mine - self._others))


def blanked(message: Message) -> Message:
    """Return the message without anybody's words: of its data only ids are left, and of the chain who handled it."""
    data = {key: value for key, value in message.data.items() if key in _KEPT and len(str(value)) <= 40}
    chain = Chain(text="", hops=message.context_chain.hops)
    return msgspec.structs.replace(message, data=data, context_chain=chain, expects=None, extra=None)


def erase(connection: sqlite3.Connection, concerns: Concerns, *, alone: bool) -> Erased:
    """Blank what concerns; `alone` says that no bot has the file, so that unfinished ones can be cancelled here.

    Reads in pages, writes in short transactions, so that a running bot is not held up.
    """
    done = last = 0
    unfinished = Unfinished()
    while True:
        rows = connection.execute(
            "SELECT seq, state, error, body, result FROM deliveries WHERE seq > ? ORDER BY seq LIMIT ?", (last, AT_ONCE)
        ).fetchall()
        if not rows:
            return unfinished.told(done)
        last = rows[-1][0]
        changes: list[tuple[object, ...]] = []
        for seq, state, error, body, result in rows:
            message = _message(body)
            if message is None:
                continue
            mine = concerns(message)
            if State(state) not in FINAL_STATES and not alone:
                unfinished.add(message, concerns=mine)
                continue
            if not mine:
                continue
            answer = _message(result)
            clean = encode(blanked(message)), None if answer is None else encode(blanked(answer))
            if error or clean != (bytes(body), result if result is None else bytes(result)):
                end = state if state == State.DONE else State.CANCELLED.value  # no dead letter that holds nothing
                changes.append((clean[0], end, clean[1], seq))
        done += _write(connection, changes)


def _write(connection: sqlite3.Connection, changes: list[tuple[object, ...]]) -> int:
    if not changes:
        return 0
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(
            "UPDATE deliveries SET body = ?, state = ?, error = '', result = ? WHERE seq = ?", changes
        )
    except sqlite3.Error:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return len(changes)


def _message(raw: bytes | None) -> Message | None:
    try:
        return None if raw is None else decode(bytes(raw))
    except PermanentError:
        return None
