"""`hermes-bot routes`: why a text goes where it goes, and how often that is right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, say_json

if TYPE_CHECKING:  # imported for its name alone, so that --help stays fast
    from routing.choice import RouteChoice

app = typer.Typer(help="Routing.", no_args_is_help=True)


@app.command()
def explain(
    text: Annotated[str, typer.Argument(help="What a customer might write.")],
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Tell which route takes a text, and why."""
    choice = with_offline(config, lambda parts: parts.router.explain(text))
    if as_json:
        import msgspec

        say_json(msgspec.to_builtins(choice))
    else:
        _say_choice(choice)


@app.command("eval")
def evaluate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines with text and label.")],
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Route every text of a labelled file and tell how often the label was met (order, refund, handoff, other)."""
    from hermes_bot.cli.evaluation import evaluated, read_labelled

    rows = read_labelled(file)

    async def work(parts: Offline) -> dict[str, Any]:
        return await evaluated(parts.router.choose, rows)

    result = with_offline(config, work)
    if as_json:
        say_json(result)
    else:
        _say_result(result)


def _say_choice(choice: RouteChoice) -> None:
    why = f"{choice.reason} {choice.matched!r}" if choice.matched else choice.reason
    typer.echo(f"{choice.route or 'nobody'} ({choice.type})  score {choice.score:.2f}  by {why}")
    if choice.threshold:
        typer.echo(f"threshold {choice.threshold:.2f}")
    for name, score in sorted(choice.scores.items(), key=lambda each: -each[1]):
        typer.echo(f"  {score:.3f}  {name}")
    if choice.neighbours:
        typer.echo("nearest utterances")
    for near in choice.neighbours:
        typer.echo(f"  {near.cosine:.3f}  {near.route}: {near.utterance}")


def _say_result(result: dict[str, Any]) -> None:
    latency = result["latency_ms"]
    typer.echo(f"accuracy {result['accuracy']:.4f} of {result['n']} texts")
    typer.echo(f"latency  p50 {latency['p50']:.2f} ms, p99 {latency['p99']:.2f} ms")
    typer.echo(f"{'label':<10}{'n':>6}{'precision':>11}{'recall':>9}{'f1':>8}")
    for label, figures in result["per_class"].items():
        row = f"{label:<10}{figures['n']:>6}{figures['precision']:>11.3f}{figures['recall']:>9.3f}{figures['f1']:>8.3f}"
        typer.echo(row)
    typer.echo("confusion (row: label, column: chosen)")
    labels = list(result["confusion"])
    typer.echo(" " * 10 + "".join(f"{label:>10}" for label in labels))
    for label in labels:
        typer.echo(f"{label:<10}" + "".join(f"{result['confusion'][label][chosen]:>10}" for chosen in labels))
