"""How often types fail, and when that is worth an alarm: for every sequence of attempts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.observe.rates import SLICES, FailureAlarm, FailureRates

WINDOW_S = 300.0
SLICE_S = WINDOW_S / SLICES

Attempts = list[tuple[float, str, bool]]


@st.composite
def attempts(draw: st.DrawFn) -> Attempts:
    """Attempts in the order of time, with pauses that cross slices and windows."""
    at_s, found = draw(st.floats(0, 1e9)), []
    for pause_s in draw(st.lists(st.sampled_from([0.0, 0.5, 4.9, 5.0, 61.0, 299.0, 300.0, 1000.0]), max_size=60)):
        at_s += pause_s
        found.append((at_s, draw(st.sampled_from(["a", "b"])), draw(st.booleans())))
    return found


@given(attempts())
def test_the_rate_counts_exactly_what_lies_in_the_last_window_to_a_slice(given_attempts: Attempts) -> None:
    rates = FailureRates(window_s=WINDOW_S)
    for number, (at_s, type_, failed) in enumerate(given_attempts):
        rates.record(type_, failed=failed, at_s=at_s)

        rate = rates.rate(type_, at_s=at_s)
        inside = [
            each_failed
            for each_at, each_type, each_failed in given_attempts[: number + 1]
            if each_type == type_ and at_s // SLICE_S - each_at // SLICE_S < SLICES
        ]
        assert (rate.total, rate.failed) == (len(inside), sum(inside))


@given(attempts(), st.floats(0.0, 0.99), st.integers(1, 10))
def test_an_alarm_is_raised_above_the_ratio_only_and_once_in_a_window(
    given_attempts: Attempts, ratio: float, min_count: int
) -> None:
    alarm = FailureAlarm(window_s=WINDOW_S, ratio=ratio, min_count=min_count)
    raised: dict[str, float] = {}
    for at_s, type_, failed in given_attempts:
        rate = alarm.attempt(type_, failed=failed, at_s=at_s)

        if rate is not None:
            assert failed
            assert rate.total >= min_count
            assert rate.ratio > ratio
            assert type_ not in raised or at_s >= raised[type_] + WINDOW_S
            raised[type_] = at_s


@given(attempts(), st.floats(0.0, 0.99), st.integers(1, 10))
def test_no_failure_above_the_ratio_goes_unheard_for_longer_than_a_window(
    given_attempts: Attempts, ratio: float, min_count: int
) -> None:
    alarm, rates = (
        FailureAlarm(window_s=WINDOW_S, ratio=ratio, min_count=min_count),
        FailureRates(window_s=WINDOW_S),
    )
    raised: dict[str, float] = {}
    for at_s, type_, failed in given_attempts:
        rates.record(type_, failed=failed, at_s=at_s)
        if alarm.attempt(type_, failed=failed, at_s=at_s) is not None:
            raised[type_] = at_s

        rate = rates.rate(type_, at_s=at_s)
        if failed and rate.total >= min_count and rate.ratio > ratio:
            assert at_s < raised[type_] + WINDOW_S


def test_what_needs_no_count_is_told_once_in_a_window() -> None:
    alarm = FailureAlarm(window_s=WINDOW_S, ratio=0.05, min_count=20)

    told = [alarm.first("suspended", at_s=at_s) for at_s in (0.0, 1.0, WINDOW_S - 1, WINDOW_S, WINDOW_S + 1)]
    assert told == [True, False, False, True, False]


def test_memory_does_not_grow_with_the_number_of_attempts() -> None:
    rates = FailureRates(window_s=WINDOW_S)
    for number in range(100_000):
        rates.record("a", failed=False, at_s=number * 0.01)

    assert len(rates._slices["a"]) <= SLICES
