"""Measures routing on labelled texts."""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_bot.errors import SettingsError
from routing.choice import RouteChoice

OTHER = "other"
LABELS = ("order", "refund", "handoff", OTHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A text and the label that it should get; `other` = no agent should take it."""

    text: str
    label: str


def read_labelled(file: Path) -> Sequence[Labelled]:
    """Return the file's rows; raise SettingsError with file and line for one that is none."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(f"cannot be read: {reason}", file=str(file)) from error
    rows = [_row(line, file, number) for number, line in enumerate(lines, start=1) if line.strip()]
    if not rows:
        raise SettingsError("holds no rows; each line is an object with text and label", file=str(file))
    return rows


async def evaluated(
    choose: Callable[[str], Awaitable[RouteChoice]],
    rows: Sequence[Labelled],
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Any]:
    """Return accuracy, n, per_class, confusion and latency_ms; texts are routed one after the other."""
    pairs: Counter[tuple[str, str]] = Counter()
    took_ms = []
    for row in rows:
        started = clock()
        choice = await choose(row.text)
        took_ms.append((clock() - started) * 1000)
        pairs[row.label, choice.route if choice.route in LABELS else OTHER] += 1
    right = sum(count for (label, chosen), count in pairs.items() if label == chosen)
    return {
        "accuracy": right / len(rows),
        "n": len(rows),
        "per_class": {label: _figures(label, pairs) for label in LABELS},
        "confusion": {label: {chosen: pairs[label, chosen] for chosen in LABELS} for label in LABELS},
        "latency_ms": {"p50": _percentile(took_ms, 50), "p99": _percentile(took_ms, 99)},
    }


def _row(line: str, file: Path, number: int) -> Labelled:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise SettingsError(f"is not JSON: {error}", file=str(file), line=number) from error
    text, label = (row.get("text"), row.get("label")) if isinstance(row, dict) else (None, None)
    if not isinstance(text, str) or label not in LABELS:
        message = f"must hold text and a label out of {', '.join(LABELS)}"
        raise SettingsError(message, file=str(file), line=number)
    return Labelled(text=text, label=label)


def _figures(label: str, pairs: Counter[tuple[str, str]]) -> dict[str, float]:
    hit = pairs[label, label]
    labelled = sum(count for (each, _), count in pairs.items() if each == label)
    chosen = sum(count for (_, each), count in pairs.items() if each == label)
    precision = hit / chosen if chosen else 0.0
    recall = hit / labelled if labelled else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hit else 0.0
    return {"n": labelled, "precision": precision, "recall": recall, "f1": f1}


def _percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1] if len(values) > 1 else values[0]
