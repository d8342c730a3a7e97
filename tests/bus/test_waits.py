"""How long a message may wait for its first start: it expires, or it is stale and a person hears of it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from hermes_bot.bus.port import Alarm, AlarmKind, Delivery, State
from hermes_bot.bus.stamp import BUS
from hermes_bot.bus.waits import DEFAULT_TTL_S, STALE_AFTER_S, Overdue, WaitRules, Waits
from hermes_bot.messages.message import Message
from tests.bus.harness import Harness, Recorder, message

T0 = datetime(2026, 3, 1, tzinfo=UTC)
LATER = 100_000.0


def waited(
    seconds: float, held_s: float = 0.0, *, agent: str = "order", attempt: int = 1, **fields: Any
) -> Overdue | None:
    waits = Waits(WaitRules(), lambda _agent, _since, _until: timedelta(seconds=held_s))
    item = replace(message(fields.pop("type", "ticket.order")), **{"sender": "entry", "hops": 1, **fields})
    delivery = Delivery(message=item, subscription="s", agent=agent, attempt=attempt, queued_at=T0)
    return waits.overdue(delivery, T0 + timedelta(seconds=seconds))


@pytest.mark.parametrize(
    "fields, limit_s, stale",
    [
        ({}, DEFAULT_TTL_S, False),
        ({"ttl_s": 7.0}, 7.0, False),
        ({"ttl_s": 7.0, "agent": "slack"}, 7.0, False),
        ({"hops": 0, "sender": "slack"}, STALE_AFTER_S, True),
        ({"hops": 0, "sender": "demo"}, STALE_AFTER_S, True),
        ({"agent": "slack", "type": "reply.ready"}, STALE_AFTER_S, True),
        ({"agent": "refund", "type": "approval.settled"}, STALE_AFTER_S, True),
        ({"agent": "entry", "type": "ticket.gathered"}, STALE_AFTER_S, True),
        ({"agent": "entry", "type": "ticket.edited"}, STALE_AFTER_S, True),
    ],
)
def test_each_message_has_its_limit(fields: dict[str, Any], limit_s: float, stale: bool) -> None:
    late = waited(limit_s + 1, **fields)

    assert waited(limit_s, **fields) is None
    assert late is not None
    assert late.stale is stale


@pytest.mark.parametrize(
    "fields",
    [
        {"attempt": 2},  # the limit is on the first start
        {"agent": "slack", "type": "handoff.requested"},  # calls a person: better late than never
        {"agent": "tickets", "type": "ticket.failed"},
        {"agent": "slack", "type": "reply.ready", "processed_by": ((BUS, "dead", "T"),)},
    ],
)
def test_some_are_never_too_late(fields: dict[str, Any]) -> None:
    assert waited(LATER, **fields) is None


def test_time_behind_a_shut_gate_does_not_count_for_the_ttl_but_makes_stale() -> None:
    assert waited(500, 400) is None
    assert waited(LATER, LATER, hops=0) is not None


async def test_a_stale_message_is_not_executed_a_person_gets_it_and_an_alarm_is_raised(harness: Harness) -> None:
    alarms: list[Alarm] = []

    def on_failure(delivery: Delivery, error: str) -> Sequence[Message]:
        return [delivery.message.child("ticket.failed", {"error": error})]

    harness.expected_dead = {"entry"}
    harness.build(on_alarm=alarms.append, on_failure=on_failure, waits=WaitRules(stale_after_s=300))
    entry, human = Recorder(), Recorder()
    harness.bus.subscribe("ticket.created", "entry", entry)
    harness.bus.subscribe("ticket.failed", "tickets", human)
    await harness.bus.start()
    await harness.bus.pause()
    sent = await harness.publish("ticket.created")
    harness.time.advance(301)
    await harness.bus.resume()
    await harness.finish()

    assert entry.got == []
    assert [item.id for item in human.got] == [f"{sent.id}-f1"]
    assert (await harness.states())[sent.id, "entry"] is State.EXPIRED
    assert [(alarm.kind, alarm.message_id) for alarm in alarms] == [(AlarmKind.STALE, sent.id)]
