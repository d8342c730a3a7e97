"""`hermes-bot tools`: what agents can do, how much care each takes, and who may use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, say_json, say_table

if TYPE_CHECKING:  # imported for its name alone, so that --help stays fast
    from hermes_bot.tools.toolbox import Listed

app = typer.Typer(help="Tools.", no_args_is_help=True)


@app.command("list")
def list_tools(as_json: AsJson = False, config: Config = None) -> None:
    """List tools with their level and the agents that may call them."""

    async def listing(parts: Offline) -> Sequence[Listed]:
        return parts.toolbox.listing()

    found = with_offline(config, listing)
    if as_json:
        say_json([asdict(each) for each in found])
        return
    rows = [(each.name, each.level, ", ".join(each.agents), each.description) for each in found]
    say_table(("tool", "level", "agents", "description"), rows, empty="There are no tools.")
