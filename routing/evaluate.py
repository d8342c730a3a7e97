"""How well a router does on labelled texts. Pure: rows in, figures out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from routing.choice import RouteChoice

NOBODY = "other"


class Chooser(Protocol):
    """What is measured: a router, or a yardstick."""

    async def choose(self, text: str) -> RouteChoice:
        """Return who gets the text."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledText:
    """A text with the route that should take it; `other` means that no agent should."""

    text: str
    label: str
    lang: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A text that went elsewhere than its label says."""

    row: LabelledText
    chosen: str
    choice: RouteChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassFigures:
    """How well one label is told from the rest; each 0..1, and `support` rows."""

    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The figures of one run. `wrong_agent_share` is the share of all rows that a wrong agent (not nobody) gets.

    `confusion[label][chosen]` counts rows; `mistakes` stand surest first; latency is per text, one at a time.
    """

    n: int
    accuracy: float
    wrong_agent_share: float
    other_recall: float
    per_class: dict[str, ClassFigures]
    confusion: dict[str, dict[str, int]]
    by_language: dict[str, tuple[float, int]]  # accuracy, rows
    latency_p50_ms: float
    latency_p99_ms: float
    mistakes: tuple[Mistake, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as JSON-able data, the texts of mistakes included."""
        return {
            "n": self.n,
            "accuracy": self.accuracy,
            "wrong_agent_share": self.wrong_agent_share,
            "other_recall": self.other_recall,
            "per_class": {
                label: {"precision": one.precision, "recall": one.recall, "f1": one.f1, "support": one.support}
                for label, one in self.per_class.items()
            },
            "confusion": self.confusion,
            "by_language": {lang: {"accuracy": share, "n": rows} for lang, (share, rows) in self.by_language.items()},
            "latency_ms": {"p50": self.latency_p50_ms, "p99": self.latency_p99_ms},
            "mistakes": [
                {"text": one.row.text, "label": one.row.label, "chosen": one.chosen, "score": one.choice.score}
                for one in self.mistakes
            ],
        }


async def evaluate(
    router: Chooser,
    rows: Sequence[LabelledText],
    *,
    clock: Callable[[], float] = time.perf_counter,
    progress: Callable[[int], None] = lambda _done: None,
) -> Evaluation:
    """Return the figures of the router on the rows; `progress` hears the number of rows done after each."""
    chosen: list[tuple[LabelledText, RouteChoice]] = []
    seconds: list[float] = []
    for done, row in enumerate(rows, start=1):
        started = clock()
        choice = await router.choose(row.text)
        seconds.append(clock() - started)
        chosen.append((row, choice))
        progress(done)
    return _figures(chosen, seconds)


def _figures(chosen: Sequence[tuple[LabelledText, RouteChoice]], seconds: Sequence[float]) -> Evaluation:
    pairs = [(row.label, choice.route or NOBODY) for row, choice in chosen]
    counts = Counter(pairs)
    labels = sorted({label for pair in pairs for label in pair})
    others = [got for label, got in pairs if label == NOBODY]
    mistakes = [
        Mistake(row=row, chosen=choice.route or NOBODY, choice=choice)
        for row, choice in chosen
        if row.label != (choice.route or NOBODY)
    ]
    return Evaluation(
        n=len(pairs),
        accuracy=_share(sum(label == got for label, got in pairs), len(pairs)),
        wrong_agent_share=_share(sum(got not in (label, NOBODY) for label, got in pairs), len(pairs)),
        other_recall=_share(others.count(NOBODY), len(others)),
        per_class={label: _class_figures(label, counts) for label in labels},
        confusion={label: {got: counts[label, got] for got in labels} for label in labels},
        by_language=_by_language(chosen),
        latency_p50_ms=_percentile(seconds, 0.50) * 1000,
        latency_p99_ms=_percentile(seconds, 0.99) * 1000,
        mistakes=tuple(sorted(mistakes, key=lambda one: -one.choice.score)),
    )


def _class_figures(label: str, counts: Counter[tuple[str, str]]) -> ClassFigures:
    right = counts[label, label]
    support = sum(number for (wanted, _), number in counts.items() if wanted == label)
    taken = sum(number for (_, got), number in counts.items() if got == label)
    return ClassFigures(
        precision=_share(right, taken),
        recall=_share(right, support),
        f1=_share(2 * right, taken + support),
        support=support,
    )


def _by_language(chosen: Sequence[tuple[LabelledText, RouteChoice]]) -> dict[str, tuple[float, int]]:
    rows: Counter[str] = Counter(row.lang for row, _ in chosen)
    right = Counter(row.lang for row, choice in chosen if row.label == (choice.route or NOBODY))
    return {lang: (_share(right[lang], number), number) for lang, number in rows.most_common() if lang}


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _percentile(values: Sequence[float], rank: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(rank * len(ordered)))] if ordered else 0.0
