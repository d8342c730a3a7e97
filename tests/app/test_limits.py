"""What the settings say of limits is what the bus gets."""

from typing import Any

import pytest

from hermes_bot.app.limits import guard_limits, policy_of, scheduler_of, wait_rules
from hermes_bot.bus.guards import GuardLimits
from hermes_bot.bus.port import Policy
from hermes_bot.bus.scheduler import BestScore, StrictOrder
from hermes_bot.bus.waits import WaitRules
from hermes_bot.settings import Settings


def settings(**sections: dict[str, Any]) -> Settings:
    return Settings.model_validate(sections)


def test_without_settings_the_limits_are_those_of_the_bus_itself() -> None:
    assert policy_of(settings(), "order") == Policy()
    assert guard_limits(settings()) == GuardLimits()
    assert wait_rules(settings()).ttl_s == WaitRules().ttl_s
    assert wait_rules(settings()).stale_after_s == WaitRules().stale_after_s
    assert isinstance(scheduler_of(settings()), BestScore)


@pytest.mark.parametrize("agent, expected", [("refund", (7, 90.0, 4, 50)), ("order", (5, 60.0, 6, 99))])
def test_an_agents_own_limits_win_over_the_common_ones(agent: str, expected: tuple[int, float, int, int]) -> None:
    own = {"circuit_breaker": {"failure_threshold": 7, "reset_timeout_s": 90.0}, "max_hops": 4, "max_queue_size": 50}
    common = {"circuit_breaker": {"failure_threshold": 5}, "max_hops": 6, "refund": own}
    policy = policy_of(settings(agents=common, bus={"max_queue_size": 99}), agent)

    assert (policy.failure_threshold, policy.reset_timeout_s, policy.max_hops, policy.max_queue_size) == expected


def test_an_order_of_roles_is_the_second_policy() -> None:
    assert isinstance(scheduler_of(settings(bus={"strict_order": ["senior", "junior"]})), StrictOrder)
