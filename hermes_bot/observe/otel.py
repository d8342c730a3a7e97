"""OpenTelemetry spans, one for each handled delivery, sent to an OTLP/HTTP endpoint.

Whether a trace is sampled is decided from its id alone, before the SDK is touched: every process decides alike, and
what is not sampled costs a comparison. Nothing of OpenTelemetry is imported before the first `Spans` is made.
A span's id follows from its message, so that a parent in another process needs no look-up.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from hermes_bot.observe.records import Record, RecordKind

if TYPE_CHECKING:  # imported when spans are wanted
    from opentelemetry.sdk.trace.export import SpanExporter

SERVICE = "hermes-bot"
BELOW = 1 << 64
FLUSH_LIMIT_S = 5.0


def sampled(trace_id: str, ratio: float) -> bool:
    """Return whether a trace is sampled, as TraceIdRatioBased decides: by the lower 64 bits of its id.

    https://opentelemetry.io/docs/specs/otel/trace/sdk/#traceidratiobased
    """
    try:
        return int(trace_id[-16:], 16) < round(ratio * BELOW)
    except ValueError:
        return False


def span_id(message_id: str, agent: str, mark: str) -> int:
    """Return the id of the span for this agent's attempt; `mark` is `done`, or says which attempt failed."""
    digest = hashlib.sha256(f"{message_id}\n{agent}\n{mark}".encode()).digest()
    return int.from_bytes(digest[:8], "big") or 1


class Spans:
    """Turns journal records into spans. Call `write` from one thread; `close` sends what is left."""

    def __init__(self, endpoint: str, *, ratio: float, exporter: Callable[[str], SpanExporter] | None = None) -> None:
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.id_generator import IdGenerator

        class Given(IdGenerator):
            """Answers with the id that is set before each span."""

            trace = span = 0

            def generate_span_id(self) -> int:
                return self.span

            def generate_trace_id(self) -> int:
                return self.trace

        self._ratio = ratio
        self._ids = Given()
        self._provider = TracerProvider(
            resource=Resource.create({SERVICE_NAME: SERVICE}), id_generator=self._ids, shutdown_on_exit=False
        )
        self._provider.add_span_processor(BatchSpanProcessor((exporter or _exporter)(endpoint)))
        self._tracer = self._provider.get_tracer("hermes_bot")

    def write(self, records: Iterable[Record]) -> None:
        """Make a span of each attempt whose trace is sampled."""
        for record in records:
            if record.kind is RecordKind.ATTEMPT and sampled(record.trace_id, self._ratio):
                self._span(record)

    def close(self) -> None:
        """Send what is left, within a limit."""
        self._provider.force_flush(int(FLUSH_LIMIT_S * 1000))
        self._provider.shutdown()

    def _span(self, record: Record) -> None:
        from opentelemetry import trace

        self._ids.trace = int(record.trace_id, 16)
        self._ids.span = span_id(record.message_id, record.agent, _mark(record))
        parent = trace.SpanContext(
            trace_id=self._ids.trace,
            span_id=_parent_span(record),
            is_remote=True,
            trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED),
        )
        context = trace.set_span_in_context(trace.NonRecordingSpan(parent)) if parent.is_valid else None
        started = record.started_at
        span = self._tracer.start_span(
            f"{record.type} {record.agent}",
            context=context,
            kind=trace.SpanKind.CONSUMER,
            start_time=int(started.timestamp() * 1e9),
            attributes=_attributes(record),
        )
        if record.outcome != "done":
            span.set_status(trace.StatusCode.ERROR, f"{record.outcome}: {record.error}")
        span.end(int((started + timedelta(milliseconds=record.duration_ms)).timestamp() * 1e9))


def _exporter(endpoint: str) -> SpanExporter:
    """Return what sends spans; the path is the one that the specification gives to a base address."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")


def _mark(record: Record) -> str:
    return "done" if record.outcome == "done" else f"{record.attempt}"


def _parent_span(record: Record) -> int:
    """Return the id of the span that made the message; 0 where no handler did: its sender is outside, or a failure."""
    made_by = rf"(.+?)-(?:{re.escape(record.sender)}(?:~[0-9]+)?\.)?[0-9]+"
    found = re.fullmatch(made_by, record.message_id)
    return span_id(found[1], record.sender, "done") if found and found[1] != "MSG" else 0


def _attributes(record: Record) -> dict[str, str | int | float | list[str]]:
    """Return what is told, by the semantic conventions for messaging where they have a word for it."""
    return {
        "messaging.system": "hermes",
        "messaging.operation.type": "process",
        "messaging.destination.name": record.type,
        "messaging.message.id": record.message_id,
        "messaging.message.conversation_id": record.context_id,
        "messaging.message.body.size": record.bytes_in,
        "hermes.agent": record.agent,
        "hermes.sender": record.sender,
        "hermes.attempt": record.attempt,
        "hermes.outcome": record.outcome,
        "hermes.outputs": [type_ for _, type_ in record.outputs],
        "hermes.bytes_out": record.bytes_out,
    }
