"""The circuit breaker: as a decision, and what it does on a bus."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.bus.breaker import Breaker, BreakerState, Spells
from hermes_bot.bus.port import Alarm, AlarmKind, Delivery, Policy, State
from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.messages.message import Message
from tests.bus.harness import Harness, Recorder, until

T0 = datetime(2026, 3, 1, tzinfo=UTC)
A, B, C, D = (("a", "s"), ("b", "s"), ("c", "s"), ("d", "s"))


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def opened() -> Breaker:
    breaker = Breaker(failure_threshold=3, reset_timeout_s=60)
    assert [breaker.leave(key, False, T0) for key in (A, B, C)] == [False, False, True]
    return breaker


def test_it_opens_after_failures_of_three_different_messages_in_a_row() -> None:
    assert opened().state(at(1)) is BreakerState.OPEN


@pytest.mark.parametrize(
    "ends",
    [
        [(A, False), (A, False), (A, False), (B, False)],  # retries of one message count once
        [(A, False), (B, False), (C, True), (D, False)],  # a success in between
        [(A, False), (B, False), (C, None), (D, None)],  # permanent errors say nothing
    ],
)
def test_it_stays_closed_otherwise(ends: list[tuple[tuple[str, str], bool | None]]) -> None:
    breaker = Breaker(failure_threshold=3, reset_timeout_s=60)
    for key, succeeded in ends:
        assert breaker.enter(key, T0)
        breaker.leave(key, succeeded, T0)

    assert breaker.state(T0) is BreakerState.CLOSED


def test_one_probe_after_the_reset_time_closes_it_when_it_succeeds() -> None:
    breaker = opened()

    assert not breaker.enter(D, at(59))
    assert breaker.enter(D, at(60))
    assert not breaker.enter(A, at(61)), "a second one beside the probe"
    breaker.leave(D, True, at(62))
    assert breaker.state(at(62)) is BreakerState.CLOSED


def test_a_probe_that_fails_opens_it_for_the_whole_time_again() -> None:
    breaker = opened()
    breaker.enter(D, at(60))
    breaker.leave(D, False, at(70))

    assert breaker.shut(at(129))
    assert breaker.enter(A, at(130))


def test_a_probe_that_says_nothing_lets_the_next_one_try() -> None:
    breaker = opened()
    breaker.enter(D, at(60))
    breaker.leave(D, None, at(61))

    assert breaker.enter(A, at(61))


@pytest.mark.parametrize("succeeded", [True, False])
def test_what_began_before_it_opened_does_not_change_it(succeeded: bool) -> None:
    breaker = opened()
    breaker.leave(D, succeeded, at(30))

    assert breaker.shut(at(59))
    assert breaker.enter(A, at(60))


@given(st.lists(st.integers(0, 50), min_size=2, max_size=20, unique=True), st.integers(0, 50), st.integers(0, 50))
def test_spells_add_up_to_what_lay_within(moments: list[int], first: int, last: int) -> None:
    spells, lasting = Spells(), False
    shut: set[int] = set()
    for moment, following in zip(sorted(moments), [*sorted(moments)[1:], 60], strict=True):
        lasting = not lasting
        (spells.begin if lasting else spells.end)(at(moment))
        if lasting:
            shut |= set(range(moment, following))
    start, end = sorted((first, last))

    expected = len(shut & set(range(start, end)))
    assert spells.within(at(start), at(end)) == timedelta(seconds=expected)


class Outage:
    """A handler that fails while `down`, and remembers what it got."""

    def __init__(self) -> None:
        self.down = True
        self.attempts: list[tuple[int, int]] = []

    async def __call__(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        self.attempts.append((message.data["n"], delivery.attempt))
        if self.down:
            raise TransientError("down")
        return ()


async def outage(harness: Harness, number: int, policy: Policy) -> Outage:
    """Publish so many messages to an agent that is down, and return when its breaker has opened."""
    handler = Outage()
    harness.bus.subscribe("#", "entry", handler, policy)
    await harness.bus.start()
    for n in range(number):
        await harness.publish(context_id=f"c{n}", data={"n": n}, ttl_s=100)
    await until(lambda: harness.bus.breakers().get("entry") is BreakerState.OPEN)
    return handler


async def test_while_it_is_open_messages_wait_burn_no_retries_and_do_not_expire(harness: Harness) -> None:
    handler = await outage(harness, 6, Policy(concurrency=1, max_retries=3, reset_timeout_s=300))
    harness.time.advance(150)
    for _ in range(50):
        await asyncio.sleep(0)

    assert handler.attempts == [(0, 1), (1, 1), (2, 1)]
    handler.down = False
    await harness.finish()
    assert {n for n, _ in handler.attempts} == set(range(6))
    assert set((await harness.states()).values()) == {State.DONE}


async def test_an_outage_costs_its_agent_one_attempt_for_each_probe(harness: Harness) -> None:
    handler = await outage(harness, 5, Policy(concurrency=3, max_retries=9))
    await until(lambda: len(handler.attempts) == 6, lambda: harness.time.jump(2))
    begun = harness.time.now

    await until(lambda: len(handler.attempts) == 7, lambda: harness.time.jump(2))
    assert (harness.time.now - begun).total_seconds() >= 59
    handler.down = False
    await harness.finish()
    assert set((await harness.states()).values()) == {State.DONE}


async def test_permanent_errors_do_not_open_it_and_another_agent_works_on(harness: Harness) -> None:
    harness.expected_dead = {"entry"}
    other = Recorder()

    async def handler(message: Message, delivery: Delivery) -> Sequence[Message]:
        raise PermanentError("no")

    harness.bus.subscribe("a", "entry", handler)
    harness.bus.subscribe("b", "other", other)
    await harness.bus.start()
    for n in range(5):
        await harness.publish("a", context_id=f"c{n}")
    await harness.publish("b")
    await harness.finish()

    assert harness.bus.breakers() == {}
    assert len(other.got) == 1


async def test_being_told_when_to_come_back_is_no_failure_of_the_agent(harness: Harness) -> None:
    async def handler(message: Message, delivery: Delivery) -> Sequence[Message]:
        if delivery.attempt == 1:
            raise TransientError("slower", retry_after_s=2)
        return ()

    harness.bus.subscribe("#", "entry", handler)
    await harness.bus.start()
    for n in range(5):
        await harness.publish(context_id=f"c{n}")
    await harness.finish()

    assert harness.bus.breakers() == {}
    assert set((await harness.states()).values()) == {State.DONE}


async def test_an_opening_breaker_raises_an_alarm(harness: Harness) -> None:
    alarms: list[Alarm] = []
    harness.build(on_alarm=alarms.append)
    handler = await outage(harness, 3, Policy(concurrency=1))
    handler.down = False
    await harness.finish()

    assert [(alarm.kind, alarm.agent) for alarm in alarms] == [(AlarmKind.BREAKER, "entry")]
