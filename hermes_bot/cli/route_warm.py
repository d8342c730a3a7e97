"""`hermes-bot routes warm`: encodes the examples and fits the head ahead of the first start."""

from __future__ import annotations

import os

import typer

from hermes_bot.cli.output import AsJson, Config, say_json


def warm(as_json: AsJson = False, config: Config = None) -> None:
    """Encode what the cache does not know, so that the next start is quick. Needs no database."""
    import time

    from hermes_bot import settings
    from hermes_bot.cli.progress import steps

    loaded = settings.load(config, os.environ)
    started = time.perf_counter()
    from hermes_bot.app.build import build_router
    from routing.routes_file import load_table

    table = load_table(loaded.routing.file)
    with steps("Reading examples") as heard:
        build_router(loaded, table, progress=heard).close()
    seconds = time.perf_counter() - started
    examples = sum(1 for route in table.routes if route.enabled for _ in route.examples())
    if as_json:
        say_json({"examples": examples, "seconds": round(seconds, 3), "encoder": loaded.encoder.profile})
    else:
        typer.echo(f"{examples} examples are ready for the encoder {loaded.encoder.profile} ({seconds:.1f} s)")
