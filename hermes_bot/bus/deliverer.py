"""One attempt at one delivery, from lease to settlement.

A delivery is refused by a guard, or its handler runs under a time limit; what came of it becomes one `Settlement`,
which the backend commits whole. Nothing in here knows how deliveries are stored or which worker runs them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import perf_counter

from msgspec.structs import replace

from hermes_bot.bus.port import DEAD_LETTERS, Backend, Delivery, Policy, Settlement, State, Subscription
from hermes_bot.bus.retry import decide
from hermes_bot.bus.router import Router
from hermes_bot.bus.stamp import comes_from_failure, stamp, stamp_failure
from hermes_bot.errors import HermesError, PermanentError, StoreError, Unroutable
from hermes_bot.messages.message import Kind, Message

TASK_ERROR = "task.error"
"""Type of what the sender of a request gets when the request failed; data: message_id, type, state, error, task."""

OnHop = Callable[[Delivery, State, Sequence[Message], float], None]
OnFailure = Callable[[Delivery, str], Sequence[Message]]

STORE_PAUSE_S = 1.0
STORE_PAUSE_MAX_S = 30.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliverer:
    """Runs handlers and settles deliveries."""

    backend: Backend
    router: Router
    clock: Callable[[], datetime]
    sleep: Callable[[float], Awaitable[None]]
    random: Callable[[], float]
    max_hops: int
    on_hop: OnHop | None
    on_failure: OnFailure | None

    async def deliver(self, delivery: Delivery) -> None:
        """Bring a leased delivery to its settlement; when cancelled inside the handler, hand it back."""
        started = perf_counter()
        subscription = self.router.subscription(delivery.subscription)
        try:
            if subscription is None:
                settlement = Settlement(state=State.DEAD, error=f"no subscription {delivery.subscription!r} any more")
            else:
                settlement = self._refusal(delivery, subscription.policy) or await self._attempt(delivery, subscription)
        except asyncio.CancelledError:
            await self._hand_back(delivery)
            raise
        try:
            settlement = await self._commit(delivery, settlement)
        except PermanentError as error:  # an output that cannot be stored
            settlement = await self._commit(delivery, Settlement(state=State.DEAD, error=str(error)))
        self._report(delivery, settlement, perf_counter() - started)

    def _refusal(self, delivery: Delivery, policy: Policy) -> Settlement | None:
        """Return why the handler must not run, or None. A replayed suspended delivery may run: somebody decided so."""
        message = delivery.message
        if message.hops > self.max_hops and not delivery.redelivered:
            return Settlement(state=State.SUSPENDED, error=f"{message.hops} hops, the limit is {self.max_hops}")
        if delivery.attempt > policy.max_retries + 1:
            return Settlement(state=State.DEAD, error=f"gave up: the process ended in attempt {delivery.attempt - 1}")
        if message.ttl_s is not None and delivery.attempt == 1:
            waits_since = max(delivery.queued_at, message.not_before or delivery.queued_at)
            if self.clock() > waits_since + timedelta(seconds=message.ttl_s):
                return Settlement(state=State.EXPIRED, error=f"not started within {message.ttl_s:g} s")
        return None

    async def _attempt(self, delivery: Delivery, subscription: Subscription) -> Settlement:
        failure: BaseException
        limit = asyncio.timeout(subscription.policy.timeout_s)
        try:
            async with limit:
                outputs = await subscription.handler(delivery.message, delivery)
            return self._success(delivery, outputs)
        except asyncio.CancelledError as error:
            # A task that the handler awaited was cancelled, not this worker: a failure like any other.
            if _being_cancelled():
                raise
            failure = error
        except Exception as error:  # noqa: BLE001 - a handler may raise anything; each becomes a retry or a dead letter
            failure = error
            if limit.expired() and isinstance(error, TimeoutError):
                failure = TimeoutError(f"no result within {subscription.policy.timeout_s:g} s")
        settlement = decide(failure, delivery, subscription.policy, now=self.clock(), random=self.random)
        expected = isinstance(failure, HermesError | TimeoutError)
        logger.warning("attempt failed", extra=_fields(delivery, settlement), exc_info=None if expected else failure)
        return settlement

    def _success(self, delivery: Delivery, outputs: Sequence[Message]) -> Settlement:
        now = self.clock()
        expanded: list[Delivery] = []
        for message in stamp(delivery, outputs, now):
            expanded.extend(self.router.expand(message, now))
        return Settlement(state=State.DONE, outputs=tuple(expanded))

    def _aftermath(self, delivery: Delivery, settlement: Settlement) -> tuple[Delivery, ...]:
        """Return what is sent because the delivery failed for good: an error to a request's sender, a call for help."""
        messages: list[Message] = []
        if delivery.message.kind is Kind.REQUEST:
            messages.append(_error_message(delivery, settlement))
        if comes_from_failure(delivery.message):
            logger.error("a message about a failure failed itself", extra=_fields(delivery, settlement))
        elif self.on_failure is not None:
            try:
                messages.extend(self.on_failure(replace(delivery, state=settlement.state), settlement.error))
            except Exception:  # the dead letter must be recorded whatever the hook does
                logger.exception("on_failure failed", extra=_fields(delivery, settlement))
        now = self.clock()
        expanded: list[Delivery] = []
        for message in stamp_failure(delivery, messages, settlement.state, now):
            try:
                expanded.extend(self.router.expand(message, now))
            except Unroutable as error:
                logger.warning("%s", error, extra=_fields(delivery, settlement))
        return tuple(expanded)

    async def _commit(self, delivery: Delivery, settlement: Settlement) -> Settlement:
        """Settle and return what was settled: a failure for good together with what is sent because of it.

        While the store refuses, keep trying: to run the handler again would be worse than to wait.
        """
        if settlement.state in DEAD_LETTERS:
            settlement = replace(settlement, outputs=self._aftermath(delivery, settlement))
        pause_s = STORE_PAUSE_S
        while True:
            try:
                await self.backend.settle(delivery, settlement)
            except StoreError:
                logger.exception("cannot settle, trying again", extra=_fields(delivery, settlement))
                await self.sleep(pause_s)
                pause_s = min(pause_s * 2, STORE_PAUSE_MAX_S)
            else:
                return settlement

    async def _hand_back(self, delivery: Delivery) -> None:
        try:
            await self.backend.hand_back(delivery)
        except StoreError:
            logger.exception("cannot hand back; the next start finds it", extra={"message_id": delivery.message.id})

    def _report(self, delivery: Delivery, settlement: Settlement, seconds: float) -> None:
        if self.on_hop is None:
            return
        outputs = tuple({output.message.id: output.message for output in settlement.outputs}.values())
        settled = replace(delivery, state=settlement.state, error=settlement.error)
        try:
            self.on_hop(settled, settlement.state, outputs, seconds)
        except Exception:  # a report that fails must not stop the worker
            logger.exception("on_hop failed", extra=_fields(delivery, settlement))


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _error_message(delivery: Delivery, settlement: Settlement) -> Message:
    request = delivery.message
    data = {
        "message_id": request.id,
        "type": request.type,
        "state": settlement.state.value,
        "error": settlement.error,
        "task": request.task,
    }
    return request.child(TASK_ERROR, data, recipient=request.reply_to or request.sender, kind=Kind.ERROR)


def _fields(delivery: Delivery, settlement: Settlement) -> dict[str, object]:
    return {
        "message_id": delivery.message.id,
        "trace_id": delivery.message.trace_id,
        "agent": delivery.agent,
        "attempt": delivery.attempt,
        "state": settlement.state.value,
        "error": settlement.error,
    }
