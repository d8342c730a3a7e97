"""Guards: messages that multiply are suspended, a person is called, an alarm is raised."""

from collections.abc import Sequence

import pytest

from hermes_bot.bus.guards import Frequency, GuardLimits
from hermes_bot.bus.port import Alarm, AlarmKind, Delivery, Policy, State
from hermes_bot.errors import TransientError
from hermes_bot.messages.message import Message
from tests.bus.harness import Harness, Recorder, failing

WIDE = Policy(max_hops=1000)


def test_a_frequency_counts_different_members_within_its_window() -> None:
    frequency = Frequency(2, 60)

    counted = [("k", "a", 0), ("k", "a", 1), ("k", "b", 2), ("k", "c", 3), ("other", "c", 3), ("k", "d", 63)]
    told = [frequency.exceeded(key, member, at) for key, member, at in counted]
    assert told == [False, False, False, True, False, False]


def test_what_is_over_the_limit_does_not_keep_it_over_for_ever() -> None:
    frequency = Frequency(2, 60)
    for at in range(0, 59):
        frequency.exceeded("k", at, at)

    assert [frequency.exceeded("k", f"new{at}", at) for at in (119, 120, 121)] == [False, False, True]


async def test_more_than_five_messages_of_one_task_are_too_many(harness: Harness) -> None:
    harness.expected_dead = {"entry"}
    harness.bus.subscribe("#", "entry", Recorder())
    for number in range(8):
        harness.bus.subscribe(f"type{number}", "entry", Recorder())
    harness.bus.unsubscribe("entry", "#")
    await harness.bus.start()
    for number in range(5):
        await harness.publish(f"type{number}", task_id="T")
    await harness.publish("type5", task_id="T")
    harness.time.advance(600)
    await harness.publish("type6", task_id="T")
    await harness.finish()

    assert [state for _, _, state in harness.hops] == [State.DONE] * 5 + [State.SUSPENDED] + [State.DONE]


async def test_repeats_and_retries_of_a_task_do_not_count(harness: Harness) -> None:
    handler, seen = failing(*[TransientError("again")] * 4)
    harness.bus.subscribe("#", "entry", handler, Policy(max_retries=9))
    await harness.bus.start()
    for _ in range(10):
        await harness.publish(task_id="T")
    await harness.finish()

    assert (await harness.only()).state is State.DONE
    assert len(seen) == 5


async def test_ping_pong_with_equal_data_is_stopped(harness: Harness) -> None:
    harness.expected_dead = {"b"}
    a = Recorder(lambda item: [item.child("to.b", item.data)])
    b = Recorder(lambda item: [item.child("to.a", item.data)])
    harness.bus.subscribe("to.a", "a", a, WIDE)
    harness.bus.subscribe("to.b", "b", b, WIDE)
    await harness.bus.start()
    await harness.publish("to.a", data={"n": 1})
    await harness.finish()

    assert [len(a.got), len(b.got)] == [1, 1]
    assert harness.hops[-1] == ("to.b", "b", State.SUSPENDED)


async def test_what_goes_to_and_fro_with_new_data_or_as_a_new_round_is_no_ping_pong(harness: Harness) -> None:
    def answer(item: Message) -> Sequence[Message]:
        n = item.data["n"]
        if n == 6:
            return ()
        new_round = item.child("to.b", {"n": 0}, task_id=f"T.r{n}") if n else item.child("to.b", {"n": n})
        return [new_round]

    def back(item: Message) -> Sequence[Message]:
        return [item.child("to.a", {"n": int(item.task_id[3:] if item.task_id.startswith("T.r") else 0) + 1})]

    harness.bus.subscribe("to.a", "a", Recorder(answer), WIDE)
    harness.bus.subscribe("to.b", "b", Recorder(back), WIDE)
    await harness.bus.start()
    await harness.publish("to.a", data={"n": 0})
    await harness.finish()

    assert {state for _, _, state in harness.hops} == {State.DONE}
    assert len(harness.hops) == 13


async def test_the_same_task_again_in_its_own_chain_is_not_dropped_in_silence(harness: Harness) -> None:
    harness.expected_dead = {"a"}
    harness.bus.subscribe("#", "a", Recorder(lambda item: [item.child(item.type, item.data, task_id=item.task)]), WIDE)
    await harness.bus.start()
    await harness.publish("loop", data={"n": 1})
    await harness.finish()

    assert "ping-pong" in (await harness.only()).error


@pytest.mark.parametrize("number, state", [(20, State.DONE), (21, State.SUSPENDED)])
async def test_one_handling_makes_at_most_twenty_messages(harness: Harness, number: int, state: State) -> None:
    harness.expected_dead = {"a"}
    harness.bus.subscribe("root", "a", Recorder(lambda item: [item.child("leaf")] * number))
    harness.bus.subscribe("leaf", "b", leaf := Recorder())
    await harness.bus.start()
    await harness.publish("root")
    await harness.finish()

    assert harness.hops[0] == ("root", "a", state)
    assert len(leaf.got) == (number if state is State.DONE else 0)


async def storm(harness: Harness, number: int) -> list[Alarm]:
    alarms: list[Alarm] = []
    harness.expected_dead = {"entry"}

    def on_failure(delivery: Delivery, error: str) -> Sequence[Message]:
        return [delivery.message.child("help")]

    harness.build(on_alarm=alarms.append, on_failure=on_failure, guards=GuardLimits(context_messages=5))
    harness.bus.subscribe("work", "entry", Recorder())
    harness.bus.subscribe("help", "human", Recorder())
    await harness.bus.start()
    for _ in range(number):
        await harness.publish("work")
    await harness.publish("work", context_id="calm")
    await harness.finish()
    return alarms


async def test_a_storm_in_one_context_is_suspended_and_one_person_is_called(harness: Harness) -> None:
    alarms = await storm(harness, 9)

    states = [state for type_, _, state in harness.hops if type_ == "work"]
    assert sorted(states) == [State.DONE] * 6 + [State.SUSPENDED] * 4
    assert [hop for hop in harness.hops if hop[0] == "help"] == [("help", "human", State.DONE)]
    assert {alarm.kind for alarm in alarms} == {AlarmKind.GUARD}


async def test_a_backlog_that_is_worked_off_fast_is_no_storm(harness: Harness) -> None:
    harness.build(guards=GuardLimits(context_messages=5))
    harness.bus.subscribe("work", "entry", Recorder())
    await harness.bus.start()
    for _ in range(12):
        await harness.publish("work")
        harness.time.advance(20)
    await harness.finish()

    assert {state for _, _, state in harness.hops} == {State.DONE}


async def test_somebody_may_let_a_suspended_message_pass(harness: Harness) -> None:
    harness.bus.subscribe("root", "a", Recorder(lambda item: [item.child("leaf")] * 21))
    harness.bus.subscribe("leaf", "b", leaf := Recorder())
    await harness.bus.start()
    sent = await harness.publish("root")
    await harness.finish()

    assert await harness.backend.requeue(sent.id, "a:root")
    await harness.finish()
    assert len(leaf.got) == 21
