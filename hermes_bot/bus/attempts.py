"""The handlers that run right now: each under its time limit, each of which can be cancelled by its context."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime

from hermes_bot.bus.port import Delivery, Subscription
from hermes_bot.bus.projection import project
from hermes_bot.errors import TransientError
from hermes_bot.messages.message import Message

REMEMBERED = 1000  # cancelled contexts; an older one has nothing left that could still come to a worker


class Withdrawn(Exception):
    """The handler was stopped because its context was cancelled."""


class Attempts:
    """Runs handlers and remembers which contexts were cancelled when."""

    def __init__(self) -> None:
        self._running: dict[tuple[str, str], tuple[Delivery, asyncio.Timeout]] = {}
        self._cancelled: dict[str, datetime] = {}

    def running(self, context_id: str) -> int:
        """Return how many handlers of the context run."""
        return sum(delivery.message.context_id == context_id for delivery, _ in self._running.values())

    def cancel(self, contexts: Mapping[str, datetime]) -> None:
        """Stop the handlers of these contexts; what was queued by then begins no more."""
        if not contexts:
            return
        self._cancelled = dict([*self._cancelled.items(), *contexts.items()][-REMEMBERED:])
        for delivery, limit in self._running.values():
            if self.withdrawn(delivery):
                limit.reschedule(asyncio.get_running_loop().time())

    def withdrawn(self, delivery: Delivery) -> bool:
        """Return whether the delivery's context was cancelled after it was queued."""
        at = self._cancelled.get(delivery.message.context_id)
        return at is not None and delivery.queued_at <= at

    async def run(self, delivery: Delivery, subscription: Subscription) -> Sequence[Message]:
        """Return what the handler answers; it sees what the subscription's projection leaves.

        Raise Withdrawn when the context was cancelled meanwhile, TimeoutError after the limit, TransientError when a
        task was cancelled that the handler awaited, CancelledError when this task itself is.
        """
        seen = project(delivery, subscription.include)
        limit = asyncio.timeout(subscription.policy.timeout_s)
        try:
            async with limit:
                self._running[delivery.key] = (delivery, limit)
                return await subscription.handler(seen.message, seen)
        except asyncio.CancelledError as error:
            if _being_cancelled():
                raise
            raise TransientError("a task that the handler waited for was cancelled") from error
        except Exception as error:
            if self.withdrawn(delivery):
                raise Withdrawn from error
            if limit.expired() and isinstance(error, TimeoutError):
                raise TimeoutError(f"no result within {subscription.policy.timeout_s:g} s") from error
            raise
        finally:
            self._running.pop(delivery.key, None)


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
