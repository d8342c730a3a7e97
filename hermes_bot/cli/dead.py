"""`hermes-bot dead`: deliveries that ended without being done; look at them, put them back, or drop them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hermes_bot.cli.failure import PROBLEM
from hermes_bot.cli.messages import OfAgent, OfType, OlderThan, told
from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, Limit, say_json, say_table
from hermes_bot.cli.words import pause_of, plural, seconds_of
from hermes_bot.errors import HermesError

if TYPE_CHECKING:  # imported for their names alone, so that --help stays fast
    from hermes_bot.bus.port import Delivery

app = typer.Typer(help="Deliveries that ended dead, expired or suspended.", no_args_is_help=True)

EVERY = 1_000_000

Ids = Annotated[list[str] | None, typer.Argument(metavar="MESSAGE", help="One or more messages' ids, MSG-…")]
Id = Annotated[str, typer.Argument(metavar="MESSAGE", help="The message's id, MSG-…")]
All = Annotated[bool, typer.Option("--all", help="Every one that the other options let through.")]
Rate = Annotated[str, typer.Option("--rate", help="At most so many: 10/s, 30/m, 5/h; default: no limit.")]
OfSubscription = Annotated[
    str, typer.Option("--subscription", help="Only this subscription's delivery; default: every one of the message.")
]


class Ended(StrEnum):
    """The states in which a delivery waits for a person to look at it."""

    DEAD = "dead"
    EXPIRED = "expired"
    SUSPENDED = "suspended"


OfState = Annotated[Ended | None, typer.Option("--state", help="Only this state; default: all three.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which dead letters are meant; what is empty does not matter."""

    state: Ended | None = None
    type: str = ""
    agent: str = ""
    older_than: str = ""
    subscription: str = ""

    async def find(self, parts: Offline, *, message_id: str = "", limit: int = EVERY) -> list[Delivery]:
        """Return them, newest first."""
        from hermes_bot.bus.port import State, Wanted

        seconds = seconds_of(self.older_than) if self.older_than else None
        before = None if seconds is None else datetime.now(UTC) - timedelta(seconds=seconds)
        states = tuple(State(each.value) for each in ([self.state] if self.state else Ended))
        wanted = Wanted(type=self.type, agent=self.agent, queued_before=before)
        found = await parts.bus.find(states=states, message_id=message_id, wanted=wanted, limit=limit)
        return [each for each in found if self.subscription in {"", each.subscription}]


@app.command("list")
def list_dead(
    state: OfState = None,
    type_: OfType = "",
    agent: OfAgent = "",
    older_than: OlderThan = "",
    limit: Limit = 50,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """List them, newest first."""
    chosen = Chosen(state=state, type=type_, agent=agent, older_than=older_than)
    found = with_offline(config, lambda parts: chosen.find(parts, limit=limit))
    if as_json:
        say_json([told(each) for each in found])
        return
    rows = [(d.message.id, d.message.type, d.agent, d.state, d.attempt, d.updated_at, d.error) for d in found]
    columns = ("message", "type", "agent", "state", "attempts", "since", "error")
    say_table(columns, rows, empty="There are no dead deliveries.")


@app.command()
def show(message: Id, as_json: AsJson = False, config: Config = None) -> None:
    """Show a message's dead deliveries whole: the cause, the chain that led there, and what was asked."""
    found = with_offline(config, lambda parts: _of_messages(parts, [message], Chosen()))
    if as_json:
        say_json([_whole(each) for each in found])
        return
    for delivery in found:
        for key, value in told(delivery).items():
            typer.echo(f"{key + ':':<14}{value}")
        for hop in _hops(delivery):
            typer.echo(f"{'chain:':<14}{hop}")
        typer.echo(f"{'asked:':<14}{delivery.message.context_chain.text or '-'}")


@app.command()
def replay(
    messages: Ids = None,
    every: All = False,
    state: OfState = None,
    type_: OfType = "",
    agent: OfAgent = "",
    older_than: OlderThan = "",
    subscription: OfSubscription = "",
    rate: Rate = "",
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Put them back in their queue as the messages that they were; the bot handles them again, oldest first."""
    chosen = Chosen(state=state, type=type_, agent=agent, older_than=older_than, subscription=subscription)
    _change(messages or [], chosen, "replayed", every=every, rate=rate, as_json=as_json, config=config)


@app.command()
def drop(
    messages: Ids = None,
    every: All = False,
    state: OfState = None,
    type_: OfType = "",
    agent: OfAgent = "",
    older_than: OlderThan = "",
    subscription: OfSubscription = "",
    rate: Rate = "",
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Give them up: they end as cancelled."""
    chosen = Chosen(state=state, type=type_, agent=agent, older_than=older_than, subscription=subscription)
    _change(messages or [], chosen, "dropped", every=every, rate=rate, as_json=as_json, config=config)


def _change(
    messages: Sequence[str], chosen: Chosen, what: str, *, every: bool, rate: str, as_json: bool, config: Config
) -> None:
    if every == bool(messages):
        raise typer.BadParameter("name messages, or say --all (which --state, --type, --agent, --older-than narrow)")
    pause_s = pause_of(rate)

    async def work(parts: Offline) -> list[Delivery]:
        found = await (chosen.find(parts) if every else _of_messages(parts, messages, chosen))
        changed = []
        for number, each in enumerate(reversed(found)):
            if number and pause_s:
                await asyncio.sleep(pause_s)
            act = parts.bus.requeue if what == "replayed" else parts.bus.drop
            if await act(each.message.id, each.subscription):
                changed.append(each)
        return changed

    _tell(what, with_offline(config, work), as_json=as_json, asked=every)


async def _of_messages(parts: Offline, messages: Sequence[str], chosen: Chosen) -> list[Delivery]:
    """Return the messages' dead deliveries; raise HermesError where one of them has none."""
    found: list[Delivery] = []
    for message in messages:
        theirs = await chosen.find(parts, message_id=message)
        if not theirs:
            where = f" for {chosen.subscription}" if chosen.subscription else ""
            raise HermesError(f"{message} has no dead delivery{where}")
        found += theirs
    return sorted(found, key=lambda each: each.queued_at, reverse=True)


def _tell(what: str, changed: Sequence[Delivery], *, as_json: bool, asked: bool) -> None:
    if as_json:
        say_json([{"message_id": each.message.id, "subscription": each.subscription, what: True} for each in changed])
    else:
        for each in changed:
            typer.echo(f"{each.message.id}: {what} {each.subscription}")
        typer.echo(f"{plural(len(changed), 'delivery', 'deliveries')} {what}.")
    if not changed and not asked:
        raise typer.Exit(PROBLEM)


def _whole(delivery: Delivery) -> dict[str, Any]:
    message = delivery.message
    return told(delivery) | {"data": message.data, "asked": message.context_chain.text, "hops": _hops(delivery)}


def _hops(delivery: Delivery) -> list[str]:
    return [
        f"{hop.at.isoformat()} {hop.type} → {hop.agent}: {hop.outcome}" for hop in delivery.message.context_chain.hops
    ]
