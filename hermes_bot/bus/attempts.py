"""The handlers that run right now: each under its time limit, each of which can be cancelled by its context."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime

from hermes_bot.bus.port import Delivery, Subscription
from hermes_bot.bus.projection import project
from hermes_bot.errors import TransientError
from hermes_bot.messages.message import Message

WITHDRAWN = "withdrawn"
TOO_LONG = "too long"
REMEMBERED = 1000  # cancelled contexts; an older one has nothing left that could still come to a worker


class Withdrawn(Exception):
    """The handler was stopped because its context was cancelled."""


class _Attempt:
    """One handler that runs. `cut` says why it was cut off, if it was."""

    __slots__ = ("cut", "delivery", "due_at", "task")

    def __init__(self, delivery: Delivery, task: asyncio.Task[None], due_at: float) -> None:
        self.delivery = delivery
        self.task = task
        self.due_at = due_at
        self.cut = ""

    def end(self, why: str) -> None:
        if not self.cut:
            self.cut = why
            self.task.cancel()


class Attempts:
    """Runs handlers and remembers which contexts were cancelled when.

    One timer watches over all of them: `asyncio.timeout` would make one for each, the dearest part of a short handling.
    """

    def __init__(self) -> None:
        self._running: dict[asyncio.Task[None], _Attempt] = {}
        self._cancelled: dict[str, datetime] = {}
        self._timer: asyncio.TimerHandle | None = None

    def running(self, context_id: str) -> int:
        """Return how many handlers of the context run."""
        return sum(attempt.delivery.message.context_id == context_id for attempt in self._running.values())

    def cancel(self, contexts: Mapping[str, datetime]) -> None:
        """Stop the handlers of these contexts; what was queued by then begins no more."""
        if not contexts:
            return
        self._cancelled = dict([*self._cancelled.items(), *contexts.items()][-REMEMBERED:])
        for attempt in self._running.values():
            if self.withdrawn(attempt.delivery):
                attempt.end(WITHDRAWN)

    def withdrawn(self, delivery: Delivery) -> bool:
        """Return whether the delivery's context was cancelled after it was queued."""
        if not self._cancelled:
            return False
        at = self._cancelled.get(delivery.message.context_id)
        return at is not None and delivery.queued_at <= at

    async def run(self, delivery: Delivery, subscription: Subscription) -> Sequence[Message]:
        """Return what the handler answers; it sees what the subscription's projection leaves.

        Raise Withdrawn when the context was cancelled meanwhile, TimeoutError after the limit, TransientError when a
        task was cancelled that the handler awaited, CancelledError when this task itself is.
        """
        seen = delivery if subscription.include is None else project(delivery, subscription.include)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine runs in a task
        timeout_s = subscription.policy.timeout_s
        attempt = self._running[task] = _Attempt(delivery, task, self._watched(timeout_s))
        try:
            return await subscription.handler(seen.message, seen)
        except asyncio.CancelledError as error:
            if task.cancelling() > bool(attempt.cut):
                raise  # the worker itself is to stop
            if attempt.cut == TOO_LONG:
                raise TimeoutError(f"no result within {timeout_s:g} s") from error
            if not attempt.cut:
                raise TransientError("a task that the handler waited for was cancelled") from error
            raise Withdrawn from error
        except Exception as error:
            if attempt.cut == WITHDRAWN:
                raise Withdrawn from error
            raise
        finally:
            del self._running[task]
            if attempt.cut:
                task.uncancel()

    def _watched(self, timeout_s: float) -> float:
        """Return the time at which the limit is over, and see to it that somebody looks then."""
        loop = asyncio.get_running_loop()
        due_at = loop.time() + timeout_s
        if self._timer is None or due_at < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_at(due_at, self._look)
        return due_at

    def _look(self) -> None:
        """Cut off who is over the limit, and look again when the next one can be."""
        loop = asyncio.get_running_loop()
        now, following = loop.time(), []
        for attempt in self._running.values():
            if attempt.due_at <= now:
                attempt.end(TOO_LONG)
            else:
                following.append(attempt.due_at)
        self._timer = loop.call_at(min(following), self._look) if following else None
