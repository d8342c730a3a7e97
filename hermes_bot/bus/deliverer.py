"""One attempt at one delivery, from lease to settlement.

A delivery is refused by a guard, or its handler runs under a time limit; what came of it becomes one `Settlement`,
which the backend commits whole. Nothing in here knows how deliveries are stored or which worker runs them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter

from msgspec.structs import replace

from hermes_bot.bus.attempts import Attempts, Withdrawn
from hermes_bot.bus.gate import Gate
from hermes_bot.bus.guards import Guards
from hermes_bot.bus.port import (
    DEAD_LETTERS,
    Alarm,
    AlarmKind,
    Backend,
    Delivery,
    Policy,
    Settlement,
    State,
    Subscription,
)
from hermes_bot.bus.retry import decide
from hermes_bot.bus.router import Router
from hermes_bot.bus.stamp import answer_again, comes_from_failure, stamp, stamp_failure
from hermes_bot.bus.waits import Waits
from hermes_bot.errors import HermesError, PermanentError, StoreError, TransientError, Unroutable
from hermes_bot.messages.message import Kind, Message
from hermes_bot.messages.task_payloads import TASK_ERROR, TaskError

OnHop = Callable[[Delivery, State, Sequence[Message], float], None]
OnFailure = Callable[[Delivery, str], Sequence[Message]]
OnAlarm = Callable[[Alarm], None]

DONE = Settlement(state=State.DONE)
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
    attempts: Attempts
    gate: Gate
    guards: Guards
    waits: Waits
    on_hop: OnHop | None
    on_failure: OnFailure | None
    on_alarm: OnAlarm | None

    async def deliver(self, delivery: Delivery) -> None:
        """Bring a leased delivery to its settlement, or hand it back: at a shut gate, or when cancelled meanwhile."""
        started = perf_counter()
        withdrawn = self.attempts.withdrawn(delivery)
        if not self.gate.enter(delivery) and not withdrawn:
            await self._hand_back(delivery)
            return
        succeeded: bool | None = None  # what it says of the agent
        try:
            if withdrawn:
                settlement = Settlement(state=State.CANCELLED)
            else:
                settlement, succeeded = await self._handle(delivery)
        except asyncio.CancelledError:
            await self._hand_back(delivery)
            raise
        finally:
            self._learn(delivery, succeeded)
        try:
            settlement = await self._commit(delivery, settlement)
        except PermanentError as error:  # an output that cannot be stored
            settlement = await self._commit(delivery, Settlement(state=State.DEAD, error=str(error)))
        self._report(delivery, settlement, perf_counter() - started)

    async def _handle(self, delivery: Delivery) -> tuple[Settlement, bool | None]:
        subscription = self.router.subscription(delivery)
        if subscription is None:
            return Settlement(state=State.DEAD, error=f"no subscription {delivery.subscription!r} any more"), None
        refusal = self._refusal(delivery, subscription.policy)
        return (refusal, None) if refusal is not None else await self._attempt(delivery, subscription)

    def _learn(self, delivery: Delivery, succeeded: bool | None) -> None:
        if succeeded is not None:
            self.router.rates.record(delivery.agent, succeeded=succeeded)
        if self.gate.leave(delivery, succeeded=succeeded):
            self._alarm(AlarmKind.BREAKER, delivery, "failed too often in a row; its messages wait")

    def _refusal(self, delivery: Delivery, policy: Policy) -> Settlement | None:
        """Return why the handler must not run, or None."""
        if reason := self.guards.incoming(delivery, policy.max_hops):
            return self._suspended(delivery, reason)
        if delivery.attempt > policy.max_retries + 1:
            return Settlement(state=State.DEAD, error=f"gave up: the process ended in attempt {delivery.attempt - 1}")
        overdue = self.waits.overdue(delivery, self.clock())
        if overdue is None:
            return None
        if overdue.stale:
            self._alarm(AlarmKind.STALE, delivery, overdue.reason)
        return Settlement(state=State.EXPIRED, error=overdue.reason)

    def _suspended(self, delivery: Delivery, reason: str) -> Settlement:
        self._alarm(AlarmKind.GUARD, delivery, reason)
        return Settlement(state=State.SUSPENDED, error=reason)

    async def _attempt(self, delivery: Delivery, subscription: Subscription) -> tuple[Settlement, bool | None]:
        """Return what came of it, and whether that speaks for the agent or against it (None: neither)."""
        try:
            outputs = await self.attempts.run(delivery, subscription)
            return await self._success(delivery, outputs), True
        except Withdrawn:
            return Settlement(state=State.CANCELLED), None
        except Exception as error:  # a handler may raise anything; each becomes a retry or a dead letter
            settlement = decide(error, delivery, subscription.policy, now=self.clock(), random=self.random)
            if settlement.postponed:
                return settlement, None
            expected = isinstance(error, HermesError | TimeoutError)
            logger.warning("attempt failed", extra=_fields(delivery, settlement), exc_info=None if expected else error)
            return settlement, _speaks_against(error)

    async def _success(self, delivery: Delivery, outputs: Sequence[Message]) -> Settlement:
        if not outputs:
            return DONE
        now = self.clock()
        messages = stamp(delivery, outputs, now)
        expanded: list[Delivery] = []
        for message in messages:
            expanded.extend(self.router.expand(message, now))
        if reason := self.guards.outgoing(delivery, expanded, len(messages)):
            return self._suspended(delivery, reason)
        for number, output in enumerate(expanded):
            expanded[number] = await self._answered(output)
        answers = (each for each in messages if each.kind in (Kind.RESPONSE, Kind.ERROR))
        result = next(answers, None) if delivery.message.kind is Kind.REQUEST else None
        return Settlement(state=State.DONE, outputs=tuple(expanded), result=result)

    async def _answered(self, output: Delivery) -> Delivery:
        """Return instead of a request that repeats a task the stored result of it, where there is one."""
        request = output.message
        if request.kind is not Kind.REQUEST or request.task_id == request.id:
            return output
        result = await self.backend.result(*output.key)
        if result is None:
            return output
        return self.router.expand(answer_again(request, result, f"{request.id}-r1"), self.clock())[0]

    def _aftermath(self, delivery: Delivery, settlement: Settlement) -> Settlement:
        """Return the settlement with what is sent because the delivery failed for good.

        That is an error to a request's sender and a call for help; the error is the request's result.
        """
        asked = delivery.message.kind is Kind.REQUEST
        messages = [_error_message(delivery, settlement)] if asked else []
        messages.extend(self._calls_for_help(delivery, settlement))
        now = self.clock()
        stamped = stamp_failure(delivery, messages, settlement.state, now)
        expanded: list[Delivery] = []
        for message in stamped:
            try:
                expanded.extend(self.router.expand(message, now))
            except Unroutable as error:
                logger.warning("%s", error, extra=_fields(delivery, settlement))
        return replace(settlement, outputs=tuple(expanded), result=stamped[0] if asked else None)

    def _calls_for_help(self, delivery: Delivery, settlement: Settlement) -> Sequence[Message]:
        if comes_from_failure(delivery.message):
            logger.error("a message about a failure failed itself", extra=_fields(delivery, settlement))
            return ()
        if self.on_failure is None:
            return ()
        if settlement.state is State.SUSPENDED and not self.guards.calls_for_help(delivery):
            return ()
        try:
            return self.on_failure(replace(delivery, state=settlement.state), settlement.error)
        except Exception:  # the dead letter must be recorded whatever the hook does
            logger.exception("on_failure failed", extra=_fields(delivery, settlement))
            return ()

    async def _commit(self, delivery: Delivery, settlement: Settlement) -> Settlement:
        """Settle and return what was settled: a failure for good together with what is sent because of it.

        While the store refuses, keep trying: to run the handler again would be worse than to wait.
        """
        if settlement.state is not State.DONE and settlement.state in DEAD_LETTERS:  # to hash a state is dear
            settlement = self._aftermath(delivery, settlement)
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

    def _alarm(self, kind: AlarmKind, delivery: Delivery, text: str) -> None:
        message = delivery.message
        alarm = Alarm(
            kind=kind,
            agent=delivery.agent,
            text=text,
            context_id=message.context_id,
            message_id=message.id,
            trace_id=message.trace_id,
        )
        fields = {"message_id": message.id, "trace_id": message.trace_id, "agent": delivery.agent}
        logger.error("%s: %s", kind.value, text, extra=fields)
        if self.on_alarm is None:
            return
        try:
            self.on_alarm(alarm)
        except Exception:  # an alarm that fails must not stop the worker
            logger.exception("on_alarm failed", extra=fields)

    def _report(self, delivery: Delivery, settlement: Settlement, seconds: float) -> None:
        """Tell of the attempt; that a delivery waits for its turn is none."""
        if self.on_hop is None or settlement.postponed:
            return
        messages = {output.message.id: output.message for output in settlement.outputs}
        outputs = tuple(messages.values()) if messages else ()
        settled = replace(delivery, state=settlement.state, error=settlement.error)
        try:
            self.on_hop(settled, settlement.state, outputs, seconds)
        except Exception:  # a report that fails must not stop the worker
            logger.exception("on_hop failed", extra=_fields(delivery, settlement))


def _speaks_against(error: Exception) -> bool | None:
    """Return False for a failure of the agent's, None for what only the message is to blame for, or nobody.

    Somebody who says when to come back is well: a rate limit must not keep the agent's other messages waiting.
    """
    told_when = isinstance(error, TransientError) and error.retry_after_s is not None
    return None if told_when or isinstance(error, PermanentError | Unroutable) else False


def _error_message(delivery: Delivery, settlement: Settlement) -> Message:
    request = delivery.message
    body = TaskError(
        message_id=request.id,
        type=request.type,
        state=settlement.state.value,
        error=settlement.error,
        task=request.task,
    )
    return request.child(TASK_ERROR, body, recipient=request.reply_to or request.sender, kind=Kind.ERROR)


def _fields(delivery: Delivery, settlement: Settlement) -> dict[str, object]:
    return {
        "message_id": delivery.message.id,
        "trace_id": delivery.message.trace_id,
        "agent": delivery.agent,
        "attempt": delivery.attempt,
        "state": settlement.state.value,
        "error": settlement.error,
    }
