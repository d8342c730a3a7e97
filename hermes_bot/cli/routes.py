"""`hermes-bot routes`: why a text goes where it goes, and how often that is right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli import route_check, route_diff, route_suggest
from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, say_json

if TYPE_CHECKING:  # imported for its name alone, so that --help stays fast
    from routing.evaluate import Evaluation

app = typer.Typer(help="Routing.", no_args_is_help=True)
app.command("check")(route_check.check)
app.command("diff")(route_diff.diff)
app.command("log")(route_suggest.log)
app.add_typer(route_suggest.app, name="suggest")


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
        from routing.explanation import explain_text

        typer.echo(explain_text(choice))


@app.command("eval")
def evaluate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines with text and label.")],
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Route every text of a labelled file and tell how often the label was met; `other` = no agent should take it."""
    from hermes_bot.cli.labelled import read_labelled

    read_labelled(file)  # what is wrong with the file is told before the encoder is loaded, which takes a while

    async def work(parts: Offline) -> Evaluation:
        from routing.evaluate import NOBODY
        from routing.evaluate import evaluate as measure

        labels = [*(route.name for route in parts.router.routes if not route.nobody), NOBODY]
        return await measure(parts.router, read_labelled(file, labels=labels))

    result = with_offline(config, work)
    if as_json:
        say_json(result.as_dict())
    else:
        _say_result(result)


def _say_result(result: Evaluation) -> None:
    typer.echo(f"accuracy  {result.accuracy:.4f} of {result.n} texts")
    typer.echo(f"to a wrong agent  {result.wrong_agent_share:.4f}")
    typer.echo(f"latency  p50 {result.latency_p50_ms:.2f} ms, p99 {result.latency_p99_ms:.2f} ms")
    typer.echo(f"\n{'label':<10}{'n':>6}{'precision':>11}{'recall':>9}{'f1':>8}")
    for label, one in result.per_class.items():
        typer.echo(f"{label:<10}{one.support:>6}{one.precision:>11.3f}{one.recall:>9.3f}{one.f1:>8.3f}")
    labels = list(result.confusion)
    typer.echo("\nrow: label, column: chosen\n" + " " * 10 + "".join(f"{label:>10}" for label in labels))
    for label in labels:
        typer.echo(f"{label:<10}" + "".join(f"{result.confusion[label][chosen]:>10}" for chosen in labels))
