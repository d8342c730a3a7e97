"""What `/metrics` tells, read back with Prometheus' own parser."""

from __future__ import annotations

from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from hermes_bot.observe.metrics import Look, Metrics

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(metrics: Metrics, look: Look | None = None) -> Samples:
    body, _ = metrics.render(look or Look())
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
    }


def test_attempts_are_counted_by_agent_and_outcome_and_retries_once_more() -> None:
    metrics = Metrics()
    for outcome in ("done", "done", "retrying", "dead"):
        metrics.attempt("order", outcome, 0.004)

    found = samples(metrics)
    assert found["hermes_deliveries_total", (("agent", "order"), ("outcome", "done"))] == 2
    assert found["hermes_deliveries_total", (("agent", "order"), ("outcome", "dead"))] == 1
    assert found["hermes_retries_total", (("agent", "order"),)] == 1


def test_durations_are_a_cumulative_histogram() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.004, 0.2, 400.0):
        metrics.attempt("order", "done", seconds)

    found = samples(metrics)
    buckets = [
        found["hermes_handler_duration_seconds_bucket", (("agent", "order"), ("le", bound))]
        for bound in ("0.001", "0.005", "0.25", "60.0", "+Inf")
    ]
    assert buckets == [1, 2, 3, 3, 4]
    assert found["hermes_handler_duration_seconds_count", (("agent", "order"),)] == 4
    assert found["hermes_handler_duration_seconds_sum", (("agent", "order"),)] == 400.205


def test_what_is_looked_up_is_told() -> None:
    look = Look(
        queued={"order": 3},
        oldest_s={"order": 12.5},
        dead_letters={("order", "dead"): 2},
        breakers={"order": "open"},
        approvals_waiting=4,
        stale=1,
        paused=True,
        journal_lost=5,
    )

    found = samples(Metrics(), look)
    order = (("agent", "order"),)
    assert found["hermes_queue_size", order] == 3
    assert found["hermes_queue_oldest_seconds", order] == 12.5
    assert found["hermes_breaker_state", order] == 2
    assert found["hermes_dead_letters", (*order, ("state", "dead"))] == 2
    assert found["hermes_approvals_waiting", ()] == 4
    assert found["hermes_stale_deliveries", ()] == 1
    assert found["hermes_paused", ()] == 1
    assert found["hermes_journal_lost_total", ()] == 5


def test_tool_calls_are_counted() -> None:
    metrics = Metrics()
    metrics.tool_call("find_order", "done", 0.01)

    found = samples(metrics)
    assert found["hermes_tool_calls_total", (("outcome", "done"), ("tool", "find_order"))] == 1
    assert found["hermes_tool_duration_seconds_count", (("tool", "find_order"),)] == 1


def test_the_registry_is_our_own() -> None:
    before = {family.name for family in REGISTRY.collect()}
    samples(Metrics())

    assert {family.name for family in REGISTRY.collect()} == before
