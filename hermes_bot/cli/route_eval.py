"""`hermes-bot routes eval`: how often a labelled file's texts go where they should."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, say_json

if TYPE_CHECKING:  # imported for its name alone, so that --help stays fast
    from routing.evaluate import Evaluation

By = Annotated[str, typer.Option("--by", metavar="COLUMN", help="Figures for each value of this column of the file.")]
Worst = Annotated[int, typer.Option("--worst", min=0, help="How many mistakes to show, the surest first.")]


def evaluate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines with text and label.")],
    by: By = "",
    worst: Worst = 10,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Route every text of a labelled file and tell how often the label was met; `other` = no agent should take it."""
    from hermes_bot.cli.labelled import read_labelled
    from hermes_bot.cli.progress import progress

    read_labelled(file)  # what is wrong with the file is told before the encoder is loaded, which takes a while

    async def work(parts: Offline) -> Evaluation:
        from routing.evaluate import NOBODY
        from routing.evaluate import evaluate as measure

        labels = [*(route.name for route in parts.router.routes if not route.nobody), NOBODY]
        rows = read_labelled(file, labels=labels)
        with progress(len(rows), "Routing") as heard:
            return await measure(parts.router, rows, by=by, progress=heard)

    result = with_offline(config, work)
    if as_json:
        say_json(result.as_dict())
        return
    typer.echo("\n".join([*_summary(result), *_classes(result), *_groups(result, by), *_mistakes(result, worst)]))


def _summary(result: Evaluation) -> list[str]:
    surest = ", ".join(f"{accuracy:.3f} on the surest {share:.0%}" for share, accuracy in result.coverage[1:])
    return [
        f"accuracy  {result.accuracy:.4f} of {result.n} texts; {surest}",
        f"asked  {result.asked_share:.1%} of the senders; accuracy on the others {result.accuracy_unasked:.4f}",
        f"to a wrong agent  {result.wrong_agent_share:.4f}",
        f"nobody's texts found  {result.other_recall:.4f}",
        f"calibration error  {result.calibration_error:.3f}",
        f"latency  p50 {result.latency_p50_ms:.2f} ms, p99 {result.latency_p99_ms:.2f} ms",
    ]


def _classes(result: Evaluation) -> list[str]:
    labels = list(result.confusion)
    lines = ["", f"{'label':<10}{'n':>6}{'precision':>11}{'recall':>9}{'f1':>8}"]
    for label, one in result.per_class.items():
        lines.append(f"{label:<10}{one.support:>6}{one.precision:>11.3f}{one.recall:>9.3f}{one.f1:>8.3f}")
    lines += ["", "row: label, column: chosen", " " * 10 + "".join(f"{label:>10}" for label in labels)]
    for label in labels:
        lines.append(f"{label:<10}" + "".join(f"{result.confusion[label][chosen]:>10}" for chosen in labels))
    return lines


def _groups(result: Evaluation, by: str) -> list[str]:
    if by:
        rows = [(value, one.n, one.accuracy) for value, one in result.by.items()]
    else:
        by, rows = "language", [(lang, n, accuracy) for lang, (accuracy, n) in result.by_language.items()]
    width = max([len(by), *(len(value) for value, _, _ in rows)]) + 2
    lines = [f"{value or '(none)':<{width}}{n:>6}{accuracy:>10.3f}" for value, n, accuracy in rows]
    return ["", f"{by:<{width}}{'n':>6}{'accuracy':>10}", *lines] if lines else []


def _mistakes(result: Evaluation, worst: int) -> list[str]:
    shown = result.mistakes[:worst]
    lines = [
        f"{one.choice.score:.2f}  {one.row.label} → {one.chosen} ({one.choice.reason}): {_short(one.row.text)}"
        for one in shown
    ]
    return ["", f"worst of {len(result.mistakes)} mistakes", *lines] if lines else []


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 100 else f"{plain[:99]}…"
