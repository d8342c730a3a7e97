"""Guards against messages that multiply: what they find is suspended and shown to a person, not run.

Counts are kept in this process and begin anew with it; the hop limit travels in the message. Times are those of
publishing, so that a backlog which is worked off fast is no storm. A delivery that somebody replayed is let through.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from hermes_bot.bus.port import Delivery
from hermes_bot.bus.stamp import comes_from_failure

KEPT = 10_000  # keys of a generation, or chains, that are remembered at most


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardLimits:
    """What is too much. Seconds throughout."""

    task_messages: int = 5
    task_window_s: float = 600.0
    context_messages: int = 200
    context_window_s: float = 60.0
    outputs: int = 20
    ping_pong: bool = True


class Frequency:
    """Counts different members per key within a sliding window.

    Keys live in two generations. When the window has passed, or too many keys are known, the young ones become the
    old ones and what was old, and not asked for since, is forgotten.
    """

    def __init__(self, most: int, window_s: float) -> None:
        self._most = most
        self._window_s = window_s
        self._young: dict[str, dict[Hashable, float]] = {}
        self._old: dict[str, dict[Hashable, float]] = {}
        self._turned_at = 0.0

    def exceeded(self, key: str, member: Hashable, at: float) -> bool:
        """Count the member and return whether there are more than the most within the window that ends at `at`."""
        if at - self._turned_at > self._window_s or len(self._young) >= KEPT:
            self._old, self._young, self._turned_at = self._young, {}, at
        members = self._young.get(key)
        if members is None:
            members = self._young[key] = self._old.pop(key, {})
        if len(members) >= self._most:
            self._forget(members, at - self._window_s)
        members.setdefault(member, at)
        return len(members) > self._most

    def _forget(self, members: dict[Hashable, float], before: float) -> None:
        for member, at in list(members.items()):
            if at <= before:
                del members[member]
        while len(members) > self._most:  # what is over the limit already does not make it more so
            members.popitem()


class Guards:
    """The limits with their counts. An answer is what is wrong, in words, or nothing."""

    def __init__(self, limits: GuardLimits) -> None:
        self._limits = limits
        self._tasks = Frequency(limits.task_messages, limits.task_window_s)
        self._contexts = Frequency(limits.context_messages, limits.context_window_s)
        self._calls = Frequency(1, limits.context_window_s)
        self._data: OrderedDict[tuple[str, str, str], dict[str, Any]] = OrderedDict()

    def incoming(self, delivery: Delivery, max_hops: int) -> str:
        """Return why the delivery must not begin; asked once for each, before its first attempt."""
        if delivery.redelivered:
            return ""
        message, limits = delivery.message, self._limits
        if message.hops > max_hops:
            return f"{message.hops} hops, the limit is {max_hops}"
        at = delivery.queued_at.timestamp()
        named = message.task_id not in ("", message.id)  # else the task is this message alone
        if named and self._tasks.exceeded(message.task_id, message.id, at):
            return f"the task was published more than {limits.task_messages} times in {limits.task_window_s:g} s"
        if self._contexts.exceeded(message.context_id, message.id, at) and not comes_from_failure(message):
            return f"more than {limits.context_messages} messages in {limits.context_window_s:g} s in one context"
        return ""

    def outgoing(self, delivery: Delivery, outputs: Sequence[Delivery], count: int) -> str:
        """Return why what a handling made (`count` messages, these deliveries) must not be sent."""
        if not count or (delivery.redelivered and delivery.attempt == 1):
            return ""
        if count > self._limits.outputs:
            return f"{count} messages from one handling, the limit is {self._limits.outputs}"
        if not self._limits.ping_pong:
            return ""
        message = delivery.message
        self._data[delivery.agent, message.type, message.task] = message.data
        if len(self._data) > KEPT:
            self._data.popitem(last=False)
        repeated = next((each for each in outputs if self._repeats(delivery, each)), None)
        return "" if repeated is None else f"ping-pong: {repeated.agent} would get {repeated.message.type} again"

    def calls_for_help(self, delivery: Delivery) -> bool:
        """Return whether a person is to be called: once for a context that trips guards, not for each message."""
        message = delivery.message
        return not self._calls.exceeded(message.context_id, message.id, delivery.queued_at.timestamp())

    def _repeats(self, parent: Delivery, output: Delivery) -> bool:
        """Return whether the chain went through this agent and type before, with equal data.

        A message that names its task is a new round unless the task is the same too; one that does not is told by
        its data, unless the agent sends it to itself: those are the steps of a loop.
        """
        message = output.message
        by_data = message.task_id == message.id and output.agent != parent.agent
        return any(
            agent == output.agent
            and type_ == message.type
            and (by_data or task == message.task)
            and self._data.get((agent, type_, task)) == message.data
            for agent, type_, task in message.processed_by
        )
