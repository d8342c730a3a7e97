"""`hermes-bot messages`: the deliveries on the bus, whichever state they are in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, Limit, say_json, say_table
from hermes_bot.cli.words import last, seconds_of

if TYPE_CHECKING:  # imported for their names alone, so that --help stays fast
    from hermes_bot.bus.port import Delivery

app = typer.Typer(help="Messages on the bus: in which state, how old.", no_args_is_help=True)

OfType = Annotated[str, typer.Option("--type", help="Only this message type, such as ticket.created.")]
OfAgent = Annotated[str, typer.Option("--agent", help="Only deliveries to this agent.")]
OlderThan = Annotated[
    str, typer.Option("--older-than", help="Only what waits, or waited, since before: 90s, 15m, 2h, 1d.")
]

_COLUMNS = ("message", "type", "agent", "state", "attempt", "waits since", "age", "error")


class InState(StrEnum):
    """Every state, and `open` for those that are not final."""

    OPEN = "open"
    QUEUED = "queued"
    RUNNING = "running"
    RETRYING = "retrying"
    DONE = "done"
    DEAD = "dead"
    EXPIRED = "expired"
    SUSPENDED = "suspended"
    CANCELLED = "cancelled"


@app.command("list")
def list_messages(
    state: Annotated[
        InState | None, typer.Option("--state", help="Only this state; open = queued, running and retrying.")
    ] = None,
    type_: OfType = "",
    agent: OfAgent = "",
    older_than: OlderThan = "",
    limit: Limit = 50,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """List deliveries, newest first; `--state open --older-than 15m` finds what is stuck."""
    now = datetime.now(UTC)
    before = now - timedelta(seconds=seconds_of(older_than)) if older_than else None

    async def work(parts: Offline) -> Sequence[Delivery]:
        from hermes_bot.bus.port import Wanted

        wanted = Wanted(type=type_, agent=agent, queued_before=before)
        return await parts.bus.find(states=_states(state), wanted=wanted, limit=limit)

    found = with_offline(config, work)
    if as_json:
        say_json([told(each) for each in found])
        return
    rows = [
        (d.message.id, d.message.type, d.agent, d.state, d.attempt, d.waits_since, last(now, d.waits_since), d.error)
        for d in found
    ]
    say_table(_COLUMNS, rows, empty="There are no such messages.")


def _states(state: InState | None) -> Sequence[Any]:
    from hermes_bot.bus.port import FINAL_STATES, State

    if state is None:
        return ()
    if state is InState.OPEN:
        return tuple(each for each in State if each not in FINAL_STATES)
    return (State(state.value),)


def told(delivery: Delivery) -> dict[str, Any]:
    """Return what `--json` tells of a delivery."""
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
        "waits_since": delivery.waits_since,
        "updated_at": delivery.updated_at,
    }
