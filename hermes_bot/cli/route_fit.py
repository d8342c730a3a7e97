"""`hermes-bot routes fit`: thresholds and temperature from texts whose right route is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, say_json

if TYPE_CHECKING:  # imported for its name alone, so that --help stays fast
    from routing.fitting import Fitted

Write = Annotated[bool, typer.Option("--write", help="Write what was fitted into the routes file; comments stay.")]
Cost = Annotated[
    float,
    typer.Option("--wrong-costs", min=0.0, help="How bad a wrong agent is, where nobody for an agent's text is 1."),
]


def fit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines with text and label.")],
    write: Write = False,
    wrong_costs: Cost = 1.5,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Fit the temperature and each route's threshold to a labelled file, and show what that would change."""
    from hermes_bot.cli.labelled import read_labelled
    from hermes_bot.cli.progress import progress
    from routing.choice import RouteChoice
    from routing.evaluate import NOBODY, LabelledText
    from routing.fitting import fit_table
    from routing.routes_file import RouteTable, load_table

    read_labelled(file)

    async def work(parts: Offline) -> tuple[Path, RouteTable, list[tuple[LabelledText, RouteChoice]]]:
        router, path = parts.router, parts.routes.file
        labels = [*(route.name for route in router.routes if not route.nobody), NOBODY]
        rows = read_labelled(file, labels=labels)
        chosen = []
        with progress(len(rows), "Routing") as heard:
            for done, row in enumerate(rows, start=1):
                chosen.append((row, await router.choose(row.text)))
                heard(done)
        return path, load_table(path), chosen

    path, table, chosen = with_offline(config, work)
    fitted = fit_table(table, chosen, wrong_costs=wrong_costs)
    written = write and bool(fitted.changes)
    if written:
        _write(path, fitted)
    if as_json:
        say_json({**fitted.as_dict(), "written": written, "file": str(path)})
    else:
        _say(path, fitted, written=written)


def _write(path: Path, fitted: Fitted) -> None:
    from hermes_bot.triage.routes_lock import routes_lock
    from routing.edit import replace_file, with_numbers

    with routes_lock(path):  # the bot may be adding an accepted example at this moment
        replace_file(path, with_numbers(path.read_bytes(), file=str(path), **fitted.changed_numbers()))


def _say(path: Path, fitted: Fitted, *, written: bool) -> None:
    for line in fitted.lines():
        typer.echo(line)
    if not fitted.changes:
        typer.echo("nothing to change")
    else:
        typer.echo(f"written to {path}" if written else f"not written; --write puts them into {path}")
