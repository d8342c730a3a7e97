"""`hermes-bot replay`: handle a message once more, apart from everything, and compare."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, say_json
from hermes_bot.cli.words import plural

if TYPE_CHECKING:  # imported for their names alone, so that --help stays fast
    from hermes_bot.app.differences import Hop
    from hermes_bot.app.replay import Replayed

Id = Annotated[str, typer.Argument(metavar="ID", help="The message's id, MSG-…; one within a chain will do.")]
Chain = Annotated[bool, typer.Option("--chain", help="Show and compare all that follows from it, not it alone.")]


def replay(message: Id, chain: Chain = False, as_json: AsJson = False, config: Config = None) -> None:
    """Handle a message again on a bus of its own: nothing is posted, tools only read; print hops and differences."""

    async def work(parts: Offline) -> Replayed:
        return await parts.replay(message, chain=chain)

    done = with_offline(config, work)
    if as_json:
        hops = [asdict(hop) for hop in done.hops]
        say_json({"message_id": message, "replay": True, "hops": hops, "differences": list(done.differences)})
        return
    typer.echo("Replay: nothing is posted, and nothing that this bot keeps is changed.")
    for hop in done.hops:
        typer.echo(_line(hop))
    if not done.differences:
        typer.echo("The same as the first time.")
        return
    typer.echo(f"{plural(len(done.differences), 'difference')} to the original:")
    for each in done.differences:
        typer.echo(f"  {each}")


def _line(hop: Hop) -> str:
    end = ", ".join(hop.outputs) or "(terminal)"
    if hop.state != "done":
        end = f"({hop.state}: {hop.error})" if hop.error else f"({hop.state})"
    return f"{hop.message_id} {hop.type} → {hop.agent} → {end}"
