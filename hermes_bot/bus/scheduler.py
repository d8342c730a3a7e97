"""Who gets a message that several agents could take: one of them, chosen by a policy.

The router asks with the agents that have the capability; no answer means that nobody takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

REMEMBERED = 50  # attempts; the older ones fade


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An agent that has the capability. `match` says how well (0..1), `success_rate` how it fared lately (0..1)."""

    agent: str
    match: float
    success_rate: float
    queue_size: int


class Scheduler(Protocol):
    """A policy. It may remember what it chose."""

    def choose(self, candidates: Sequence[Candidate]) -> str | None:
        """Return the agent that takes the message, or None where nobody should."""
        ...


class BestScore:
    """The largest match x success rate / (1 + queue length); ties take turns. A match of 0 is none."""

    def __init__(self) -> None:
        self._turn: dict[str, int] = {}
        self._turns = 0

    def choose(self, candidates: Sequence[Candidate]) -> str | None:
        """Return the agent with the best score; of equals the one whose turn is longest ago."""
        scores = {each.agent: each.match * each.success_rate / (1 + each.queue_size) for each in candidates}
        best = max(scores.values(), default=0.0)
        if best <= 0:
            return None
        equals = [agent for agent, score in scores.items() if score == best]
        chosen = min(equals, key=lambda agent: self._turn.get(agent, 0))
        self._turns += 1
        self._turn[chosen] = self._turns
        return chosen


class StrictOrder:
    """The first agent of a fixed order that has the capability, however busy it is; others follow as they came."""

    def __init__(self, order: Sequence[str]) -> None:
        self._rank = {agent: rank for rank, agent in enumerate(order)}

    def choose(self, candidates: Sequence[Candidate]) -> str | None:
        """Return the first in order whose match is not 0."""
        able = [each.agent for each in candidates if each.match > 0]
        return min(able, key=lambda agent: self._rank.get(agent, len(self._rank)), default=None)


class SuccessRates:
    """How each agent's attempts went lately: an average in which older attempts fade. A new agent starts at 1."""

    def __init__(self) -> None:
        self._rates: dict[str, float] = {}

    def record(self, agent: str, *, succeeded: bool) -> None:
        """Take one attempt into account."""
        rate = self._rates.get(agent, 1.0)
        self._rates[agent] = rate + (succeeded - rate) / REMEMBERED

    def rate(self, agent: str) -> float:
        """Return the rate, 0..1; never 0, so that an agent that failed can come back."""
        return max(self._rates.get(agent, 1.0), 1 / REMEMBERED)
