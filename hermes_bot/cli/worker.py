"""`hermes-bot worker`: runs some of the agents, beside a bot that shares its redis with it."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from hermes_bot import settings
from hermes_bot.cli.output import AsJson, Config
from hermes_bot.cli.run import Debug, named, run_bot

Wanted = Annotated[str, typer.Option("--agents", help="The agents to run, by name, with commas: order,refund")]


def worker(agents: Wanted, debug: Debug = False, config: Config = None, as_json: AsJson = False) -> None:
    """Run some of the agents in a process of their own; needs bus.backend redis."""
    run_bot(settings.load(config, os.environ), named(agents), debug=debug, as_json=as_json)
