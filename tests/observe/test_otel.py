"""Spans, sent over OTLP/HTTP to a receiver on this machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace.sampling import Decision, TraceIdRatioBased

from hermes_bot.observe.otel import Spans, sampled
from hermes_bot.observe.records import Record, RecordKind
from tests.otlp import Receiver, receiving

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


def attempt(message_id: str, **fields: Any) -> Record:
    given_fields: dict[str, Any] = {
        "kind": RecordKind.ATTEMPT,
        "started_at": AT,
        "duration_ms": 12.0,
        "outcome": "done",
        "trace_id": TRACE,
        "type": "ticket.created",
        "sender": "slack",
        "agent": "entry",
    }
    return Record(message_id=message_id, **given_fields | fields)


def sent(receiver: Receiver, *records: Record, ratio: float = 1.0) -> dict[str, Span]:
    spans = Spans(receiver.url, ratio=ratio)
    spans.write(records)
    spans.close()
    return {span.name: span for span in receiver.spans}


def test_a_chain_is_one_trace_of_spans_that_stand_below_one_another(receiver: Receiver) -> None:
    first = attempt("MSG-A", outputs=(("MSG-A-1", "ticket.order"),), bytes_in=120)
    second = attempt("MSG-A-1", type="ticket.order", sender="entry", agent="order")
    third = attempt("MSG-A-1-order.1", type="reply.ready", sender="order", agent="slack")

    spans = sent(receiver, first, second, third)
    assert receiver.paths == {"/v1/traces"}
    assert {span.trace_id.hex() for span in spans.values()} == {TRACE}
    root, order, reply = spans["ticket.created entry"], spans["ticket.order order"], spans["reply.ready slack"]
    assert (root.parent_span_id, order.parent_span_id, reply.parent_span_id) == (b"", root.span_id, order.span_id)
    assert root.end_time_unix_nano - root.start_time_unix_nano == 12_000_000
    told = {item.key: item.value for item in root.attributes}
    assert told["messaging.message.id"].string_value == "MSG-A"
    assert told["messaging.message.body.size"].int_value == 120
    assert [each.string_value for each in told["hermes.outputs"].array_value.values] == ["ticket.order"]


def test_an_attempt_that_failed_is_an_error_with_an_id_of_its_own(receiver: Receiver) -> None:
    failed = attempt("MSG-A", outcome="retrying", error="TransientError: away", type="first")
    done = attempt("MSG-A", attempt=2, type="second")

    spans = sent(receiver, failed, done)
    assert spans["first entry"].status.code == 2
    assert "away" in spans["first entry"].status.message
    assert spans["second entry"].status.code == 0
    assert spans["first entry"].span_id != spans["second entry"].span_id


def test_what_follows_from_a_failure_and_calls_of_tools_have_no_parent_and_no_span(receiver: Receiver) -> None:
    note = attempt("MSG-A-f1", type="ticket.failed", sender="bus", agent="tickets")
    call = attempt("MSG-A", kind=RecordKind.TOOL, type="tool")

    spans = sent(receiver, note, call)
    assert {name: span.parent_span_id for name, span in spans.items()} == {"ticket.failed tickets": b""}


def test_what_is_not_sampled_is_not_sent(receiver: Receiver) -> None:
    assert sent(receiver, attempt("MSG-A"), ratio=0.0) == {}


@given(st.integers(1, 2**128 - 1), st.floats(0, 1))
def test_sampling_decides_as_the_sdk_would(trace_id: int, ratio: float) -> None:
    decision = TraceIdRatioBased(ratio).should_sample(None, trace_id, "name").decision

    assert sampled(f"{trace_id:032x}", ratio) == (decision is Decision.RECORD_AND_SAMPLE)


@pytest.mark.parametrize("odd", ["", "not hex", "MSG-1"])
def test_an_odd_trace_id_is_not_sampled(odd: str) -> None:
    assert not sampled(odd, 1.0)


def test_nothing_of_opentelemetry_is_imported_without_an_endpoint() -> None:
    program = (
        "import sys, hermes_bot.app, hermes_bot.observe.otel; sys.exit(any('opentelemetry' in m for m in sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=120).returncode == 0
