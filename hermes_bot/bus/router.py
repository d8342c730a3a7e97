"""Who gets a message: the subscriptions, and the expansion of a message into one delivery for each that matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from fnmatch import fnmatchcase

from msgspec.structs import replace

from hermes_bot.bus.port import Delivery, Policy, Subscription
from hermes_bot.bus.scheduler import BestScore, Candidate, Scheduler, SuccessRates
from hermes_bot.bus.topics import Topics
from hermes_bot.errors import PermanentError, Unroutable
from hermes_bot.messages.message import Kind, Message

EVERYBODY = "all"
CAPABILITY = "capability:"
NOBODY = "ticket.unknown"
"""The type as which a message goes on when it asked for a capability that nobody offers."""

_POOL = "@"  # `@<capability>:<pattern>` is the subscription that those who share it have in common


class Router:
    """The table of subscriptions; it may change while the bus runs. `queue_size` tells how busy an agent is."""

    def __init__(
        self,
        *,
        queue_size: Callable[[str], int] = lambda _: 0,
        scheduler: Scheduler | None = None,
        nobody: str = NOBODY,
    ) -> None:
        self.rates = SuccessRates()
        self._topics: Topics[str] = Topics()
        self._subscriptions: dict[str, Subscription] = {}
        self._queue_size = queue_size
        self._scheduler = scheduler or BestScore()
        self._nobody = nobody

    def add(self, subscription: Subscription) -> None:
        """Bind the pattern to the handler; the same agent and pattern again replaces the subscription."""
        self._subscriptions[subscription.name] = subscription
        self._topics.add(subscription.pattern, subscription.name)

    def remove(self, pattern: str, agent: str) -> None:
        """Stop new deliveries for the subscription. Its handler is kept: what is queued already will be handled."""
        self._topics.remove(pattern, f"{agent}:{pattern}")

    def subscription(self, delivery: Delivery) -> Subscription | None:
        """Return the subscription that the delivery was made for, also after `remove`, or None."""
        found = self._subscriptions.get(delivery.subscription)
        if found is None and delivery.subscription.startswith(_POOL):
            pattern = delivery.subscription.partition(":")[2]
            found = self._subscriptions.get(f"{delivery.agent}:{pattern}")
        return found

    def agents(self) -> set[str]:
        """Return the names of all agents that have, or had, a subscription."""
        return {subscription.agent for subscription in self._subscriptions.values()}

    def concurrency(self, agent: str) -> int:
        """Return how many workers the agent has: the most that any of its subscriptions asks for."""
        mine = (item for item in self._subscriptions.values() if item.agent == agent)
        return max(item.policy.concurrency for item in mine)

    def policy(self, agent: str) -> Policy:
        """Return the policy of the agent's first subscription, for what the agent has only one of."""
        return next((item.policy for item in self._subscriptions.values() if item.agent == agent), Policy())

    def expand(self, message: Message, now: datetime) -> tuple[Delivery, ...]:
        """Return one delivery for each subscription that gets the message.

        Raise Unroutable where there is none, PermanentError where the recipient is `all` and the kind does not allow
        it.
        """
        found: Sequence[Subscription] = [self._subscriptions[name] for name in self._topics.match(message.type)]
        if message.recipient:
            found = _addressed(found, message)
        if len(found) == 1 and not found[0].capability:
            return (_delivery(message, found[0], found[0].name, "", now),)
        chosen = self._chosen(found, message)
        if not chosen:
            return self._unwanted(message, now, asked=bool(found) or message.recipient.startswith(CAPABILITY))
        if len(chosen) == 1:
            return (_delivery(message, *chosen[0], "", now),)
        seen: Counter[str] = Counter()
        deliveries = []
        for subscription, name in chosen:
            seen[subscription.agent] += 1
            times = seen[subscription.agent]
            branch = subscription.agent if times == 1 else f"{subscription.agent}~{times}"
            deliveries.append(_delivery(message, subscription, name, branch, now))
        return tuple(deliveries)

    def _chosen(self, found: Sequence[Subscription], message: Message) -> list[tuple[Subscription, str]]:
        """Return who gets it, each with the name that makes a repeat known: one of those that share a capability."""
        chosen, pools = [], dict[str, list[Subscription]]()
        for each in found:
            if each.capability and message.recipient != EVERYBODY:
                pools.setdefault(f"{_POOL}{each.capability}:{each.pattern}", []).append(each)
            else:
                chosen.append((each, each.name))
        for name, pool in pools.items():
            agent = self._scheduler.choose([self._candidate(each) for each in pool])
            chosen.extend((each, name) for each in pool if each.agent == agent)
        return chosen

    def _candidate(self, each: Subscription) -> Candidate:
        rate, queue_size = self.rates.rate(each.agent), self._queue_size(each.agent)
        return Candidate(agent=each.agent, match=each.match, success_rate=rate, queue_size=queue_size)

    def _unwanted(self, message: Message, now: datetime, *, asked: bool) -> tuple[Delivery, ...]:
        """Return the message for nobody, where it asked for a capability; raise Unroutable where there is no way."""
        if not asked or message.type == self._nobody:
            raise Unroutable(message.type, message.recipient)
        return self.expand(replace(message, type=self._nobody, recipient=""), now)


def _addressed(found: Sequence[Subscription], message: Message) -> Sequence[Subscription]:
    recipient = message.recipient
    if recipient == EVERYBODY:
        if message.kind not in (Kind.EVENT, Kind.HEARTBEAT):
            raise PermanentError(
                f"{message.type} {message.id}: only events and heartbeats go to all, no {message.kind}"
            )
        return found
    if recipient.startswith(CAPABILITY):
        return [each for each in found if each.capability == recipient.removeprefix(CAPABILITY)]
    if any(letter in recipient for letter in "*?["):
        return [each for each in found if fnmatchcase(each.agent, recipient)]
    return [each for each in found if each.agent == recipient]


def _delivery(message: Message, subscription: Subscription, name: str, branch: str, now: datetime) -> Delivery:
    return Delivery(message=message, subscription=name, agent=subscription.agent, branch=branch, queued_at=now)
