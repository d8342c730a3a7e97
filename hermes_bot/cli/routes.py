"""`hermes-bot routes`: why a text goes where it goes; what else there is about routes stands in files of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from hermes_bot.cli import route_check, route_diff, route_eval, route_fit, route_suggest, route_warm
from hermes_bot.cli.offline import with_offline
from hermes_bot.cli.output import AsJson, Config, say_json

app = typer.Typer(
    help="The routes file: check, explain a choice, evaluate, compare, fit thresholds.", no_args_is_help=True
)
app.command("check")(route_check.check)
app.command("diff")(route_diff.diff)
app.command("eval")(route_eval.evaluate)
app.command("fit")(route_fit.fit)
app.command("warm")(route_warm.warm)
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
