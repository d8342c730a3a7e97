"""The program's entry: its commands, and how an error ends it (exit code 0, 1 found a problem, 2 wrong use)."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import hermes_bot
from hermes_bot.cli import (
    approvals,
    audit,
    bench,
    dead,
    doctor,
    manifest,
    memory,
    messages,
    pause,
    replay,
    routes,
    run,
    tickets,
    tools,
    trace,
    worker,
    workspace,
)
from hermes_bot.cli.failure import report
from hermes_bot.cli.output import AsJson, say_json
from hermes_bot.errors import HermesError

app = typer.Typer(
    name="hermes-bot",
    help="Hermes: a self-hosted triage desk that lives in Slack.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.run)
app.command("worker")(worker.worker)
app.command("workspace")(workspace.workspace)
app.add_typer(routes.app, name="routes")
app.add_typer(tickets.app, name="tickets")
app.add_typer(approvals.app, name="approvals")
app.add_typer(audit.app, name="audit")
app.add_typer(messages.app, name="messages")
app.command("trace")(trace.trace)
app.add_typer(dead.app, name="dead")
app.command("replay")(replay.replay)
app.command("doctor")(doctor.doctor)
app.command("manifest")(manifest.manifest)
app.command("pause")(pause.pause)
app.command("resume")(pause.resume)
app.add_typer(tools.app, name="tools")
app.add_typer(memory.app, name="memory")
app.add_typer(bench.app, name="bench")


@app.command()
def version(as_json: AsJson = False) -> None:
    """Print the version."""
    if as_json:
        say_json({"version": hermes_bot.__version__})
    else:
        typer.echo(f"hermes-bot {hermes_bot.__version__}")


@app.callback()
def _options() -> None:
    """Hermes: a self-hosted triage desk that lives in Slack."""


def main(arguments: Annotated[list[str] | None, "for tests; None reads the process's own"] = None) -> None:
    """Run the program and end the process with its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        app(given, prog_name="hermes-bot")
    except HermesError as error:
        sys.exit(report(error, sys.stderr))
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # noqa: BLE001  # the edge to a person: a reference for them, the cause for the log
        sys.exit(report(error, sys.stderr, debug="--debug" in given))
