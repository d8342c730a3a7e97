"""`hermes-bot memory`: what is known of a person, everything that is kept of them, and how to forget it all."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, say_json, say_table

if TYPE_CHECKING:  # heavy; a command that only prints help must not wait for them
    from hermes_bot.app.forgetting import Forgotten
    from hermes_bot.memory.fact import Fact
    from hermes_bot.memory.owner import PersonOwner

app = typer.Typer(help="What is known of people: show it, export it, forget it.", no_args_is_help=True)

Person = Annotated[
    str, typer.Argument(metavar="PERSON", help="A Slack user id (U012AB3CD), or with the team's: T012AB3CD:U012AB3CD.")
]
History = Annotated[bool, typer.Option("--history", help="Also what no longer holds.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]

_COLUMNS = ("fact", "kind", "text", "source", "times", "since")


@app.command("show")
def show(person: Person, history: History = False, as_json: AsJson = False, config: Config = None) -> None:
    """Show the facts that are known of a person, newest first."""

    async def work(parts: Offline) -> Sequence[Fact]:
        found = await _known(parts, person)
        return await parts.memory.facts(found, history=history) if found else []

    facts = with_offline(config, work)
    if as_json:
        say_json([asdict(fact) for fact in facts])
        return
    rows = [(each.id, _kind(each), each.text, each.source, each.times, each.at) for each in facts]
    say_table(_COLUMNS, rows, empty=f"Nothing is known of {person}.")


@app.command("export")
def export(person: Person, as_json: AsJson = False, config: Config = None) -> None:
    """Print all that is kept of a person as JSON: facts with their history, tickets, messages."""

    async def work(parts: Offline) -> Mapping[str, Any] | None:
        found = await _known(parts, person)
        return await parts.memory.export(found) if found else None

    kept = with_offline(config, work)
    if kept is None:
        _nothing(person, as_json=as_json)
    say_json(kept)


@app.command("forget")
def forget(person: Person, yes: Yes = False, as_json: AsJson = False, config: Config = None) -> None:
    """Delete all that is known of a person and take their words out of everything that is kept; there is no way back.

    Works while the bot runs. Exit code 1 when nothing was known, or a running bot did not let go of everything.
    """
    if not yes and not as_json and sys.stdin.isatty():
        typer.confirm(f"Forget everything about {person}? There is no way back", abort=True)

    async def work(parts: Offline) -> Forgotten | None:
        found = await _known(parts, person)
        return await parts.memory.forget(found) if found else None

    forgotten = with_offline(config, work)
    if forgotten is None:
        _nothing(person, as_json=as_json)
        return
    if as_json:
        say_json(asdict(forgotten))
    else:
        rows = sorted(forgotten.counts.items())
        say_table(("place", "changed"), rows, empty=f"There was nothing left to forget of {person}.")
    if forgotten.left:
        typer.echo(
            f"{forgotten.left} messages of {person} are still in work: is the bot paused? Run this again later.",
            err=True,
        )
        raise typer.Exit(1)


async def _known(parts: Offline, person: str) -> PersonOwner | None:
    """Return whom that means, None for somebody of whom nothing is known; ask for the team where there are several."""
    from hermes_bot.memory.owner import PersonOwner

    team, colon, user = person.rpartition(":")
    if not user:
        raise typer.BadParameter(f"{person!r} is not a user id")
    if colon:
        return PersonOwner(team, user)
    found = await parts.memory.called(user)
    if len(found) > 1:
        names = ", ".join(f"{each.team}:{each.user}" for each in found)
        raise typer.BadParameter(f"several people have this id, one in each team: {names}")
    return found[0] if found else None


def _nothing(person: str, *, as_json: bool) -> None:
    if as_json:
        say_json({"person": person, "known": False})
    else:
        typer.echo(f"Nothing is known of {person}.", err=True)
    raise typer.Exit(1)


def _kind(fact: Fact) -> str:
    return f"{fact.kind.value} (until {fact.replaced_by})" if fact.replaced_by else fact.kind.value
