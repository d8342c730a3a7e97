"""`hermes-bot audit`: who decided what, when, about which arguments; and whether that record is whole."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from hermes_bot.cli.offline import with_offline
from hermes_bot.cli.output import AsJson, Config, say_json, say_table

app = typer.Typer(help="The record of approvals: verify that nothing was changed, export it.", no_args_is_help=True)

_COLUMNS = ("row", "when", "what", "approval", "ticket", "who", "facts", "words")


@app.command("verify")
def verify(as_json: AsJson = False, config: Config = None) -> None:
    """Check the chain: exit code 1, with the place, where a row was changed, left out or put in."""
    found = with_offline(config, lambda parts: parts.audit.verify())
    if as_json:
        say_json(asdict(found) | {"whole": found.whole})
    elif found.whole:
        erased = f", {found.erased} erased words" if found.erased else ""
        typer.echo(f"The audit is whole: {found.rows} rows{erased}.")
    else:
        typer.echo(f"The audit is broken: {found.problem}.")
    if not found.whole:
        raise typer.Exit(1)


@app.command("export")
def export(
    ticket: Annotated[str, typer.Option("--ticket", help="Only what belongs to this ticket.")] = "",
    approval: Annotated[str, typer.Option("--approval", help="Only what belongs to this approval.")] = "",
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Print the audit, oldest first."""
    rows = with_offline(config, lambda parts: parts.audit.export(ticket_id=ticket, subject=approval))
    if as_json:
        say_json([asdict(row) for row in rows])
        return
    lines = [
        (row.number, row.at, row.action, row.subject, row.ticket_id, row.actor, _short(row.facts), _short(row.texts))
        for row in rows
    ]
    say_table(_COLUMNS, lines, empty="The audit is empty.")


def _short(values: object) -> str:
    return json.dumps(values, ensure_ascii=False)
