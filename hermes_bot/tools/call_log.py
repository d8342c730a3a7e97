"""Remembers every call that writes, from before it begins, so that none is made twice.

A call has a key: the message's task, the agent and the step, or its approval. What was finished is answered from here.
What was begun and never finished may have had its effect: only a tool that recognises a repeat itself may run again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from hermes_bot.errors import PermanentError
from hermes_bot.store.database import Database
from hermes_bot.store.tables import tool_calls
from hermes_bot.tools.outcome import Caller, Done, Refused
from hermes_bot.tools.redaction import redacted

MAX_KEY = 300


class CallStatus(StrEnum):
    """How far a call came."""

    STARTED = "started"
    DONE = "done"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A call as it is kept. `arguments` are redacted; `digest` covers the tool and all of what it was called with."""

    key: str
    tool: str
    level: str
    agent: str
    ticket_id: str
    digest: str
    arguments: Mapping[str, Any]
    status: CallStatus
    answer: Mapping[str, Any]
    started_at: datetime
    finished_at: datetime | None

    @property
    def outcome(self) -> Done | Refused | None:
        """What came of it, None while nobody knows."""
        if self.status is CallStatus.DONE:
            return Done(result=dict(self.answer))
        return Refused(code=str(self.answer.get("code", ""))) if self.status is CallStatus.REFUSED else None


def digest_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return what tells one call from another under the same key."""
    told = json.dumps([tool, arguments], ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()


class CallLog:
    """The record of calls that write, shared by all processes."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def begin(
        self, key: str, *, tool: str, level: str, caller: Caller, arguments: Mapping[str, Any]
    ) -> Recorded | None:
        """Note that the call begins and return None; where this key was begun before, return that and change nothing.

        `arguments` are plain JSON data; they are kept redacted. Raise TransientError when the store is away.
        """
        if not key or len(key) > MAX_KEY:
            raise PermanentError(f"tool {tool}: a call that writes needs a key of 1 to {MAX_KEY} characters")
        row = {
            "key": key,
            "tool": tool,
            "level": level,
            "agent": caller.agent,
            "ticket_id": caller.ticket_id,
            "digest": digest_of(tool, arguments),
            "arguments": redacted(arguments),
            "status": CallStatus.STARTED.value,
            "answer": {},
            "started_at": self._clock(),
        }

        def work(connection: Connection) -> Recorded | None:
            known = _find(connection, key)
            if known is None:
                connection.execute(insert(tool_calls).values(row))
            return known

        try:
            return await self._database.run(work)
        except IntegrityError:  # another process began it in the same instant
            return await self.find(key)

    async def finish(self, key: str, outcome: Done | Refused) -> None:
        """Keep what came of the call."""
        done = isinstance(outcome, Done)
        values = {
            "status": (CallStatus.DONE if done else CallStatus.REFUSED).value,
            "answer": outcome.result if isinstance(outcome, Done) else {"code": outcome.code},
            "finished_at": self._clock(),
        }
        await self._database.run(
            lambda connection: connection.execute(update(tool_calls).where(tool_calls.c.key == key).values(values))
        )

    async def release(self, key: str) -> None:
        """Forget that the call began: it is certain that it had no effect."""
        await self._delete(tool_calls.c.key == key, tool_calls.c.status == CallStatus.STARTED.value)

    async def find(self, key: str) -> Recorded | None:
        """Return what is known of the call."""
        return await self._database.run(lambda connection: _find(connection, key))

    async def unfinished(self, *, before: datetime, limit: int = 100) -> Sequence[Recorded]:
        """Return calls that began before that time and never ended, oldest first: a person should look."""
        wanted = (
            select(tool_calls)
            .where(tool_calls.c.status == CallStatus.STARTED.value, tool_calls.c.started_at < before)
            .order_by(tool_calls.c.started_at)
            .limit(limit)
        )
        return await self._database.run(
            lambda connection: [_recorded(row) for row in connection.execute(wanted).mappings()]
        )

    async def prune(self, *, before: datetime) -> int:
        """Delete what ended before that time, return how much; what never ended stays for a person."""
        return await self._delete(tool_calls.c.finished_at < before)

    async def forget(self, ticket_ids: Sequence[str]) -> int:
        """Delete all calls that were made for these tickets, return how many."""
        return await self._delete(tool_calls.c.ticket_id.in_(ticket_ids))

    async def _delete(self, *where: Any) -> int:
        return await self._database.run(
            lambda connection: connection.execute(delete(tool_calls).where(*where)).rowcount
        )


def _find(connection: Connection, key: str) -> Recorded | None:
    row = connection.execute(select(tool_calls).where(tool_calls.c.key == key)).mappings().one_or_none()
    return None if row is None else _recorded(row)


def _recorded(row: Mapping[Any, Any]) -> Recorded:
    fields: dict[str, Any] = {str(name): value for name, value in row.items()}
    return Recorded(**fields | {"status": CallStatus(fields["status"])})
