"""Requests from outside the bus: publish one message and wait for its answer.

The answer is kept in the store first and handed to whoever waits in this process; a process that waits for an answer
which another one took finds it in the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar

from msgspec.structs import replace

from hermes_bot.bus.port import Delivery, Handler
from hermes_bot.errors import HermesError, PermanentError
from hermes_bot.messages.message import Kind, Message
from hermes_bot.messages.payloads import read
from hermes_bot.messages.task_payloads import TASK_ERROR, TASK_RESULT, TaskError, TaskResult, TaskStatus
from hermes_bot.tasks.expectation import check_schema, problems
from hermes_bot.tasks.store import TaskStore

AGENT = "requests"
POLL_S = 0.5

_handling: ContextVar[str] = ContextVar("handling", default="")

Publish = Callable[[Message], Awaitable[None]]


class TaskFailed(HermesError):
    """A request was answered, but not done as it was asked; `result` is the whole answer."""

    def __init__(self, result: TaskResult) -> None:
        super().__init__(f"task {result.task}: {result.error}")
        self.result = result


class Requests:
    """Sends requests and waits for what comes back."""

    def __init__(self, publish: Publish, store: TaskStore, *, poll_s: float = POLL_S) -> None:
        self._publish = publish
        self._store = store
        self._poll_s = poll_s
        self._waiting: dict[str, asyncio.Future[TaskResult]] = {}

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """What agent `requests` subscribes to, by type."""
        return {TASK_RESULT: self.on_result, TASK_ERROR: self.on_error}

    async def request(self, message: Message, *, timeout_s: float) -> TaskResult:
        """Return the answer. The same `task_id` asked again, also after a restart, gets the answer that was kept.

        Raise TimeoutError when the limit passes first, TaskFailed when it could not be done or the result is not
        what `expects` says, PermanentError inside a handler: it would hold a worker, and `delegate` holds none.
        """
        if agent := _handling.get():
            raise PermanentError(f"request() inside a handler of {agent}: use delegate(), which holds no worker")
        check_schema(message.expects)
        asked = replace(message, kind=Kind.REQUEST, reply_to=AGENT, ttl_s=message.ttl_s or timeout_s)
        async with asyncio.timeout(timeout_s):
            answer = await self._store.answer(asked.task) or await self._ask(asked)
        wrong = problems(message.expects, answer.result) if answer.status is not TaskStatus.FAILED else ()
        if wrong:
            answer = replace(answer, status=TaskStatus.FAILED, error=f"not what was expected: {'; '.join(wrong)}")
        if answer.status is TaskStatus.FAILED:
            raise TaskFailed(answer)
        return answer

    async def on_result(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Take an answer."""
        return await self._take(read(message, TaskResult))

    async def on_error(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Take the bus's word that a request ended as a dead letter."""
        error = read(message, TaskError)
        text = f"{error.state}: {error.error}"
        return await self._take(TaskResult(task=error.task, status=TaskStatus.FAILED, error=text))

    async def _take(self, answer: TaskResult) -> Sequence[Message]:
        await self._store.keep_answer(answer)
        waiting = self._waiting.get(answer.task)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)
        return []

    async def _ask(self, asked: Message) -> TaskResult:
        waiting = self._waiting.setdefault(asked.task, asyncio.get_running_loop().create_future())
        try:
            await self._publish(asked)
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._poll_s):
                        return await asyncio.shield(waiting)
                if (kept := await self._store.answer(asked.task)) is not None:
                    return kept
        finally:
            if self._waiting.get(asked.task) is waiting:
                del self._waiting[asked.task]


def marked(agent: str, handler: Handler) -> Handler:
    """Return the handler with a mark that it is one, so that `request` can refuse to wait inside it."""

    async def handle(message: Message, delivery: Delivery) -> Sequence[Message]:
        token = _handling.set(agent)
        try:
            return await handler(message, delivery)
        finally:
            _handling.reset(token)

    return handle
