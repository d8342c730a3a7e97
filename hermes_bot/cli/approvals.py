"""`hermes-bot approvals`: what waits for a person's yes, and what became of the rest."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from hermes_bot.cli.offline import with_offline
from hermes_bot.cli.output import AsJson, Config, Limit, say_json, say_table

app = typer.Typer(help="Requests to run a privileged tool: what waits, what was decided.", no_args_is_help=True)

_COLUMNS = ("approval", "status", "yes", "tool", "title", "ticket", "expires", "settled by")


@app.command("list")
def list_approvals(
    waiting: Annotated[bool, typer.Option("--waiting", help="Only those that wait for a decision.")] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """List approvals, newest first."""
    from hermes_bot.approvals.request import ApprovalStatus

    status = ApprovalStatus.PENDING if waiting else None
    found = with_offline(config, lambda parts: parts.approvals.listing(status=status, limit=limit))
    if as_json:
        say_json([asdict(request) for request in found])
        return
    rows = [
        (r.id, r.status, f"{len(r.votes)}/{r.needed}", r.tool, r.title, r.ticket_id, r.expires_at, r.settled_by)
        for r in found
    ]
    say_table(_COLUMNS, rows, empty="There are no approvals.")
