from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.bus.port import Delivery, Policy, State
from hermes_bot.bus.retry import LONGEST_ERROR, backoff_s, decide
from hermes_bot.errors import NotYet, PermanentError, TransientError, Unroutable
from tests.bus.harness import message

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def delivery(attempt: int = 1) -> Delivery:
    return Delivery(message=message(), subscription="a:#", agent="a", attempt=attempt)


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_the_wait_is_never_longer_than_the_policy_says(attempt: int, luck: float) -> None:
    policy = Policy(backoff_start_s=2, backoff_max_s=30)

    assert 0 < backoff_s(attempt, policy, lambda: luck) <= 30


@pytest.mark.parametrize("attempt, expected", [(1, 2), (2, 4), (3, 8), (4, 16), (5, 30)])
def test_the_wait_doubles_up_to_the_maximum(attempt: int, expected: float) -> None:
    assert backoff_s(attempt, Policy(), lambda: 0.5) == expected


def test_jitter_spreads_the_wait_by_a_quarter_either_way() -> None:
    assert backoff_s(1, Policy(), lambda: 0.0) == 1.5
    assert backoff_s(1, Policy(), lambda: 1.0) == 2.5


def test_retry_after_is_honoured_beyond_the_maximum() -> None:
    settlement = decide(TransientError("busy", retry_after_s=90), delivery(), Policy(), now=NOW, random=lambda: 0.5)

    assert settlement.retry_at is not None
    assert (settlement.retry_at - NOW).total_seconds() == 90


@given(st.floats(0, 1_000), st.integers(1, 10_000))
def test_what_waits_for_its_turn_comes_again_just_then_and_is_never_given_up(wait_s: float, attempt: int) -> None:
    error = NotYet("its turn", retry_after_s=wait_s)
    settlement = decide(error, delivery(attempt), Policy(max_retries=1), now=NOW, random=lambda: 0.5)

    assert settlement.postponed
    assert (settlement.state, settlement.retry_at) == (State.RETRYING, NOW + timedelta(seconds=wait_s))


@pytest.mark.parametrize("error", [PermanentError("no"), Unroutable("x.y")])
def test_a_permanent_error_is_dead_at_once(error: Exception) -> None:
    assert decide(error, delivery(), Policy(), now=NOW, random=lambda: 0.5).state is State.DEAD


@pytest.mark.parametrize("error", [TransientError("no"), TimeoutError(), KeyError("x")])
def test_any_other_error_is_retried_until_the_retries_are_used_up(error: Exception) -> None:
    states = [decide(error, delivery(n), Policy(max_retries=2), now=NOW, random=lambda: 0.5).state for n in (1, 2, 3)]

    assert states == [State.RETRYING, State.RETRYING, State.DEAD]


def test_an_error_text_is_bounded_and_can_be_written_as_utf8() -> None:
    settlement = decide(ValueError("\ud800" * 10_000), delivery(), Policy(), now=NOW, random=lambda: 0.5)

    assert len(settlement.error.encode()) <= LONGEST_ERROR
