"""The state of a task with its parts, and every change of it. Pure: nothing here waits, stores or sends.

Parts that do not depend on one another run at once (`graphlib` says which are ready). A change is a `Step`: the new
state, and the parts to send. The same state and event give the same step.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Any

import msgspec
from msgspec.structs import replace

from hermes_bot.errors import PermanentError
from hermes_bot.messages.task_payloads import TaskResult, TaskStatus, TaskSummary
from hermes_bot.tasks.expectation import check_schema, problems
from hermes_bot.tasks.task import PART_NAME, Part, part_task

MOST_PARTS = 16


class PartState(StrEnum):
    """Where a part is. The last three are final."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


class PartRun(msgspec.Struct, frozen=True, kw_only=True):
    """A part and what has become of it. `round` counts the sendings, `due_at` ends the present one."""

    part: Part
    state: PartState = PartState.WAITING
    round: int = 0
    sent_at: datetime | None = None
    due_at: datetime | None = None
    outcome: TaskResult | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more can become of it."""
        return self.state not in (PartState.WAITING, PartState.RUNNING)


class Late(msgspec.Struct, frozen=True, kw_only=True):
    """A result that came when nobody waited for it any more; kept so that a person can see it."""

    task: str
    at: datetime
    status: TaskStatus
    error: str = ""


class Graph(msgspec.Struct, frozen=True, kw_only=True):
    """A delegated task. `kept` goes back to the agent with the result; `late` holds what was ignored."""

    key: str
    agent: str
    parts: dict[str, PartRun]
    started_at: datetime
    kept: dict[str, Any] = {}
    ended: bool = False
    late: tuple[Late, ...] = ()

    @property
    def running(self) -> tuple[PartRun, ...]:
        """The parts whose result is waited for."""
        return tuple(run for run in self.parts.values() if run.state is PartState.RUNNING)


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What follows from an event. `ended` says that the task ended with this very step."""

    graph: Graph
    send: tuple[str, ...] = ()
    ended: bool = False


def begin(key: str, agent: str, parts: Sequence[Part], kept: dict[str, Any], now: datetime) -> Step:
    """Return the first step; raise PermanentError for parts that cannot be carried out."""
    names = [part.name for part in parts]
    if not 0 < len(parts) <= MOST_PARTS:
        raise PermanentError(f"a task has 1 to {MOST_PARTS} parts, not {len(parts)}")
    for part in parts:
        _check(part, names)
    runs = {part.name: PartRun(part=part) for part in parts}
    graph = Graph(key=key, agent=agent, parts=runs, started_at=now, kept=kept)
    try:
        TopologicalSorter(_dependencies(graph)).prepare()
    except CycleError as error:
        raise PermanentError(f"parts wait for one another: {' → '.join(error.args[1])}") from error
    return _onward(graph, graph, now)


def settle(graph: Graph, name: str, round_: int, outcome: TaskResult, now: datetime) -> Step:
    """Return what follows from a part's result. One that nobody waits for (any more) is recorded and ignored."""
    run = graph.parts.get(name)
    if run is None or run.state is not PartState.RUNNING or run.round != round_ or graph.ended:
        late = Late(task=part_task(graph.key, name, round_), at=now, status=outcome.status, error=outcome.error)
        return Step(graph=replace(graph, late=(*graph.late, late)))
    wrong = problems(run.part.expects, outcome.result) if outcome.status is not TaskStatus.FAILED else ()
    if wrong:
        error = f"the result is not what was expected: {'; '.join(wrong)}"
        outcome = replace(outcome, status=TaskStatus.FAILED, error=error)
    return _onward(graph, _with_outcome(graph, run, outcome, now), now)


def expire(graph: Graph, now: datetime) -> Step:
    """Return what follows from the time that has passed: parts past their limit fail."""
    if graph.ended:
        return Step(graph=graph)
    after = graph
    for run in graph.running:
        if run.due_at is not None and run.due_at <= now:
            error = f"no result within {run.part.timeout_s:g} s"
            task = part_task(graph.key, run.part.name, run.round)
            after = _with_outcome(after, run, TaskResult(task=task, status=TaskStatus.FAILED, error=error), now)
    return _onward(graph, after, now)


def outcome_of(graph: Graph, now: datetime) -> TaskResult:
    """Return the result of the whole task, partial ones included."""
    parts = {name: _outcome(run) for name, run in graph.parts.items()}
    failed = [name for name, run in graph.parts.items() if run.state is PartState.FAILED]
    fatal = [name for name in failed if not graph.parts[name].part.on_failure.optional]
    status = TaskStatus.FAILED if fatal else TaskStatus.PARTIAL if failed else TaskStatus.DONE
    told = [(name, part.summary) for name, part in parts.items()]
    return TaskResult(
        task=graph.key,
        status=status,
        result={name: part.result for name, part in parts.items() if graph.parts[name].state is PartState.DONE},
        error="; ".join(f"{name}: {parts[name].error}" for name in fatal or failed),
        summary=TaskSummary(
            agent=graph.agent,
            duration_s=(now - graph.started_at).total_seconds(),
            tools=tuple(tool for _, summary in told for tool in summary.tools),
            key_results=tuple((f"{name}: {label}", value) for name, one in told for label, value in one.key_results),
        ),
        parts=parts,
        kept=graph.kept,
    )


def _check(part: Part, names: Sequence[str]) -> None:
    if not PART_NAME.fullmatch(part.name) or names.count(part.name) > 1:
        raise PermanentError(f"{part.name!r} is no name of a part, or stands twice")
    if unknown := [name for name in part.after if name not in names]:
        raise PermanentError(f"part {part.name} waits for {unknown[0]!r}, which is no part of this task")
    if part.timeout_s <= 0 or part.on_failure.retries < 0:
        raise PermanentError(f"part {part.name}: a time limit is above 0 s, and retries are not negative")
    check_schema(part.expects)


def _dependencies(graph: Graph) -> dict[str, tuple[str, ...]]:
    return {name: run.part.after for name, run in graph.parts.items()}


def _ready(graph: Graph) -> list[str]:
    """Return the parts that wait for nothing any more and were not sent yet."""
    sorter = TopologicalSorter(_dependencies(graph))
    sorter.prepare()
    found: list[str] = []
    while names := sorter.get_ready():
        found += (name for name in names if graph.parts[name].state is PartState.WAITING)
        sorter.done(*(name for name in names if graph.parts[name].ended))
    return sorted(found)


def _with_outcome(graph: Graph, run: PartRun, outcome: TaskResult, now: datetime) -> Graph:
    """Return the graph after one round of a part: done, to be sent again, or failed."""
    policy = run.part.on_failure
    sent_at = run.sent_at or now
    summary = replace(outcome.summary, duration_s=(now - sent_at).total_seconds(), rounds=run.round)
    outcome = replace(outcome, summary=summary, kept={})
    if outcome.status is not TaskStatus.FAILED:
        return _put(graph, replace(run, state=PartState.DONE, outcome=outcome))
    if run.round <= policy.retries:
        return _put(graph, replace(run, state=PartState.WAITING, outcome=outcome))
    failed = _put(graph, replace(run, state=PartState.FAILED, outcome=outcome))
    if policy.optional:
        return failed
    left = {name: replace(each, state=PartState.SKIPPED) for name, each in failed.parts.items() if not each.ended}
    return replace(failed, parts={**failed.parts, **left})


def _put(graph: Graph, run: PartRun) -> Graph:
    return replace(graph, parts={**graph.parts, run.part.name: run})


def _onward(before: Graph, graph: Graph, now: datetime) -> Step:
    """Return the step that sends what is ready, or ends the task when no part is left."""
    send = _ready(graph)
    for name in send:
        run = graph.parts[name]
        due_at = now + timedelta(seconds=run.part.timeout_s)
        sent_at = run.sent_at or now
        running = replace(run, state=PartState.RUNNING, round=run.round + 1, sent_at=sent_at, due_at=due_at)
        graph = _put(graph, running)
    ended = all(run.ended for run in graph.parts.values())
    return Step(graph=replace(graph, ended=ended), send=tuple(send), ended=ended and not before.ended)


def _outcome(run: PartRun) -> TaskResult:
    if run.outcome is not None and run.state is not PartState.SKIPPED:
        return run.outcome
    error = "another part failed first"
    return TaskResult(task=run.part.name, status=TaskStatus.SKIPPED, error=error, summary=TaskSummary(rounds=run.round))
