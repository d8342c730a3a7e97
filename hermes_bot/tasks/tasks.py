"""Delegation: an agent asks for parts, goes on with other work, and is told when all of them have ended.

`delegate` runs in the handler of the agent that asks, the three `on_…` handlers as agent `tasks`: they take results,
errors and time limits, send what comes next, and at the end send `task.result` to the agent that asked.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from hermes_bot.bus.port import Delivery, Handler
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import PRIORITY_SUBTASK, Kind, Message
from hermes_bot.messages.payloads import read
from hermes_bot.messages.task_payloads import (
    TASK_DUE,
    TASK_ERROR,
    TASK_RESULT,
    TaskDue,
    TaskError,
    TaskResult,
    TaskStatus,
)
from hermes_bot.tasks.execution import Execution
from hermes_bot.tasks.graph import Graph, PartRun, PartState, Step, begin, expire, outcome_of, settle
from hermes_bot.tasks.store import TaskStore
from hermes_bot.tasks.task import Part, part_task, read_part_task

AGENT = "tasks"
RESULTS = "results"

log = logging.getLogger(__name__)


class Tasks:
    """What agents use to share work.

    `allowed` says which message types an agent may name; one that is not listed, none.
    """

    def __init__(
        self, store: TaskStore, *, allowed: Mapping[str, Collection[str]], clock: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._allowed = allowed
        self._clock = clock

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """What agent `tasks` subscribes to, by type."""
        return {TASK_RESULT: self.on_result, TASK_ERROR: self.on_error, TASK_DUE: self.on_due}

    async def delegate(
        self,
        message: Message,
        parts: Sequence[Part],
        *,
        agent: str,
        kept: dict[str, Any] | None = None,
        label: str = "",
        key: str = "",
    ) -> list[Message]:
        """Return the messages of all parts that wait for nothing; the handler returns them, and its run rests.

        When all parts have ended, the agent gets one `task.result` with `kept` inside it. A `label` tells two
        delegations of one handling apart; a `key` of one's own names the task, and must not name another one. Raise
        PermanentError for a type that the agent may not name, and for parts that cannot be carried out.
        """
        for part in parts:
            if part.type not in self._allowed.get(agent, ()):
                raise PermanentError(f"agent {agent} may not delegate {part.type!r}")
        key = key or ":".join(filter(None, (message.id, agent, label)))
        step = begin(key, agent, parts, kept or {}, self._clock())
        await self._store.begin(step.graph, message)
        return self._sent(message, step, message)

    def execution(self, request: Message, *, agent: str) -> Execution:
        """Return the execution of a request by the agent, its clock running."""
        return Execution(request, agent=agent, clock=self._clock)

    async def origin(self, result: Message) -> Message:
        """Return the message on which the agent had delegated what `result` ends."""
        key = read(result, TaskResult).task
        kept = await self._store.get(key)
        if kept is None:
            raise PermanentError(f"task {key} is not known any more")
        return kept.origin

    async def on_result(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Take a part's result."""
        result = read(message, TaskResult)
        if not result.summary.agent:
            result = replace(result, summary=replace(result.summary, agent=message.sender))
        return await self._settle(message, result)

    async def on_error(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Take the bus's word that a part's message ended as a dead letter."""
        error = read(message, TaskError)
        text = f"{error.state}: {error.error}"
        return await self._settle(message, TaskResult(task=error.task, status=TaskStatus.FAILED, error=text))

    async def on_due(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Let fail what has taken too long, and come back when the next limit passes."""
        key = read(message, TaskDue).task
        now = max(self._clock(), message.not_before or message.created_at)  # the bus's clock may be ahead of ours
        changed = await self._store.change(key, lambda graph: expire(graph, now), message_id=message.id)
        if changed is None:
            return []
        step, kept = changed
        return self._sent(message, step, kept.origin) or self._due(message, step.graph, kept.origin)

    async def _settle(self, message: Message, result: TaskResult) -> Sequence[Message]:
        key, name, round_ = read_part_task(result.task)
        changed = await self._store.change(
            key, lambda graph: settle(graph, name, round_, result, self._clock()), message_id=message.id
        )
        if changed is None:
            log.warning("a result for a task that is not known", extra={"message_id": message.id, "task": result.task})
            return []
        step, kept = changed
        if len(step.graph.late) > len(kept.graph.late):
            log.info("a result came too late and was ignored", extra={"message_id": message.id, "task": result.task})
        return self._sent(message, step, kept.origin)

    def _sent(self, message: Message, step: Step, origin: Message) -> list[Message]:
        """Return a step's messages: parts with one message for the next time limit, or the end of the task."""
        graph = step.graph
        if step.ended:
            return [self._end(message, graph, origin)]
        parts = [self._part(message, graph.parts[name], graph, origin) for name in step.send]
        return [*parts, *self._due(message, graph, origin)] if parts else []

    def _part(self, message: Message, run: PartRun, graph: Graph, origin: Message) -> Message:
        part = run.part
        data = {**part.data, RESULTS: _results(graph, part)} if part.after else part.data
        request = message.child(
            part.type,
            data,
            kind=Kind.REQUEST,
            priority=PRIORITY_SUBTASK,
            task_id=part_task(graph.key, part.name, run.round),
            ttl_s=part.timeout_s,
            expects=part.expects,
            reply_to=AGENT,
        )
        return replace(request, hops=origin.hops + 1)

    def _due(self, message: Message, graph: Graph, origin: Message) -> list[Message]:
        """Return the message that comes when the first of the running parts is past its limit."""
        limits = [run.due_at for run in graph.running if run.due_at is not None]
        if not limits:
            return []
        due = message.child(TASK_DUE, TaskDue(task=graph.key), recipient=AGENT, not_before=min(limits))
        return [replace(due, hops=origin.hops + 1)]

    def _end(self, message: Message, graph: Graph, origin: Message) -> Message:
        result = outcome_of(graph, self._clock())
        end = message.child(TASK_RESULT, result, recipient=graph.agent, kind=Kind.RESPONSE, priority=origin.priority)
        return replace(end, hops=origin.hops + 1)


def _results(graph: Graph, part: Part) -> dict[str, Any]:
    """Return the results of the parts that this one waited for; one that failed and may be missing is missing."""
    before = ((name, graph.parts[name]) for name in part.after)
    done = {name: run.outcome for name, run in before if run.state is PartState.DONE}
    return {name: outcome.result for name, outcome in done.items() if outcome is not None}
