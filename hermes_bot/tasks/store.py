"""Keeps tasks in SQL, so that any worker may take the next result, and a restart loses none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from hermes_bot.messages.message import Message
from hermes_bot.messages.task_payloads import TaskResult
from hermes_bot.store.database import Database
from hermes_bot.store.tables import task_answers, task_graphs
from hermes_bot.tasks.graph import Graph, Step

KEEP = timedelta(days=7)
KEEP_RUNNING = timedelta(days=60)  # whose messages were cancelled, or lost with the bus's file

RUNNING, ENDED = "running", "ended"

State = dict[str, Any]


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A row's content: the task, and the message on which its agent delegated it."""

    graph: Graph
    origin: Message


class TaskStore:
    """Rows of tasks and of answers to requests. Every method is one transaction and may be repeated."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def begin(self, graph: Graph, origin: Message) -> None:
        """Keep a task. What ended more than a week ago is forgotten.

        A repeated handling, whose first messages were never sent, may have decided otherwise: its task replaces the
        first one. A task of which something has come back already stays as it is.
        """
        now = self._clock()
        state = msgspec.to_builtins(Kept(graph=graph, origin=origin))
        row = {"key": graph.key, "agent": graph.agent, "context_id": origin.context_id, "status": _status(graph)}
        values = {**row, "message_id": origin.id, "state": state, "previous": state, "updated_at": now}

        def work(connection: Connection) -> None:
            _forget(connection, now)
            known = _row(connection, graph.key)
            if known is None:
                connection.execute(insert(task_graphs).values(**values))
            elif known.message_id == origin.id:
                connection.execute(update(task_graphs).where(task_graphs.c.key == graph.key).values(**values))

        try:
            await self._database.run(work)
        except IntegrityError:
            return  # another worker was first in the same instant, with the same task

    async def get(self, key: str) -> Kept | None:
        """Return the task, or None for one that is not known (any more)."""
        row = await self._database.run(lambda connection: _row(connection, key))
        return None if row is None else msgspec.convert(row.state, Kept)

    async def change(self, key: str, change: Callable[[Graph], Step], *, message_id: str) -> tuple[Step, Kept] | None:
        """Return what `change` makes of the task, kept; None for one that is not known.

        A repeat for the same message starts from the state before it, and so gives the same step.
        """

        def work(connection: Connection) -> tuple[Step, Kept] | None:
            row = _row(connection, key)
            if row is None:
                return None
            before: State = row.previous if row.message_id == message_id else row.state
            kept = msgspec.convert(before, Kept)
            step = change(kept.graph)
            state = msgspec.to_builtins(Kept(graph=step.graph, origin=kept.origin))
            values = {"state": state, "previous": before, "message_id": message_id, "status": _status(step.graph)}
            where = task_graphs.c.key == key
            connection.execute(update(task_graphs).where(where).values(**values, updated_at=self._clock()))
            return step, kept

        return await self._database.run(work)

    async def keep_answer(self, answer: TaskResult) -> None:
        """Keep the answer to a request; the first one stands."""
        now, row = self._clock(), msgspec.to_builtins(answer)

        def work(connection: Connection) -> None:
            connection.execute(delete(task_answers).where(task_answers.c.at < now - KEEP))
            known = select(task_answers.c.task).where(task_answers.c.task == answer.task)
            if connection.execute(known).first() is None:
                connection.execute(insert(task_answers).values(task=answer.task, answer=row, at=now))

        try:
            await self._database.run(work)
        except IntegrityError:
            return  # another worker kept one in the same instant

    async def answer(self, task: str) -> TaskResult | None:
        """Return the answer to the request with this task, or None while there is none."""
        wanted = select(task_answers.c.answer).where(task_answers.c.task == task)
        found = await self._database.run(lambda connection: connection.execute(wanted).scalar())
        return None if found is None else msgspec.convert(found, TaskResult)


def _row(connection: Connection, key: str) -> Row[Any] | None:
    return connection.execute(select(task_graphs).where(task_graphs.c.key == key).with_for_update()).first()


def _forget(connection: Connection, now: datetime) -> None:
    for status, keep in ((ENDED, KEEP), (RUNNING, KEEP_RUNNING)):
        old = (task_graphs.c.updated_at < now - keep, task_graphs.c.status == status)
        connection.execute(delete(task_graphs).where(*old))


def _status(graph: Graph) -> str:
    return ENDED if graph.ended else RUNNING
