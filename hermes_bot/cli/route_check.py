"""`hermes-bot routes check`: what is probably a mistake in the routes file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, say_json, say_table

if TYPE_CHECKING:  # imported for its name alone, so that --help stays fast
    from routing.check import Finding

File = Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A routes file; default: the one in use.")]


def check(file: File = None, as_json: AsJson = False, config: Config = None) -> None:
    """Find unreachable rules, colliding keywords, twins and missing examples; exit code 1 when there are any."""
    found = with_offline(config, lambda parts: _findings(parts, file))
    if as_json:
        import dataclasses

        say_json([dataclasses.asdict(each) for each in found])
    else:
        rows = [(each.kind, each.route, each.place, each.message) for each in found]
        say_table(["kind", "route", "place", "what"], rows, empty="Nothing found.")
    if found:
        raise typer.Exit(1)


async def _findings(parts: Offline, file: Path | None) -> list[Finding]:
    from routing.check import check_examples, check_rules, examples_of

    bench = parts.routes
    routes = bench.table(file).routes
    examples = examples_of(routes)
    found = check_rules(routes, bench.agents, bench.capabilities)
    if not examples:
        return found
    vectors = await asyncio.to_thread(bench.vectors, [sentence for _, sentence in examples])
    return [*found, *check_examples(examples, vectors)]
