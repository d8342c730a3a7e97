"""What a scene of the fire found: figures for people and programs, and what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.fire.ledger import Audit

Step = Callable[[int, int], None]
"""Told how far a scene is: steps done, steps in all."""


def no_step(_done: int, _of: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A scene's name, its figures in the order to show them, and its problems; none means that it held."""

    scene: str
    figures: dict[str, float | int | str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def report_of(scene: str, audit: Audit, problems: tuple[str, ...] = (), **figures: float | int | str) -> Report:
    """Return a ledger's audit as a report."""
    told: dict[str, float | int | str] = {"messages": audit.messages, "lost": 0, "repeated": audit.repeated}
    if any("lost" in problem for problem in audit.problems):
        told["lost"] = "see problems"
    return Report(scene=scene, figures={**told, **figures}, problems=(*audit.problems, *problems))


def pause_s(chance: Random, shortest_s: float, longest_s: float) -> float:
    """Return a random time between the two."""
    return shortest_s + (longest_s - shortest_s) * chance.random()
