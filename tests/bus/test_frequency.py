"""How often something happened lately: counted within a window, and forgotten after it."""

from hermes_bot.bus.guards import Frequency


def size(frequency: Frequency) -> int:
    return len(frequency._young) + len(frequency._old)


def test_more_different_members_than_the_most_within_the_window_are_too_many() -> None:
    frequency = Frequency(2, 60.0)

    assert [frequency.exceeded("c", member, at) for member, at in (("a", 0.0), ("a", 1.0), ("b", 2.0))] == [False] * 3
    assert frequency.exceeded("c", "d", 59.0)
    assert not frequency.exceeded("c", "e", 130.0)


def test_a_key_that_goes_on_is_counted_over_the_turn_of_the_generations() -> None:
    frequency = Frequency(2, 60.0)
    frequency.exceeded("c", "a", 59.0)
    frequency.exceeded("other", "x", 121.0)
    frequency.exceeded("c", "b", 118.0)

    assert frequency.exceeded("c", "d", 118.5)


def test_keys_of_the_past_are_forgotten() -> None:
    frequency = Frequency(200, 60.0)
    for second in range(10_000):
        frequency.exceeded(f"c{second}", "m", float(second))

    assert size(frequency) <= 2 * 62
