"""`hermes-bot doctor`: what is wrong, and what to do about it."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from hermes_bot import settings
from hermes_bot.cli.failure import PROBLEM
from hermes_bot.cli.output import AsJson, Config, say_json, say_table
from hermes_bot.errors import SettingsError

if TYPE_CHECKING:  # imported for their names alone, so that --help stays fast
    from collections.abc import Sequence

    from hermes_bot.app.finding import Finding

_COLUMNS = ("check", "level", "found", "remedy")


def doctor(as_json: AsJson = False, config: Config = None) -> None:
    """Look at everything that Hermes needs, change nothing; exit code 1 when something is wrong."""
    found = _findings(config)
    bad = any(finding.level == "problem" for finding in found)
    if as_json:
        say_json({"ok": not bad, "findings": [asdict(finding) for finding in found]})
    else:
        rows = [(each.check, each.level, each.text, each.remedy) for each in found]
        say_table(_COLUMNS, rows, empty="")
    if bad:
        raise typer.Exit(PROBLEM)


def _findings(config: Config) -> Sequence[Finding]:
    from hermes_bot.app.doctor import examine
    from hermes_bot.app.finding import Finding, Level
    from hermes_bot.messages.message import utc_now

    try:
        loaded = settings.load(config, os.environ)
    except SettingsError as error:
        remedy = "docs/configuration.md tells every key"
        lines = str(error).splitlines()
        return [Finding(check="settings", level=Level.PROBLEM, text=line, remedy=remedy) for line in lines]
    first = Finding(check="settings", level=Level.OK, text=loaded.source)
    return [first, *asyncio.run(examine(loaded, utc_now))]
