"""The blackboard of a ticket: who the user is, what was decided, what must be kept to. Every agent of it reads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select

from hermes_bot.store.database import Database
from hermes_bot.store.locks import lock
from hermes_bot.store.memory_tables import boards


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardLine:
    """One value on the board, who wrote it, and as which version of the board. A value of None was taken off."""

    key: str
    value: Any
    author: str
    version: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardView:
    """The board as of a version, 0 when empty. Keys are `user.…`, `decision.…`, `constraint.…` or a plain word."""

    ticket_id: str
    version: int
    lines: Mapping[str, BoardLine]

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value under the key."""
        line = self.lines.get(key)
        return default if line is None else line.value

    @property
    def values(self) -> dict[str, Any]:
        """Every value by its key."""
        return {key: line.value for key, line in self.lines.items()}

    def only(self, include: Collection[str]) -> BoardView:
        """Return the board with these keys alone; `user` stands for all of `user.…`."""
        lines = {key: each for key, each in self.lines.items() if key in include or key.partition(".")[0] in include}
        return BoardView(ticket_id=self.ticket_id, version=self.version, lines=lines)

    @property
    def text(self) -> str:
        """The board as a prompt or a person reads it: one line for each value, with its author."""
        shown = sorted(self.lines.values(), key=lambda line: line.version)
        return "\n".join(f"{line.key}: {_plain(line.value)} ({line.author}, v{line.version})" for line in shown)


class Board:
    """The boards in the store. Every change is a new version; nothing is overwritten."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def read(self, ticket_id: str, *, message_id: str = "") -> BoardView:
        """Return the board; with `message_id` without what the handling of that message wrote.

        So a handler that runs again after a crash starts from the board it started from.
        """
        return await self._database.run(lambda connection: _view(connection, ticket_id, but=message_id))

    async def write(self, ticket_id: str, values: Mapping[str, Any], *, author: str, message_id: str) -> BoardView:
        """Return the board with these values on it; None takes a key off. Writing the same again changes nothing."""

        def work(connection: Connection) -> BoardView:
            lock(connection, f"board:{ticket_id}")
            known = _view(connection, ticket_id).values
            changed = {key: value for key, value in values.items() if known.get(key) != value}
            newest = connection.execute(_newest(ticket_id)).scalar() or 0
            for version, (key, value) in enumerate(changed.items(), start=newest + 1):
                row = {"ticket_id": ticket_id, "version": version, "key": key, "value": value, "author": author}
                connection.execute(insert(boards).values(**row, message_id=message_id, at=self._clock()))
            return _view(connection, ticket_id)

        return await self._database.run(work)

    async def history(self, ticket_id: str) -> Sequence[BoardLine]:
        """Return everything that was ever written on the board, oldest first."""
        return await self._database.run(lambda connection: [_line(row) for row in _rows(connection, ticket_id)])


def _view(connection: Connection, ticket_id: str, *, but: str = "") -> BoardView:
    lines: dict[str, BoardLine] = {}
    for row in _rows(connection, ticket_id):
        if not but or row.message_id != but:
            lines[row.key] = _line(row)
    version = max((line.version for line in lines.values()), default=0)
    kept = {key: line for key, line in lines.items() if line.value is not None}
    return BoardView(ticket_id=ticket_id, version=version, lines=kept)


def _rows(connection: Connection, ticket_id: str) -> Sequence[Row[Any]]:
    wanted = select(boards).where(boards.c.ticket_id == ticket_id).order_by(boards.c.version)
    return connection.execute(wanted).all()


def _newest(ticket_id: str) -> Any:
    return select(func.max(boards.c.version)).where(boards.c.ticket_id == ticket_id)


def _line(row: Row[Any]) -> BoardLine:
    return BoardLine(key=row.key, value=row.value, author=row.author, version=row.version, at=row.at)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
