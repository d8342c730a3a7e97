"""Fits a route table's numbers to labelled texts: one temperature for all routes, one threshold for each.

The temperature is the one under which the right routes are most probable (Guo et al. 2017, temperature scaling). A
threshold is the one with the lowest cost, where a wrong agent costs more than nobody. Nothing here writes a file.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from routing.choice import RouteChoice
from routing.evaluate import NOBODY, LabelledText
from routing.routes_file import RouteTable

FEWEST_ROWS = 20  # of one route, below which its threshold stays as it is
_FOLDS = 5
_TEMPERATURES = tuple(round(0.30 * 1.05**step, 3) for step in range(50))  # 0.3 to 3.3
_THRESHOLDS = tuple(step / 100 for step in range(30, 100))

Rows = Sequence[tuple[LabelledText, RouteChoice]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What is fitted: the temperature, and the threshold of each route by name."""

    temperature: float
    thresholds: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How well the rows go with some numbers."""

    accuracy: float
    wrong_agent_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The numbers before and after, and how well each does; `held_out` is measured on rows that were not fitted to."""

    before: Numbers
    numbers: Numbers
    score_before: Score
    score_after: Score
    held_out: Score
    rows: int

    @property
    def changes(self) -> dict[str, tuple[float, float]]:
        """Each number that differs, old and new, by its name."""
        old, new = self.before, self.numbers
        found = {"temperature": (old.temperature, new.temperature)}
        found |= {f"{name}.score_threshold": (old.thresholds[name], new.thresholds[name]) for name in new.thresholds}
        return {name: pair for name, pair in found.items() if abs(pair[0] - pair[1]) > 1e-9}

    def changed_numbers(self) -> dict[str, Any]:
        """Return what is written: `temperature`, None where it stays, and the `thresholds` that differ."""
        old, new = self.before, self.numbers
        return {
            "temperature": new.temperature if "temperature" in self.changes else None,
            "thresholds": {name: value for name, value in new.thresholds.items() if value != old.thresholds[name]},
        }

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able data."""
        scores = {"before": self.score_before, "after": self.score_after, "held_out": self.held_out}
        return {
            "n": self.rows,
            "changes": {name: {"before": old, "after": new} for name, (old, new) in self.changes.items()},
            **{
                name: {"accuracy": one.accuracy, "wrong_agent_share": one.wrong_agent_share}
                for name, one in scores.items()
            },
        }

    def lines(self) -> list[str]:
        """Return everything for a person."""
        lines = [f"{name}  {old:.2f} → {new:.2f}" for name, (old, new) in self.changes.items()]
        for name, one in (
            ("now", self.score_before),
            ("fitted", self.score_after),
            ("fitted, on rows that it was not fitted to", self.held_out),
        ):
            lines.append(f"{name}: accuracy {one.accuracy:.4f}, to a wrong agent {one.wrong_agent_share:.4f}")
        return lines


def fit_table(table: RouteTable, chosen: Rows, *, wrong_costs: float = 1.5) -> Fitted:
    """Return the numbers fitted to what the table's router chose for labelled texts."""
    enabled = [route for route in table.routes if route.enabled]
    nobody = frozenset(route.name for route in enabled if route.nobody)
    before = Numbers(
        temperature=table.temperature,
        thresholds={
            route.name: table.score_threshold if route.score_threshold is None else route.score_threshold
            for route in enabled
            if not route.nobody
        },
    )
    fit = _Fit(before, nobody, wrong_costs=wrong_costs, tempered=table.decision == "head")
    after = fit.numbers(chosen)
    return Fitted(
        before=before,
        numbers=after,
        score_before=fit.score(chosen, before),
        score_after=fit.score(chosen, after),
        held_out=fit.held_out(chosen),
        rows=len(chosen),
    )


class _Fit:
    """One way of fitting: from which numbers it starts and what mistakes cost."""

    def __init__(self, before: Numbers, nobody: frozenset[str], *, wrong_costs: float, tempered: bool) -> None:
        self._before = before
        self._nobody = nobody
        self._wrong_costs = wrong_costs
        self._tempered = tempered

    def numbers(self, rows: Rows) -> Numbers:
        """Return the numbers that fit the rows best."""
        temperature = self._temperature(rows) if self._tempered else self._before.temperature
        thresholds = {name: self._threshold(name, rows, temperature) for name in self._before.thresholds}
        return Numbers(temperature=temperature, thresholds=thresholds)

    def score(self, rows: Rows, numbers: Numbers) -> Score:
        """Return how well the rows go with the numbers."""
        pairs = [(row.label, self._chosen(choice, numbers)) for row, choice in rows]
        return _score(pairs)

    def held_out(self, rows: Rows) -> Score:
        """Return how well each fifth of the rows goes with the numbers fitted to the other four."""
        pairs: list[tuple[str, str]] = []
        for fold in range(_FOLDS):
            rest = [pair for pair in rows if _fold(pair[0]) != fold]
            numbers = self.numbers(rest)
            pairs += [(row.label, self._chosen(got, numbers)) for row, got in rows if _fold(row) == fold]
        return _score(pairs)

    def _chosen(self, choice: RouteChoice, numbers: Numbers) -> str:
        if choice.reason == "keyword" or not choice.scores:
            return choice.route or NOBODY
        name, score = self._best(choice, numbers.temperature)
        return name if name not in self._nobody and score >= numbers.thresholds[name] else NOBODY

    def _best(self, choice: RouteChoice, temperature: float) -> tuple[str, float]:
        return max(self._scores(choice, temperature).items(), key=lambda item: item[1])

    def _scores(self, choice: RouteChoice, temperature: float) -> dict[str, float]:
        """Return the choice's scores as they would be under another temperature."""
        if not self._tempered or temperature == self._before.temperature:
            return choice.scores
        power = self._before.temperature / temperature
        raised = {name: max(score, 1e-12) ** power for name, score in choice.scores.items()}
        whole = sum(raised.values())
        return {name: score / whole for name, score in raised.items()}

    def _temperature(self, rows: Rows) -> float:
        judged = [(row, got) for row, got in rows if got.reason != "keyword" and got.scores]
        if len(judged) < FEWEST_ROWS:
            return self._before.temperature
        return min((*_TEMPERATURES, self._before.temperature), key=lambda value: self._surprise(judged, value))

    def _surprise(self, rows: Rows, temperature: float) -> float:
        """Return the negative log likelihood of the labels."""
        whole = 0.0
        for row, choice in rows:
            scores = self._scores(choice, temperature)
            right = self._nobody if row.label == NOBODY else {row.label}
            whole -= math.log(max(1e-9, sum(scores.get(name, 0.0) for name in right)))
        return whole

    def _threshold(self, name: str, rows: Rows, temperature: float) -> float:
        now = self._before.thresholds[name]
        scored = [
            (score, row.label)
            for row, choice in rows
            if choice.reason != "keyword" and choice.scores
            for best, score in [self._best(choice, temperature)]
            if best == name
        ]
        if len(scored) < FEWEST_ROWS:
            return now
        return min((now, *_THRESHOLDS), key=lambda value: (self._cost(name, scored, value), abs(value - now)))

    def _cost(self, name: str, scored: Sequence[tuple[float, str]], threshold: float) -> float:
        """Return what the rows cost whose best route this is: a wrong agent, or nobody for this route's text."""
        wrong = sum(label != name for score, label in scored if score >= threshold)
        missed = sum(label == name for score, label in scored if score < threshold)
        return self._wrong_costs * wrong + missed


def _score(pairs: Sequence[tuple[str, str]]) -> Score:
    number = max(1, len(pairs))
    return Score(
        accuracy=sum(label == got for label, got in pairs) / number,
        wrong_agent_share=sum(got not in (label, NOBODY) for label, got in pairs) / number,
    )


def _fold(row: LabelledText) -> int:
    """Return the fold of the row; rows of one family, where the file names one, stay together."""
    return zlib.crc32((row.columns.get("family") or row.text).encode("utf-8", "surrogatepass")) % _FOLDS
