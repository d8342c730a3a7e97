"""What `/metrics` tells, in the format of Prometheus, from a registry of our own.

Counting is a few additions on plain dictionaries; prometheus-client is imported when somebody asks, and only then
are they turned into metrics. How deep queues are is not counted but looked up at that time: a `Look`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for types alone: imported when metrics are asked for
    from prometheus_client.metrics_core import Metric

BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
BREAKER_STATES: Mapping[str, int] = {"closed": 0, "half_open": 1, "open": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How things are right now. `queued` counts all that is in no final state, `oldest_s` how long the first waits."""

    queued: Mapping[str, int] = field(default_factory=dict)
    oldest_s: Mapping[str, float] = field(default_factory=dict)
    dead_letters: Mapping[tuple[str, str], int] = field(default_factory=dict)
    breakers: Mapping[str, str] = field(default_factory=dict)
    approvals_waiting: int = 0
    ratings: Mapping[str, int] = field(default_factory=dict)
    stale: int = 0
    paused: bool = False
    journal_lost: int = 0


class Histogram:
    """Durations in seconds, counted into buckets."""

    __slots__ = ("counts", "sum_s")

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS_S) + 1)
        self.sum_s = 0.0

    def observe(self, seconds: float) -> None:
        """Count one duration."""
        self.counts[bisect_left(BUCKETS_S, seconds)] += 1
        self.sum_s += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Return (upper bound, how many took at most that), the last one unbounded."""
        total, told = 0, []
        for bound, count in zip((*map(str, BUCKETS_S), "+Inf"), self.counts, strict=True):
            total += count
            told.append((bound, float(total)))
        return told


class Metrics:
    """Counts attempts and tool calls, and writes everything down for Prometheus."""

    def __init__(self) -> None:
        self._attempts: Counter[tuple[str, str]] = Counter()
        self._handlers: dict[str, Histogram] = {}
        self._calls: Counter[tuple[str, str]] = Counter()
        self._tools: dict[str, Histogram] = {}
        self._model_calls: Counter[tuple[str, str]] = Counter()
        self._tokens: Counter[tuple[str, str]] = Counter()
        self._cost_usd: dict[str, float] = {}
        self._models: dict[str, Histogram] = {}

    def attempt(self, agent: str, outcome: str, seconds: float) -> None:
        """Count an attempt that was settled."""
        self._attempts[agent, outcome] += 1
        _histogram(self._handlers, agent).observe(seconds)

    def tool_call(self, tool: str, outcome: str, seconds: float) -> None:
        """Count a tool call."""
        self._calls[tool, outcome] += 1
        _histogram(self._tools, tool).observe(seconds)

    def model_call(
        self, model: str, outcome: str, seconds: float, tokens_in: int, tokens_out: int, cost_usd: float | None
    ) -> None:
        """Count a request to a model, its tokens and what it cost."""
        self._model_calls[model, outcome] += 1
        self._tokens[model, "in"] += tokens_in
        self._tokens[model, "out"] += tokens_out
        self._cost_usd[model] = self._cost_usd.get(model, 0.0) + (cost_usd or 0.0)
        _histogram(self._models, model).observe(seconds)

    def render(self, look: Look) -> tuple[bytes, str]:
        """Return the body and the content type of `/metrics`."""
        from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
        from prometheus_client.exposition import CONTENT_TYPE_LATEST

        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Collector(lambda: self._families(look)))
        ProcessCollector(registry=registry)
        return generate_latest(registry), CONTENT_TYPE_LATEST

    def _families(self, look: Look) -> Iterator[Metric]:
        yield from self._counted()
        yield from _looked_up(look)

    def _counted(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

        attempts = CounterMetricFamily(
            "hermes_deliveries", "Attempts at deliveries, by what became of them.", labels=["agent", "outcome"]
        )
        retries = CounterMetricFamily("hermes_retries", "Attempts that failed and are tried again.", labels=["agent"])
        for (agent, outcome), count in sorted(self._attempts.items()):
            attempts.add_metric([agent, outcome], count)
            if outcome == "retrying":
                retries.add_metric([agent], count)
        calls = CounterMetricFamily("hermes_tool_calls", "Tool calls, by outcome.", labels=["tool", "outcome"])
        for (tool, outcome), count in sorted(self._calls.items()):
            calls.add_metric([tool, outcome], count)
        yield from (attempts, retries, calls, *self._of_models())
        for name, text, label, histograms in (
            ("hermes_handler_duration_seconds", "How long attempts took.", "agent", self._handlers),
            ("hermes_tool_duration_seconds", "How long tool calls took.", "tool", self._tools),
            ("hermes_model_duration_seconds", "How long requests to models took.", "model", self._models),
        ):
            family = HistogramMetricFamily(name, text, labels=[label])
            for value, histogram in sorted(histograms.items()):
                family.add_metric([value], histogram.buckets(), histogram.sum_s)
            yield family

    def _of_models(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily

        calls = CounterMetricFamily("hermes_model_calls", "Requests to models.", labels=["model", "outcome"])
        for (model, outcome), count in sorted(self._model_calls.items()):
            calls.add_metric([model, outcome], count)
        tokens = CounterMetricFamily("hermes_model_tokens", "Tokens, in and out.", labels=["model", "direction"])
        for (model, direction), count in sorted(self._tokens.items()):
            tokens.add_metric([model, direction], count)
        cost = CounterMetricFamily("hermes_model_cost_usd", "US dollars, of models with a price.", labels=["model"])
        for model, usd in sorted(self._cost_usd.items()):
            cost.add_metric([model], usd)
        yield from (calls, tokens, cost)


class _Collector:
    """What prometheus-client asks when it writes."""

    def __init__(self, families: Callable[[], Iterator[Metric]]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        """Return every metric."""
        return self._families()


def _looked_up(look: Look) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    by_agent = (
        ("hermes_queue_size", "Deliveries in no final state.", look.queued),
        ("hermes_queue_oldest_seconds", "How long the delivery that waits longest has waited.", look.oldest_s),
        (
            "hermes_breaker_state",
            "0 closed, 1 half open, 2 open.",
            {agent: BREAKER_STATES.get(state, 0) for agent, state in look.breakers.items()},
        ),
    )
    for name, text, values in by_agent:
        family = GaugeMetricFamily(name, text, labels=["agent"])
        for agent, value in sorted(values.items()):
            family.add_metric([agent], value)
        yield family
    dead = GaugeMetricFamily("hermes_dead_letters", "Deliveries that wait for a person.", labels=["agent", "state"])
    for (agent, state), count in sorted(look.dead_letters.items()):
        dead.add_metric([agent, state], count)
    yield dead
    yield GaugeMetricFamily("hermes_approvals_waiting", "Approvals nobody has answered.", value=look.approvals_waiting)
    ratings = GaugeMetricFamily("hermes_ticket_ratings", "Tickets by the customer's thumbs.", labels=["rating"])
    for rating, count in sorted(look.ratings.items()):
        ratings.add_metric([rating], count)
    yield ratings
    yield GaugeMetricFamily(
        "hermes_stale_deliveries", "Deliveries past their deadline without a final state.", value=look.stale
    )
    yield GaugeMetricFamily("hermes_paused", "1 while nothing is executed or posted.", value=int(look.paused))
    yield CounterMetricFamily("hermes_journal_lost", "Journal entries not written.", value=look.journal_lost)


def _histogram(histograms: dict[str, Histogram], key: str) -> Histogram:
    found = histograms.get(key)
    if found is None:
        found = histograms[key] = Histogram()
    return found
