"""How well a router does on labelled texts. Pure: rows in, figures out."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from routing.choice import RouteChoice

NOBODY = "other"
COVERAGES = (1.0, 0.95, 0.9, 0.8)
_BINS = 10


class Chooser(Protocol):
    """What is measured: a router, or a yardstick."""

    async def choose(self, text: str) -> RouteChoice:
        """Return who gets the text."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledText:
    """A text with the route that should take it, `other` where no agent should, and what else the row holds."""

    text: str
    label: str
    lang: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)


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
class GroupFigures:
    """How well a part of the rows did."""

    accuracy: float
    wrong_agent_share: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The figures of one run. `wrong_agent_share` is the share of all rows that a wrong agent (not nobody) gets.

    `confusion[label][chosen]` counts rows; `mistakes` stand surest first; latency is per text, one at a time.
    `coverage` gives (share of rows, surest first; accuracy on them). `asked_share` is the share of rows whose sender
    is asked, `accuracy_unasked` the accuracy on the others. `calibration_error` is the expected one (Guo et al. 2017,
    ten bins) of what similarity decided. `by` has the figures of each value of the column that was asked for.
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
    coverage: tuple[tuple[float, float], ...]
    asked_share: float
    accuracy_unasked: float
    calibration_error: float
    by: dict[str, GroupFigures]

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
            "coverage": [{"share": share, "accuracy": accuracy} for share, accuracy in self.coverage],
            "asked": {"share": self.asked_share, "accuracy_of_the_rest": self.accuracy_unasked},
            "calibration_error": self.calibration_error,
            "by": {
                value: {"accuracy": one.accuracy, "wrong_agent_share": one.wrong_agent_share, "n": one.n}
                for value, one in self.by.items()
            },
            "mistakes": [
                {"text": one.row.text, "label": one.row.label, "chosen": one.chosen, "score": one.choice.score}
                for one in self.mistakes
            ],
        }


async def evaluate(
    router: Chooser,
    rows: Sequence[LabelledText],
    *,
    by: str = "",
    clock: Callable[[], float] = time.perf_counter,
    progress: Callable[[int], None] = lambda _done: None,
) -> Evaluation:
    """Return the figures of the router on the rows; `progress` hears the number of rows done after each.

    `by` names a column of the rows for which each value gets figures of its own.
    """
    chosen: list[tuple[LabelledText, RouteChoice]] = []
    seconds: list[float] = []
    for done, row in enumerate(rows, start=1):
        started = clock()
        choice = await router.choose(row.text)
        seconds.append(clock() - started)
        chosen.append((row, choice))
        progress(done)
    return _figures(chosen, seconds, by)


Chosen = Sequence[tuple[LabelledText, RouteChoice]]


def _figures(chosen: Chosen, seconds: Sequence[float], by: str) -> Evaluation:
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
        coverage=_coverage(chosen),
        asked_share=_share(sum(bool(choice.candidates) for _, choice in chosen), len(chosen)),
        accuracy_unasked=_accuracy([pair for pair in chosen if not pair[1].candidates]),
        calibration_error=_calibration_error(chosen),
        by=_by_column(chosen, by) if by else {},
    )


def _accuracy(chosen: Chosen) -> float:
    return _share(sum(row.label == (choice.route or NOBODY) for row, choice in chosen), len(chosen))


def confidence(choice: RouteChoice) -> float:
    """Return how sure the choice is of itself, 0..1: what it was that was chosen, an agent or nobody."""
    return 1 - choice.score if choice.reason == "below threshold" else choice.score


def _coverage(chosen: Chosen) -> tuple[tuple[float, float], ...]:
    surest = sorted(chosen, key=lambda pair: -confidence(pair[1]))
    return tuple((share, _accuracy(surest[: max(1, round(share * len(surest)))])) for share in COVERAGES)


def _calibration_error(chosen: Chosen) -> float:
    """Return the mean distance between the score of the best route and how often it was the right one."""
    bins: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    judged = [(row, choice) for row, choice in chosen if choice.reason != "keyword" and choice.scores]
    for row, choice in judged:
        best = NOBODY if choice.reason == "other" else max(choice.scores, key=lambda name: choice.scores[name])
        bins[min(_BINS - 1, int(choice.score * _BINS))].append((choice.score, best == row.label))
    gaps = (abs(sum(score for score, _ in rows) - sum(right for _, right in rows)) for rows in bins.values())
    return _share(sum(gaps), len(judged))


def _by_column(chosen: Chosen, column: str) -> dict[str, GroupFigures]:
    groups: defaultdict[str, list[tuple[LabelledText, RouteChoice]]] = defaultdict(list)
    for row, choice in chosen:
        groups[row.columns.get(column, row.lang if column == "lang" else "")].append((row, choice))
    return {
        value: GroupFigures(
            accuracy=_accuracy(rows),
            wrong_agent_share=_share(
                sum((got.route or NOBODY) not in (row.label, NOBODY) for row, got in rows), len(rows)
            ),
            n=len(rows),
        )
        for value, rows in sorted(groups.items(), key=lambda item: -len(item[1]))
    }


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


def _by_language(chosen: Chosen) -> dict[str, tuple[float, int]]:
    rows: Counter[str] = Counter(row.lang for row, _ in chosen)
    right = Counter(row.lang for row, choice in chosen if row.label == (choice.route or NOBODY))
    return {lang: (_share(right[lang], number), number) for lang, number in rows.most_common() if lang}


def _share(part: float, whole: int) -> float:
    return part / whole if whole else 0.0


def _percentile(values: Sequence[float], rank: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(rank * len(ordered)))] if ordered else 0.0
