"""Keeps each agent's window on each ticket; no agent sees another's. A sub-task that is done leaves as a fact."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, insert, select, update

from hermes_bot.memory.fact import FactKind
from hermes_bot.memory.memory import Memory
from hermes_bot.memory.owner import Concluded, PersonOwner
from hermes_bot.memory.secrets import without_secrets
from hermes_bot.memory.window import Entry, Window
from hermes_bot.store.database import Database
from hermes_bot.store.locks import lock
from hermes_bot.store.memory_tables import working_memories


class WorkingMemory:
    """One window for each (ticket, agent), with the window before the last message kept.

    A handler that died after saving and before its commit runs again: it finds the window that it started from.
    """

    def __init__(self, database: Database, memory: Memory, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._memory = memory
        self._clock = clock

    async def load(self, ticket_id: str, agent: str, *, message_id: str) -> Window:
        """Return the window before `message_id` was handled; empty at the start."""
        row = await self._database.run(lambda connection: connection.execute(_here(ticket_id, agent)).first())
        return msgspec.convert(_before(row, message_id), Window)

    async def add(self, ticket_id: str, agent: str, *entries: Entry, message_id: str) -> None:
        """Keep the window before `message_id` was handled, with the entries added."""
        await self._write(ticket_id, agent, message_id, lambda before: before.added(*entries))

    async def save(self, ticket_id: str, agent: str, window: Window, *, message_id: str) -> None:
        """Keep the window that results from handling `message_id`."""
        await self._write(ticket_id, agent, message_id, lambda _before: window)

    async def _write(self, ticket_id: str, agent: str, message_id: str, after: Callable[[Window], Window]) -> None:
        def work(connection: Connection) -> None:
            lock(connection, f"working:{ticket_id}:{agent}")
            row = connection.execute(_here(ticket_id, agent)).first()
            previous = _before(row, message_id)
            state = msgspec.to_builtins(after(msgspec.convert(previous, Window)))
            values = {"state": state, "previous": previous, "message_id": message_id, "updated_at": self._clock()}
            if row is None:
                connection.execute(insert(working_memories).values(ticket_id=ticket_id, agent=agent, **values))
                return
            table = working_memories.c
            here = table.ticket_id == ticket_id, table.agent == agent
            connection.execute(update(working_memories).where(*here).values(**values))

        await self._database.run(work)

    async def finish(
        self, window: Window, *, about: PersonOwner, agent: str, ticket_id: str, task: str, result: str
    ) -> Window:
        """Return the window without the sub-task's entries, for `save`; what came of it is a fact that can be recalled.

        Doing it again keeps it once.
        """
        steps = "; ".join(entry.line for entry in window.of(task))
        await self._memory.remember(
            about,
            without_secrets(f"{task}: {result} ({steps})" if steps else f"{task}: {result}"),
            kind=FactKind.SUBTASK,
            source=Concluded(about=about, agent=agent, ticket_id=ticket_id),
            subject=f"subtask:{ticket_id}:{task}",
        )
        return window.finished(task, without_secrets(result))


def _before(row: Row[Any] | None, message_id: str) -> dict[str, Any]:
    if row is None:
        return {}
    state: dict[str, Any] = row.previous if row.message_id == message_id else row.state
    return state


def _here(ticket_id: str, agent: str) -> Any:
    table = working_memories.c
    return select(working_memories).where(table.ticket_id == ticket_id, table.agent == agent)
