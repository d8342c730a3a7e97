"""Who gets a message: the subscriptions, and the expansion of a message into one delivery for each that matches."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from hermes_bot.bus.port import Delivery, Handler, Policy, Subscription
from hermes_bot.bus.topics import Topics
from hermes_bot.errors import Unroutable
from hermes_bot.messages.message import Message


class Router:
    """The table of subscriptions; it may change while the bus runs."""

    def __init__(self) -> None:
        self._topics: Topics[str] = Topics()
        self._subscriptions: dict[str, Subscription] = {}

    def add(self, pattern: str, agent: str, handler: Handler, policy: Policy) -> None:
        """Bind `pattern` to the agent's handler; the same agent and pattern again replaces handler and policy."""
        name = f"{agent}:{pattern}"
        self._subscriptions[name] = Subscription(
            name=name, pattern=pattern, agent=agent, handler=handler, policy=policy
        )
        self._topics.add(pattern, name)

    def remove(self, pattern: str, agent: str) -> None:
        """Stop new deliveries for the subscription. Its handler is kept: what is queued already will be handled."""
        self._topics.remove(pattern, f"{agent}:{pattern}")

    def subscription(self, name: str) -> Subscription | None:
        """Return the subscription of that name, also after `remove`, or None."""
        return self._subscriptions.get(name)

    def agents(self) -> set[str]:
        """Return the names of all agents that have, or had, a subscription."""
        return {subscription.agent for subscription in self._subscriptions.values()}

    def concurrency(self, agent: str) -> int:
        """Return how many workers the agent has: the most that any of its subscriptions asks for."""
        mine = (item for item in self._subscriptions.values() if item.agent == agent)
        return max(item.policy.concurrency for item in mine)

    def expand(self, message: Message, now: datetime) -> tuple[Delivery, ...]:
        """Return one delivery for each subscription that matches; raise Unroutable where there is none."""
        found = [self._subscriptions[name] for name in self._topics.match(message.type)]
        if message.recipient:
            found = [subscription for subscription in found if subscription.agent == message.recipient]
        if not found:
            raise Unroutable(message.type, message.recipient)
        if len(found) == 1:
            return (_delivery(message, found[0], "", now),)
        seen: Counter[str] = Counter()
        deliveries = []
        for subscription in found:
            seen[subscription.agent] += 1
            times = seen[subscription.agent]
            branch = subscription.agent if times == 1 else f"{subscription.agent}~{times}"
            deliveries.append(_delivery(message, subscription, branch, now))
        return tuple(deliveries)


def _delivery(message: Message, subscription: Subscription, branch: str, now: datetime) -> Delivery:
    return Delivery(
        message=message, subscription=subscription.name, agent=subscription.agent, branch=branch, queued_at=now
    )
