"""The tree of a message, rebuilt from what the bus keeps and from the journal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.observe.records import Record, RecordKind
from hermes_bot.observe.trace import Seen, build, parent_of

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def seen(message_id: str, agent: str = "entry", state: str = "done", **fields: Any) -> Seen:
    given_fields: dict[str, Any] = {
        "type": "ticket.created",
        "sender": "slack",
        "context_id": "c1",
        "trace_id": "t1",
        "created_at": AT,
        "size": 10,
        "subscription": f"{agent}:ticket.created",
        "attempt": 1,
        "error": "",
        "waits_since": AT,
        "updated_at": None,
    }
    return Seen(message_id=message_id, agent=agent, state=state, **given_fields | fields)


def attempt(message_id: str, agent: str = "entry", outcome: str = "done", **fields: Any) -> Record:
    given_fields: dict[str, Any] = {
        "kind": RecordKind.ATTEMPT,
        "started_at": AT,
        "duration_ms": 1.0,
        "type": "ticket.created",
        "trace_id": "t1",
        "subscription": f"{agent}:ticket.created",
    }
    return Record(message_id=message_id, agent=agent, outcome=outcome, **given_fields | fields)


def test_children_stand_below_the_message_they_follow_from_in_the_order_of_production() -> None:
    trace = build([seen(f"MSG-1{end}") for end in ("", "-10", "-9", "-9-1")], [])

    (root,) = trace.roots
    assert [child.message_id for child in root.children] == ["MSG-1-9", "MSG-1-10"]
    assert [child.message_id for child in root.children[0].children] == ["MSG-1-9-1"]


def test_an_agents_name_may_hold_hyphens() -> None:
    trace = build([seen("MSG-1"), seen("MSG-1-order-eu.1"), seen("MSG-1-order-eu.1-f1")], [])

    (root,) = trace.roots
    assert [node.message_id for node in root.all()] == ["MSG-1", "MSG-1-order-eu.1", "MSG-1-order-eu.1-f1"]


def test_the_bus_says_where_a_message_is_and_the_journal_says_what_was_tried() -> None:
    failed = attempt("MSG-1", outcome="retrying", error="TransientError: away", duration_ms=30.0)

    trace = build([seen("MSG-1", state="retrying", error="TransientError: away", updated_at=AT)], [failed])
    ((_, step),) = trace.open
    assert (step.state, step.attempts, step.duration_ms, step.since) == ("retrying", (failed,), 30.0, AT)


def test_what_the_bus_has_purged_is_told_by_the_journal() -> None:
    later = AT + timedelta(seconds=1)
    records = [
        attempt("MSG-1", outcome="retrying", error="away"),
        attempt("MSG-1", attempt=2, started_at=later, outputs=(("MSG-1-1", "ticket.order"),)),
    ]

    (root,) = build([], records).roots
    (step,) = root.steps
    assert (step.state, step.attempt, len(step.attempts)) == ("done", 2, 2)
    assert [(child.message_id, child.type, child.steps) for child in root.children] == [("MSG-1-1", "ticket.order", ())]


def test_calls_stand_at_the_delivery_that_made_them() -> None:
    call = attempt("MSG-1", kind=RecordKind.TOOL, name="find_order", level="L0", subscription="")

    trace = build([seen("MSG-1"), seen("MSG-1", "audit")], [call])
    assert {step.agent: step.calls for _, step in trace.steps} == {"entry": (call,), "audit": ()}


@given(st.lists(st.lists(st.sampled_from(["1", "2", "10", "f1", "order.1", "a-b.2", "order~2.1"]), max_size=5)))
def test_every_message_stands_in_the_tree_once_and_below_a_prefix_of_its_id(paths: list[list[str]]) -> None:
    ids = {"-".join(["MSG-1", *path]) for path in paths}
    trace = build([seen(each) for each in ids], [])

    assert sorted(node.message_id for node in trace.nodes) == sorted(ids)
    for node in trace.nodes:
        for child in node.children:
            assert child.message_id.startswith(f"{node.message_id}-")
            assert parent_of(child.message_id, dict.fromkeys(ids)) == node.message_id
