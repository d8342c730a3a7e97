"""The bus's limits, as the settings give them."""

from __future__ import annotations

from agents.spec import NOTHING_SAID, AgentSpec
from hermes_bot.app.outlet import AGENT as OUTLET
from hermes_bot.bus.guards import GuardLimits
from hermes_bot.bus.port import Policy
from hermes_bot.bus.scheduler import BestScore, Scheduler, StrictOrder
from hermes_bot.bus.waits import WaitRules
from hermes_bot.messages.payloads import EDGE
from hermes_bot.settings import Settings

STEP_IN_MODEL_CALLS = 2


def policy_of(settings: Settings, agent: str, spec: AgentSpec = NOTHING_SAID) -> Policy:
    """Return how the agent's deliveries are run; what the agents' file says of it goes before the settings.

    Where a model decides, one step has twice the time of a request to it.
    """
    limits = settings.agents.limits(agent)
    timeout_s = limits.timeout_s
    if spec.planner == "model" and settings.model.name:
        timeout_s = max(timeout_s, STEP_IN_MODEL_CALLS * settings.model.timeout_s)
    return Policy(
        concurrency=spec.concurrency or limits.concurrency,
        timeout_s=spec.timeout_s or timeout_s,
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
