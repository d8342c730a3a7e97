"""`hermes-bot tickets`: what customers wrote about, and who has it now."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from hermes_bot.cli.offline import with_offline
from hermes_bot.cli.output import AsJson, Config, Limit, say_json, say_table

app = typer.Typer(help="Tickets.", no_args_is_help=True)

_COLUMNS = ("ticket", "status", "owner", "agent", "requester", "updated", "subject")


@app.command("list")
def list_tickets(
    status: Annotated[str, typer.Option("--status", help="Only tickets in this status, such as with_human.")] = "",
    limit: Limit = 50,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """List tickets, newest first."""
    found = with_offline(config, lambda parts: parts.tickets.listing(limit=limit))
    chosen = [ticket for ticket in found if status in {"", ticket.status.value}]
    if as_json:
        say_json([asdict(ticket) for ticket in chosen])
        return
    rows = [(t.id, t.status, t.owner, t.agent, t.requester, t.updated_at, t.subject) for t in chosen]
    say_table(_COLUMNS, rows, empty="There are no tickets.")
