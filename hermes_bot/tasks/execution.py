"""The side of the agent that carries out a task: it measures what it does, checks its own result, and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from hermes_bot.messages.message import Kind, Message
from hermes_bot.messages.task_payloads import TASK_RESULT, TaskResult, TaskStatus, TaskSummary, ToolUse
from hermes_bot.tasks.expectation import problems


class Execution:
    """One execution of a request by `agent`; `answer` or `failed` makes the one message that ends it."""

    def __init__(self, request: Message, *, agent: str, clock: Callable[[], datetime]) -> None:
        self._request = request
        self._agent = agent
        self._clock = clock
        self._started = clock()
        self._tools: dict[str, ToolUse] = {}

    @contextmanager
    def tool(self, name: str) -> Iterator[None]:
        """Count a call of the tool and the time inside, also when it fails."""
        began = self._clock()
        try:
            yield
        finally:
            before = self._tools.get(name, ToolUse(name=name, calls=0, seconds=0.0))
            seconds = before.seconds + (self._clock() - began).total_seconds()
            self._tools[name] = ToolUse(name=name, calls=before.calls + 1, seconds=seconds)

    def problems(self, result: Mapping[str, Any]) -> tuple[str, ...]:
        """Return what is wrong with the result, so that an agent can mend it before it answers."""
        return problems(self._request.expects, dict(result))

    def answer(self, result: Mapping[str, Any], *, key_results: Sequence[tuple[str, str]] = ()) -> Message:
        """Return the answer; a result that is not what the request expects is answered as a failure."""
        wrong = self.problems(result)
        if wrong:
            return self.failed(f"the result is not what was expected: {'; '.join(wrong)}")
        return self._message(TaskStatus.DONE, dict(result), "", key_results)

    def failed(self, error: str) -> Message:
        """Return the answer that it could not be done; who asked decides what follows."""
        return self._message(TaskStatus.FAILED, {}, error, ())

    def _message(
        self, status: TaskStatus, result: dict[str, Any], error: str, key_results: Sequence[tuple[str, str]]
    ) -> Message:
        request = self._request
        summary = TaskSummary(
            agent=self._agent,
            duration_s=(self._clock() - self._started).total_seconds(),
            tools=tuple(self._tools.values()),
            key_results=tuple(key_results),
        )
        body = TaskResult(task=request.task, status=status, result=result, error=error, summary=summary)
        return request.child(TASK_RESULT, body, recipient=request.reply_to or request.sender, kind=Kind.RESPONSE)
