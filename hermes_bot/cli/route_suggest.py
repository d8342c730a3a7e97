"""`hermes-bot routes suggest` and `routes log`: corrections of routing, what became of them, who changed the file.

Whoever may run this on the machine may write the routes file anyway; in Slack only admins may accept.
"""

from __future__ import annotations

import dataclasses
import os
import pwd
import uuid
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, Limit, say_json, say_table
from hermes_bot.errors import PermanentError

if TYPE_CHECKING:  # imported for its name alone, so that --help stays fast
    from hermes_bot.triage.corrections import Settled
    from hermes_bot.triage.proposal import Proposal

app = typer.Typer(help="Corrections of routing: suggest, list, accept, decline.", invoke_without_command=True)

Id = Annotated[str, typer.Argument(metavar="ID", help="A suggestion, such as P-7.")]
By = Annotated[str, typer.Option("--by", help="Whose decision it is; default: your login.")]
Every = Annotated[bool, typer.Option("--all", help="Also what is accepted or declined.")]


@app.callback()
def suggest(
    context: typer.Context,
    ticket: Annotated[str, typer.Option("--ticket", help="The ticket that went to the wrong team, such as T-12.")] = "",
    route: Annotated[str, typer.Option("--route", help="The route that it should have taken.")] = "",
    text: Annotated[str, typer.Option("--text", help="The example in your words; default: the customer's.")] = "",
    by: By = "",
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Suggest a ticket's first words, without personal data, as an example for a route."""
    if context.invoked_subcommand is not None:
        return
    if not ticket or not route:
        raise typer.BadParameter("give --ticket and --route, or one of: list, accept, decline")

    async def work(parts: Offline) -> Proposal:
        key = f"cli:{uuid.uuid4()}"
        return await parts.routes.corrections.suggest(
            key=key, ticket_id=ticket, route=route, by=by or _login(), text=text
        )

    _say(with_offline(config, work), as_json=as_json)


@app.command("list")
def listing(every: Every = False, limit: Limit = 50, as_json: AsJson = False, config: Config = None) -> None:
    """List suggestions that wait for a decision, newest first."""
    from hermes_bot.triage.proposal import ProposalStatus

    status = None if every else ProposalStatus.PENDING
    found = with_offline(config, lambda parts: parts.routes.proposals.listing(status=status, limit=limit))
    if as_json:
        say_json([_plain(each) for each in found])
        return
    rows = [
        (each.id, each.status, each.ticket_id, each.route_was, each.route, each.utterance, each.suggested_by,
         each.suggested_at, each.settled_by)
        for each in found
    ]  # fmt: skip
    columns = ["id", "status", "ticket", "was", "route", "utterance", "suggested by", "at", "settled by"]
    say_table(columns, rows, empty="No suggestions.")


@app.command()
def show(proposal_id: Id, as_json: AsJson = False, config: Config = None) -> None:
    """Show a suggestion: the lines that it adds, and what would be routed differently."""
    _say(with_offline(config, lambda parts: parts.routes.corrections.get(proposal_id)), as_json=as_json)


@app.command()
def accept(
    proposal_id: Id,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    by: By = "",
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Write a suggestion into the routes file, after showing what that changes."""
    if not yes:
        _say(with_offline(config, lambda parts: parts.routes.corrections.get(proposal_id)), as_json=False)
        typer.confirm("Write this into the routes file?", abort=True)
    _settled(with_offline(config, lambda parts: _decide(parts, proposal_id, by, accepts=True)), as_json=as_json)


@app.command()
def decline(proposal_id: Id, by: By = "", as_json: AsJson = False, config: Config = None) -> None:
    """Settle a suggestion without effect."""
    _settled(with_offline(config, lambda parts: _decide(parts, proposal_id, by, accepts=False)), as_json=as_json)


def log(limit: Limit = 50, as_json: AsJson = False, config: Config = None) -> None:
    """List the changes of the routes file, newest first: when, by whom, which lines."""
    found = with_offline(config, lambda parts: parts.routes.proposals.changes(limit=limit))
    if as_json:
        say_json([dataclasses.asdict(each) for each in found])
        return
    rows = [(each.at, each.by or "by hand", each.proposal, _changed(each.lines), each.digest[:12]) for each in found]
    say_table(["at", "by", "suggestion", "lines", "digest"], rows, empty="No changes recorded.")


async def _decide(parts: Offline, proposal_id: str, by: str, *, accepts: bool) -> Settled:
    decide = parts.routes.corrections.accept if accepts else parts.routes.corrections.decline
    return await decide(proposal_id, by=by or _login(), key=f"cli:{uuid.uuid4()}")


def _settled(settled: Settled, *, as_json: bool) -> None:
    if not settled.won:
        raise PermanentError(settled.why)
    if as_json:
        say_json(_plain(settled.proposal))
    else:
        typer.echo(f"{settled.proposal.id} is {settled.proposal.status}.")


def _say(proposal: Proposal, *, as_json: bool) -> None:
    if as_json:
        say_json(_plain(proposal))
        return
    typer.echo(f"{proposal.id} ({proposal.status}): {proposal.utterance!r} as an example of {proposal.route}")
    typer.echo(f"{proposal.ticket_id} went to {proposal.route_was or 'nobody'}; suggested by {proposal.suggested_by}")
    typer.echo(f"\n{proposal.lines}\n\n{proposal.effect}")


def _plain(proposal: Proposal) -> dict[str, object]:
    return dataclasses.asdict(proposal)


def _changed(lines: str) -> str:
    """Return the lines of a diff that came (+) and went (-), in one line."""
    changed = [line for line in lines.splitlines() if line[:1] in {"+", "-"} and line[:3] not in {"+++", "---"}]
    return "; ".join(f"{line[0]} {line[1:].strip()}" for line in changed)


def _login() -> str:
    """Return who runs this, as the machine knows them."""
    try:
        return f"cli:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:
        return f"cli:{os.getuid()}"
