"""What becomes of a delivery whose handler failed: a decision as a value, made without waiting or storing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from hermes_bot.bus.port import Delivery, Policy, Settlement, State
from hermes_bot.errors import NotYet, PermanentError, TransientError, Unroutable

LONGEST_ERROR = 2000


def decide(
    error: BaseException, delivery: Delivery, policy: Policy, *, now: datetime, random: Callable[[], float]
) -> Settlement:
    """Return the settlement after `error`: dead when permanent or out of retries, else a retry with its time.

    What has to wait for its turn comes again just then, and has used up no retry.

    Unknown exceptions count as transient: a bug that shows only now and then must not lose a customer's message.
    """
    cause = _text(error)
    if isinstance(error, PermanentError | Unroutable):
        return Settlement(state=State.DEAD, error=cause)
    if isinstance(error, NotYet):
        turn = now + timedelta(seconds=error.wait_s)
        return Settlement(state=State.RETRYING, error=cause, retry_at=turn, postponed=True)
    if delivery.attempt > policy.max_retries:
        return Settlement(state=State.DEAD, error=f"gave up after {delivery.attempt} attempts: {cause}")
    wait_s = backoff_s(delivery.attempt, policy, random)
    if isinstance(error, TransientError) and error.retry_after_s is not None:
        wait_s = max(wait_s, error.retry_after_s)
    return Settlement(state=State.RETRYING, error=cause, retry_at=now + timedelta(seconds=wait_s))


def _text(error: BaseException) -> str:
    """Return kind and text of the error, bounded, and fit for UTF-8: it may quote what a customer typed."""
    text = f"{type(error).__name__}: {error}"[:LONGEST_ERROR]
    return text.encode(errors="replace").decode()


def backoff_s(attempt: int, policy: Policy, random: Callable[[], float]) -> float:
    """Return how long to wait after the failed `attempt`: doubled each time, a quarter of jitter either way.

    Jitter keeps retries of many messages that failed together from coming back together
    (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
    """
    doublings = min(attempt - 1, 60)  # a float's exponent is finite, a replayed delivery's attempts are not
    wait_s = policy.backoff_start_s * 2.0**doublings * (0.75 + 0.5 * random())
    return min(wait_s, policy.backoff_max_s)
