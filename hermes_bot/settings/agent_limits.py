"""`agents` in `configs/hermes.yaml`: limits for all agents, and for each what differs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, Strict

from hermes_bot.settings.section import Count, Seconds, Section

AGENT_NAMES = ("order", "refund", "handoff", "entry", "unknown", "slack", "tickets", "approvals")


class RetryPolicy(Section):
    """`retry_policy`: exponential, with jitter."""

    max_retries: Annotated[int, Field(ge=0)] = 3
    backoff_start_s: Seconds = 2.0
    backoff_max_s: Seconds = 30.0


class RetryOverride(Section):
    """`agents.<name>.retry_policy`: what is not given is inherited from `agents.retry_policy`."""

    max_retries: Annotated[int, Field(ge=0)] | None = None
    backoff_start_s: Seconds | None = None
    backoff_max_s: Seconds | None = None


class CircuitBreaker(Section):
    """`circuit_breaker`: opens after failures of so many messages in a row, and lets one try after the time."""

    failure_threshold: Count = 3
    reset_timeout_s: Seconds = 60.0


class BreakerOverride(Section):
    """`agents.<name>.circuit_breaker`: what is not given is inherited from `agents.circuit_breaker`."""

    failure_threshold: Count | None = None
    reset_timeout_s: Seconds | None = None


class AgentOverride(Section):
    """`agents.<name>`: what is not given is inherited from `agents`, the queue's size from `bus`."""

    default_timeout_s: Seconds | None = None
    max_hops: Count | None = None
    concurrency: Count | None = None
    max_queue_size: Count | None = None
    retry_policy: RetryOverride = RetryOverride()
    circuit_breaker: BreakerOverride = BreakerOverride()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLimits:
    """The limits that hold for one agent once its overrides are laid over the common ones."""

    timeout_s: float
    max_hops: int
    concurrency: int
    max_queue_size: int | None
    max_retries: int
    backoff_start_s: float
    backoff_max_s: float
    failure_threshold: int
    reset_timeout_s: float


class AgentSettings(Section):
    """`agents`: common limits, and what differs by agent. `file`, relative to `hermes.yaml`, says what each one is."""

    file: Annotated[Path, Strict(strict=False)] = Path("agents.yaml")
    default_timeout_s: Seconds = 30.0
    max_hops: Count = 10
    concurrency: Count = 3
    retry_policy: RetryPolicy = RetryPolicy()
    circuit_breaker: CircuitBreaker = CircuitBreaker()
    order: AgentOverride = AgentOverride()
    refund: AgentOverride = AgentOverride()
    handoff: AgentOverride = AgentOverride()
    entry: AgentOverride = AgentOverride()
    unknown: AgentOverride = AgentOverride()
    slack: AgentOverride = AgentOverride(
        concurrency=8, default_timeout_s=60.0, retry_policy=RetryOverride(max_retries=60, backoff_max_s=60.0)
    )
    tickets: AgentOverride = AgentOverride(retry_policy=RetryOverride(max_retries=60))
    approvals: AgentOverride = AgentOverride(retry_policy=RetryOverride(max_retries=60))

    def limits(self, agent: str) -> AgentLimits:
        """Return the limits of `agent`; one without overrides of its own gets the common ones."""
        own = getattr(self, agent) if agent in AGENT_NAMES else AgentOverride()
        retry = self.retry_policy.model_dump() | own.retry_policy.model_dump(exclude_none=True)
        breaker = self.circuit_breaker.model_dump() | own.circuit_breaker.model_dump(exclude_none=True)
        return AgentLimits(
            timeout_s=self.default_timeout_s if own.default_timeout_s is None else own.default_timeout_s,
            max_hops=self.max_hops if own.max_hops is None else own.max_hops,
            concurrency=self.concurrency if own.concurrency is None else own.concurrency,
            max_queue_size=own.max_queue_size,
            **retry,
            **breaker,
        )
