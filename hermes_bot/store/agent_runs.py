"""Keeps the state of an agent's run between its steps, so that any worker may take the next one.

A step that died before its commit runs again: it finds the state that it started from, and what was decided then.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from hermes_bot.messages.message import Message
from hermes_bot.store.agent_tables import agent_runs
from hermes_bot.store.database import Database

KEEP = timedelta(days=60)

State = dict[str, Any]


class RunStatus(StrEnum):
    """Where a run is."""

    WORKING = "working"
    WAITING = "waiting"  # for an approval or a sub-task
    ENDED = "ended"


class KeptRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run as it was before the message that was asked about.

    `origin` is the message that it answers, `decided` what an earlier attempt at this same message has decided.
    """

    key: str
    agent: str
    ticket_id: str
    fingerprint: str
    status: RunStatus
    origin: Message
    state: State
    decided: State | None = None


class AgentRuns:
    """Rows of runs. Every method is one transaction and may be repeated."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def begin(self, run: KeptRun) -> KeptRun:
        """Keep a new run and return it, or the one that an earlier attempt has begun. Old ones are forgotten."""
        now = self._clock()
        row = {
            "key": run.key,
            "agent": run.agent,
            "ticket_id": run.ticket_id,
            "fingerprint": run.fingerprint,
            "status": run.status.value,
            "message_id": "",
            "origin": msgspec.to_builtins(run.origin),
            "state": run.state,
            "previous": run.state,
            "decided": {},
            "updated_at": now,
        }

        def work(connection: Connection) -> None:
            connection.execute(delete(agent_runs).where(agent_runs.c.updated_at < now - KEEP))
            known = select(agent_runs.c.key).where(agent_runs.c.key == run.key)
            if connection.execute(known).first() is None:
                connection.execute(insert(agent_runs).values(**row))

        with suppress(IntegrityError):  # another worker was first in the same instant, with the same run
            await self._database.run(work)
        return await self.load(run.key, message_id=run.origin.id) or run

    async def load(self, key: str, *, message_id: str) -> KeptRun | None:
        """Return the run before `message_id` was handled; None for one that is not known (any more)."""
        wanted = select(agent_runs).where(agent_runs.c.key == key)
        row = await self._database.run(lambda connection: connection.execute(wanted).first())
        if row is None:
            return None
        return KeptRun(
            key=row.key,
            agent=row.agent,
            ticket_id=row.ticket_id,
            fingerprint=row.fingerprint,
            status=RunStatus(row.status),
            origin=msgspec.convert(row.origin, Message),
            state=row.previous if row.message_id == message_id else row.state,
            decided=row.decided["action"] if row.decided.get("message_id") == message_id else None,
        )

    async def waiting_for(self, approval_id: str, agent: str, ticket_id: str) -> str:
        """Return the key of the run that asked for this approval, empty where none did."""
        here = (agent_runs.c.agent == agent, agent_runs.c.ticket_id == ticket_id)
        wanted = select(agent_runs.c.key, agent_runs.c.state, agent_runs.c.previous).where(*here)
        rows = await self._database.run(lambda connection: connection.execute(wanted).all())
        return next(
            (row.key for row in rows if _asked(row.state, approval_id) or _asked(row.previous, approval_id)), ""
        )

    async def decide(self, key: str, decision: State, *, message_id: str) -> None:
        """Keep what was decided while handling `message_id`, before anything is done about it."""
        decided = {"message_id": message_id, "action": decision}
        statement = update(agent_runs).where(agent_runs.c.key == key).values(decided=decided, updated_at=self._clock())
        await self._database.run(lambda connection: connection.execute(statement))

    async def save(self, key: str, state: State, status: RunStatus, *, message_id: str) -> None:
        """Keep the state that results from handling `message_id`."""
        here = agent_runs.c.key == key

        def work(connection: Connection) -> None:
            row = connection.execute(select(agent_runs).where(here).with_for_update()).first()
            if row is None:
                return
            before = row.previous if row.message_id == message_id else row.state
            values = {"state": state, "previous": before, "message_id": message_id, "status": status.value}
            connection.execute(update(agent_runs).where(here).values(**values, updated_at=self._clock()))

        await self._database.run(work)


def _asked(state: State, approval_id: str) -> bool:
    asked = state.get("asked")
    return isinstance(asked, dict) and approval_id in asked
