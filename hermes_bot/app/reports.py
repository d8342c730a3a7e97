"""What is told of every attempt and every tool call: to the log, the journal, the metrics and the alarms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from agents.model.meter import ModelCall
from hermes_bot import observe
from hermes_bot.app.alarms import Alarms
from hermes_bot.bus.port import Delivery, State
from hermes_bot.messages.message import Message, encode
from hermes_bot.observe.context import current
from hermes_bot.observe.metrics import Metrics
from hermes_bot.observe.records import LONGEST_ERROR, Record, RecordKind
from hermes_bot.observe.redact import Redactor
from hermes_bot.store.journal import Journal
from hermes_bot.tools.toolbox import ToolCall

_REDACTOR = Redactor()


class Reports:
    """The bus's `on_hop` and the toolbox's `on_call`. Records are made later, off the event loop."""

    def __init__(self, *, journal: Journal, metrics: Metrics, alarms: Alarms, clock: Callable[[], datetime]) -> None:
        self._journal = journal
        self._metrics = metrics
        self._alarms = alarms
        self._clock = clock

    def hop(self, delivery: Delivery, state: State, outputs: Sequence[Message], seconds: float) -> None:
        """Tell of one settled attempt."""
        self._metrics.attempt(delivery.agent, state.value, seconds)
        self._alarms.attempt(delivery, state)
        self._journal.add(partial(attempt_record, delivery, outputs, seconds, self._clock()))
        observe.log_hop(
            message_id=delivery.message.id,
            trace_id=delivery.message.trace_id,
            type=delivery.message.type,
            agent=delivery.agent,
            outputs=[output.type for output in outputs],
            duration_ms=seconds * 1000,
            attempt=delivery.attempt,
            outcome=state.value,
        )

    def tool_call(self, call: ToolCall) -> None:
        """Tell of one tool call; which message it was made for stands in the context of the handler."""
        self._metrics.tool_call(call.tool, call.outcome, call.seconds)
        self._journal.add(partial(call_record, call, current(), self._clock()))

    def model_call(self, call: ModelCall) -> None:
        """Tell of one request to a model; which message it was made for stands in the context of the handler."""
        self._metrics.model_call(call.model, call.outcome, call.seconds, call.tokens_in, call.tokens_out, call.cost_usd)
        self._journal.add(partial(model_record, call, current(), self._clock()))


def attempt_record(delivery: Delivery, outputs: Sequence[Message], seconds: float, ended_at: datetime) -> Record:
    """Return the journal's record of an attempt."""
    message = delivery.message
    return Record(
        kind=RecordKind.ATTEMPT,
        started_at=ended_at - timedelta(seconds=seconds),
        duration_ms=round(seconds * 1000, 3),
        outcome=delivery.state.value,
        message_id=message.id,
        trace_id=message.trace_id,
        context_id=message.context_id,
        type=message.type,
        sender=message.sender,
        agent=delivery.agent,
        subscription=delivery.subscription,
        attempt=delivery.attempt,
        error=_REDACTOR.text(delivery.error)[:LONGEST_ERROR] if delivery.error else "",
        outputs=tuple((output.id, output.type) for output in outputs),
        bytes_in=size_of(message),
        bytes_out=sum(size_of(output) for output in outputs),
    )


def call_record(call: ToolCall, bound: Mapping[str, object], ended_at: datetime) -> Record:
    """Return the journal's record of a tool call: its name and what came of it, never what it was called with."""
    attempt = bound.get("attempt")
    return Record(
        kind=RecordKind.TOOL,
        started_at=ended_at - timedelta(seconds=call.seconds),
        duration_ms=round(call.seconds * 1000, 3),
        outcome=call.outcome,
        message_id=str(bound.get("message_id", "")),
        trace_id=str(bound.get("trace_id", "")),
        agent=call.agent,
        attempt=attempt if isinstance(attempt, int) else 1,
        error=call.error[:LONGEST_ERROR],
        bytes_in=call.bytes_in,
        bytes_out=call.bytes_out,
        name=call.tool,
        level=call.level,
    )


def model_record(call: ModelCall, bound: Mapping[str, object], ended_at: datetime) -> Record:
    """Return the journal's record of a request to a model: what it cost, never what was said."""
    attempt = bound.get("attempt")
    failed = call.outcome not in {"done", "invalid"}
    return Record(
        kind=RecordKind.MODEL,
        started_at=ended_at - timedelta(seconds=call.seconds),
        duration_ms=round(call.seconds * 1000, 3),
        outcome="failed" if failed else call.outcome,
        message_id=str(bound.get("message_id", "")),
        trace_id=str(bound.get("trace_id", "")),
        agent=call.agent,
        attempt=attempt if isinstance(attempt, int) else 1,
        error=call.outcome if failed else "",
        name=call.model,
        tokens_in=call.tokens_in,
        tokens_out=call.tokens_out,
        cost_usd=call.cost_usd,
    )


def size_of(message: Message) -> int:
    """Return the bytes of the message as JSON, 0 where it cannot be written."""
    try:
        return len(encode(message))
    except (TypeError, ValueError, RecursionError):
        return 0
