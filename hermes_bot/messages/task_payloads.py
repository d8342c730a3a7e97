"""The typed data of the messages by which tasks are answered and timed; see docs/tasks.md."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

TASK_RESULT = "task.result"
TASK_ERROR = "task.error"
TASK_DUE = "task.due"


class ToolUse(msgspec.Struct, frozen=True, kw_only=True):
    """How often a tool was called, and for how long altogether."""

    name: str
    calls: int
    seconds: float


class TaskSummary(msgspec.Struct, frozen=True, kw_only=True):
    """How a task was carried out, for whoever asked for it and for people.

    `duration_s` counts from the first sending to the end. `key_results` are label and value.
    """

    agent: str = ""
    duration_s: float = 0.0
    rounds: int = 1
    tools: tuple[ToolUse, ...] = ()
    key_results: tuple[tuple[str, str], ...] = ()


class TaskStatus(StrEnum):
    """How a task ended."""

    DONE = "done"
    PARTIAL = "partial"  # some parts are missing whose absence was allowed
    FAILED = "failed"
    SKIPPED = "skipped"  # never sent, because another part failed before


class TaskResult(msgspec.Struct, frozen=True, kw_only=True):
    """`task.result`: what came of a task that was delegated or requested.

    `task` is the `task_id` of the request. Of several parts, `parts` holds each one's result by name, `result` those
    that are done, and `kept` what the delegating agent asked to get back.
    """

    task: str
    status: TaskStatus
    result: dict[str, Any] = {}
    error: str = ""
    summary: TaskSummary = TaskSummary()
    parts: dict[str, TaskResult] = {}
    kept: dict[str, Any] = {}


class TaskError(msgspec.Struct, frozen=True, kw_only=True):
    """`task.error`: the bus tells the sender of a request that it ended as a dead letter. `task` is its `task_id`."""

    message_id: str
    type: str
    state: str
    error: str
    task: str = ""


class TaskDue(msgspec.Struct, frozen=True, kw_only=True):
    """`task.due`: a time limit of this task's parts may have passed."""

    task: str
