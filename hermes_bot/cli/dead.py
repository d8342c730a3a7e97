"""`hermes-bot dead`: deliveries that ended without being done; look at them, put them back, or drop them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hermes_bot.cli.failure import PROBLEM
from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, Limit, say_json, say_table
from hermes_bot.errors import HermesError

if TYPE_CHECKING:  # imported for their names alone, so that --help stays fast
    from hermes_bot.bus.port import Delivery

app = typer.Typer(help="Deliveries that ended dead, expired or suspended.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(metavar="MESSAGE", help="The message's id, MSG-…")]
OfSubscription = Annotated[
    str, typer.Option("--subscription", help="Only this subscription's delivery; default: every one of the message.")
]


class Ended(StrEnum):
    """The states in which a delivery waits for a person to look at it."""

    DEAD = "dead"
    EXPIRED = "expired"
    SUSPENDED = "suspended"


@app.command("list")
def list_dead(
    state: Annotated[Ended | None, typer.Option("--state", help="Only this state; default: all three.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """List them, newest first."""

    async def work(parts: Offline) -> Sequence[Delivery]:
        return _find(parts, state=state, limit=limit)

    found = with_offline(config, work)
    if as_json:
        say_json([_told(each) for each in found])
        return
    rows = [(d.message.id, d.message.type, d.agent, d.state, d.attempt, d.updated_at, d.error) for d in found]
    columns = ("message", "type", "agent", "state", "attempts", "since", "error")
    say_table(columns, rows, empty="There are no dead deliveries.")


@app.command()
def show(message: Id, as_json: AsJson = False, config: Config = None) -> None:
    """Show a message's dead deliveries whole, with the way it took."""

    async def work(parts: Offline) -> Sequence[Delivery]:
        return _of_message(parts, message, "")

    found = with_offline(config, work)
    if as_json:
        say_json([_told(each) | {"data": each.message.data, "hops": _hops(each)} for each in found])
        return
    for delivery in found:
        for key, value in _told(delivery).items():
            typer.echo(f"{key + ':':<14}{value}")
        for hop in _hops(delivery):
            typer.echo(f"{'hop:':<14}{hop}")


@app.command()
def replay(message: Id, subscription: OfSubscription = "", as_json: AsJson = False, config: Config = None) -> None:
    """Put them back in their queue; the bot handles them again."""

    async def work(parts: Offline) -> list[str]:
        chosen = _of_message(parts, message, subscription)
        return [d.subscription for d in chosen if parts.bus.requeue(d.message.id, d.subscription)]

    _changed(message, "replayed", with_offline(config, work), as_json=as_json)


@app.command()
def drop(message: Id, subscription: OfSubscription = "", as_json: AsJson = False, config: Config = None) -> None:
    """Give them up: they end as cancelled."""

    async def work(parts: Offline) -> list[str]:
        chosen = _of_message(parts, message, subscription)
        return [d.subscription for d in chosen if parts.bus.drop(d.message.id, d.subscription)]

    _changed(message, "dropped", with_offline(config, work), as_json=as_json)


def _find(parts: Offline, *, state: Ended | None = None, message_id: str = "", limit: int = 100) -> Sequence[Delivery]:
    from hermes_bot.bus.port import State

    states = tuple(State(each.value) for each in ([state] if state else Ended))
    return parts.bus.find(states=states, message_id=message_id, limit=limit)


def _of_message(parts: Offline, message: str, subscription: str) -> Sequence[Delivery]:
    """Return the message's dead deliveries; raise HermesError where there are none."""
    found = _find(parts, message_id=message)
    chosen = [each for each in found if subscription in {"", each.subscription}]
    if not chosen:
        raise HermesError(f"{message} has no dead delivery{f' for {subscription}' if subscription else ''}")
    return chosen


def _told(delivery: Delivery) -> dict[str, Any]:
    return {
        "message_id": delivery.message.id,
        "type": delivery.message.type,
        "context_id": delivery.message.context_id,
        "trace_id": delivery.message.trace_id,
        "subscription": delivery.subscription,
        "agent": delivery.agent,
        "state": delivery.state.value,
        "attempt": delivery.attempt,
        "error": delivery.error,
        "created_at": delivery.message.created_at,
        "updated_at": delivery.updated_at,
    }


def _hops(delivery: Delivery) -> list[str]:
    return [
        f"{hop.at.isoformat()} {hop.type} → {hop.agent}: {hop.outcome}" for hop in delivery.message.context_chain.hops
    ]


def _changed(message: str, what: str, subscriptions: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        say_json({"message_id": message, what: list(subscriptions)})
    else:
        typer.echo(f"{message}: {what} {', '.join(subscriptions) or 'nothing, it changed meanwhile'}")
    if not subscriptions:
        raise typer.Exit(PROBLEM)
