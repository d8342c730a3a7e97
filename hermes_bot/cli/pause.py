"""`hermes-bot pause` and `resume`: nothing is executed or posted, everything is kept."""

from __future__ import annotations

from datetime import datetime

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, say_json


def pause(as_json: AsJson = False, config: Config = None) -> None:
    """Stop executing and posting; messages are still taken in and kept. A running bot obeys within a second."""
    _set(paused=True, as_json=as_json, config=config)


def resume(as_json: AsJson = False, config: Config = None) -> None:
    """End a pause."""
    _set(paused=False, as_json=as_json, config=config)


def _set(*, paused: bool, as_json: bool, config: Config) -> None:
    async def work(parts: Offline) -> datetime | None:
        before = await parts.bus.paused_since()
        await parts.bus.pause(paused=paused)
        return before

    before = with_offline(config, work)
    changed = paused != (before is not None)
    if as_json:
        say_json({"paused": paused, "changed": changed})
    elif not changed:
        since = f" since {before.astimezone():%Y-%m-%d %H:%M:%S}" if before else ""
        typer.echo(f"The bus is paused{since}." if paused else "The bus is not paused.")
    else:
        typer.echo(
            "Paused: nothing is executed or posted, everything is kept. hermes-bot resume ends it."
            if paused
            else "Resumed: what was kept is handled now."
        )
