"""Who gets a message type, as the route table says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """One agent, or with a `capability` several of which the scheduler takes one, each with how well it fits (0..1).

    `include` names the fields of the data that they see; None is all.
    """

    agents: Mapping[str, float]
    capability: str = ""
    include: frozenset[str] | None = None

    @classmethod
    def to(cls, agent: str) -> Binding:
        """Return the binding to one agent that sees everything."""
        return cls(agents={agent: 1.0})
