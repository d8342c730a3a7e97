"""The bus's limits, as the settings give them."""

from __future__ import annotations

from hermes_bot.app.outlet import AGENT as OUTLET
from hermes_bot.bus.guards import GuardLimits
from hermes_bot.bus.port import Policy
from hermes_bot.bus.scheduler import BestScore, Scheduler, StrictOrder
from hermes_bot.bus.waits import WaitRules
from hermes_bot.messages.payloads import EDGE
from hermes_bot.settings import Settings


def policy_of(settings: Settings, agent: str) -> Policy:
    """Return how the agent's deliveries are run."""
    limits = settings.agents.limits(agent)
    return Policy(
        concurrency=limits.concurrency,
        timeout_s=limits.timeout_s,
        max_retries=limits.max_retries,
        backoff_start_s=limits.backoff_start_s,
        backoff_max_s=limits.backoff_max_s,
        max_queue_size=limits.max_queue_size or settings.bus.max_queue_size,
        max_hops=limits.max_hops,
        failure_threshold=limits.failure_threshold,
        reset_timeout_s=limits.reset_timeout_s,
    )


def wait_rules(settings: Settings) -> WaitRules:
    """Return how long messages may wait; what the rules are for is the bus's own default."""
    edges = frozenset({EDGE, OUTLET})
    return WaitRules(ttl_s=settings.bus.ttl_s, stale_after_s=settings.bus.stale_after_s, edges=edges)


def guard_limits(settings: Settings) -> GuardLimits:
    """Return what is too much."""
    return GuardLimits(**settings.bus.guards.model_dump())


def scheduler_of(settings: Settings) -> Scheduler:
    """Return the policy that chooses between agents which share a capability."""
    order = settings.bus.strict_order
    return StrictOrder(order) if order else BestScore()
