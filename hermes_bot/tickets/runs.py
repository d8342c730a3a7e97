"""What an agent has to remember between two messages of a ticket: its run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from hermes_bot.store.database import Database
from hermes_bot.store.tables import runs

State = dict[str, Any]


class Runs:
    """One JSON state for each (ticket, agent), with the state before the last message kept.

    A handler that died after saving and before its commit runs again: it then finds the state that it started
    from, and so produces the same outputs.
    """

    def __init__(self, database: Database, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def load(self, ticket_id: str, agent: str, *, message_id: str) -> State:
        """Return the state before `message_id` was handled; empty at the start."""
        wanted = select(runs).where(runs.c.ticket_id == ticket_id, runs.c.agent == agent)
        row = await self._database.run(lambda connection: connection.execute(wanted).first())
        if row is None:
            return {}
        state: State = row.previous if row.message_id == message_id else row.state
        return state

    async def save(self, ticket_id: str, agent: str, state: State, *, message_id: str) -> None:
        """Keep the state that results from handling `message_id`."""
        here = (runs.c.ticket_id == ticket_id, runs.c.agent == agent)

        def work(connection: Connection) -> None:
            row = connection.execute(select(runs).where(*here).with_for_update()).first()
            previous: State = {} if row is None else row.previous if row.message_id == message_id else row.state
            values = {"state": state, "previous": previous, "message_id": message_id, "updated_at": self._clock()}
            if row is None:
                connection.execute(insert(runs).values(ticket_id=ticket_id, agent=agent, **values))
            else:
                connection.execute(update(runs).where(*here).values(**values))

        await self._database.run(work)
