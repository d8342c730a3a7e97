"""`hermes-bot trace`: the tree of a message with times, states, agents, attempts, errors, bytes and cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, say_json
from hermes_bot.cli.words import bytes_of, last, plural, took

if TYPE_CHECKING:  # imported for their names alone, so that --help stays fast
    from rich.tree import Tree

    from hermes_bot.observe.records import Record
    from hermes_bot.observe.trace import Node, Step, Trace

Id = Annotated[str, typer.Argument(metavar="ID", help="A message (MSG-…, also one within a chain) or a ticket (T-…).")]

_STYLES = {
    "done": "green",
    "queued": "cyan",
    "running": "cyan",
    "retrying": "yellow",
    "dead": "bold red",
    "expired": "red",
    "suspended": "bold red",
    "cancelled": "dim",
}
_PLACES = {
    "queued": "waits in the queue of {agent}",
    "running": "is being handled by {agent}",
    "retrying": "waits to be tried again by {agent}",
}


def trace(wanted: Id, as_json: AsJson = False, config: Config = None) -> None:
    """Tell where a message is now, and everything that happened to it."""

    async def work(parts: Offline) -> tuple[Trace, datetime | None]:
        return await parts.trace(wanted), await parts.bus.paused_since()

    found, paused_since = with_offline(config, work)
    now = datetime.now(UTC)
    if as_json:
        say_json(_json(wanted, found, paused_since))
        return
    _show([_tree(root, wanted, now) for root in found.roots])
    for line in (*_now(found, paused_since, now), _totals_in_words(found)):
        typer.echo(line)


def _show(trees: Sequence[Tree]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=10_000)
    for tree in trees:
        console.print(tree)


def _tree(node: Node, wanted: str, now: datetime) -> Tree:
    from rich.markup import escape
    from rich.tree import Tree

    style = "bold reverse" if node.message_id == wanted else "bold"
    at = node.created_at.astimezone().strftime("%Y-%m-%d %H:%M:%S") if node.created_at else ""
    sender = f"from {node.sender}" if node.sender else ""
    told = "  ".join(each for each in (sender, at, bytes_of(node.size) if node.size else "") if each)
    tree = Tree(f"[{style}]{node.message_id}[/] {escape(node.type)}  [dim]{escape(told)}[/]")
    for step in node.steps:
        _add_step(tree, step, now)
    if not node.steps:
        tree.add("[dim]nothing more is known of it[/]")
    for child in node.children:
        tree.add(_tree(child, wanted, now))
    return tree


def _add_step(tree: Tree, step: Step, now: datetime) -> None:
    from rich.markup import escape

    since = f" {_waits(now, step.since)}" if step.since and step.state in _PLACES else ""
    parts = [f"[{_STYLES.get(step.state, '')}]{step.state}[/]{since}" if step.state in _STYLES else step.state]
    if step.attempts:
        parts.append(took(step.duration_ms))
    if step.attempt > 1:
        parts.append(f"attempt {step.attempt}")
    if step.error:
        parts.append(f"[red]{escape(step.error)}[/]")
    branch = tree.add(f"{escape(step.agent)}: {'  '.join(parts)}")
    if len(step.attempts) > 1:
        for record in step.attempts:
            branch.add(escape(_attempt_in_words(record)))
    for record in step.calls:
        branch.add(escape(_call_in_words(record)))


def _attempt_in_words(record: Record) -> str:
    at = record.started_at.astimezone().strftime("%H:%M:%S")
    return f"attempt {record.attempt}: {record.outcome}  {took(record.duration_ms)}  {at}  {record.error}".rstrip()


def _call_in_words(record: Record) -> str:
    cost = f"  {record.tokens_in}+{record.tokens_out} tokens" if record.tokens_in or record.tokens_out else ""
    level = f" ({record.level})" if record.level else ""
    what = f"{record.kind.value} {record.name}{level}: {record.outcome} {record.error}".rstrip()
    return f"{what}  {took(record.duration_ms)}{cost}"


def _now(found: Trace, paused_since: datetime | None, now: datetime) -> list[str]:
    """Return where the message is, one line for each place."""
    lines = []
    for node, step in found.open:
        place = _PLACES.get(step.state, "is {state} at {agent}").format(agent=step.agent, state=step.state)
        since = f", {_waits(now, step.since)}" if step.since else ""
        lines.append(f"Now: {node.message_id} {place}{since}")
    for node, step in found.failed:
        lines.append(f"Now: {node.message_id} is {step.state} at {step.agent}: hermes-bot dead show {node.message_id}")
    if not lines:
        lines = ["Now: everything that followed from it is done."]
    elif paused_since is not None:
        lines.append("The bus is paused: hermes-bot resume")
    return lines


def _waits(now: datetime, since: datetime) -> str:
    """Return how long it has been there, or until when it rests: an approval's expiry is not due before its time."""
    return f"for {last(now, since)}" if since <= now else f"until {since.astimezone():%Y-%m-%d %H:%M:%S}"


def _totals_in_words(found: Trace) -> str:
    totals = totals_of(found)
    cost = f"${totals['cost_usd']:.4f}" if totals["cost_usd"] is not None else "no cost"
    tokens = f"{totals['tokens_in']}+{totals['tokens_out']} tokens, " if totals["tokens_in"] else ""
    counts = (
        plural(totals["messages"], "message"),
        plural(totals["deliveries"], "delivery", "deliveries"),
        plural(totals["attempts"], "attempt"),
        plural(totals["calls"], "call"),
    )
    return f"{', '.join(counts)}, {took(totals['duration_ms'])} of work, {bytes_of(totals['bytes'])}, {tokens}{cost}"


def totals_of(found: Trace) -> dict[str, Any]:
    """Return what the trace comes to."""
    records = found.records
    attempts = [record for record in records if record.kind.value == "attempt"]
    costs = [record.cost_usd for record in records if record.cost_usd is not None]
    return {
        "messages": len(found.nodes),
        "deliveries": len(found.steps),
        "attempts": len(attempts),
        "calls": len(records) - len(attempts),
        "duration_ms": round(sum(record.duration_ms for record in attempts), 3),
        "bytes": sum(node.size for node in found.nodes),
        "tokens_in": sum(record.tokens_in for record in records),
        "tokens_out": sum(record.tokens_out for record in records),
        "cost_usd": sum(costs) if costs else None,
    }


def _json(wanted: str, found: Trace, paused_since: datetime | None) -> dict[str, Any]:
    def place(node: Node, step: Step) -> dict[str, Any]:
        return {
            "message_id": node.message_id,
            "type": node.type,
            "agent": step.agent,
            "state": step.state,
            "since": step.since,
            "error": step.error,
        }

    return {
        "id": wanted,
        "done": not found.open and not found.failed,
        "paused_since": paused_since,
        "now": [place(node, step) for node, step in found.open],
        "failed": [place(node, step) for node, step in found.failed],
        "totals": totals_of(found),
        "messages": [_json_of_node(root) for root in found.roots],
    }


def _json_of_node(node: Node) -> dict[str, Any]:
    import msgspec

    return {
        "message_id": node.message_id,
        "type": node.type,
        "sender": node.sender,
        "context_id": node.context_id,
        "trace_id": node.trace_id,
        "created_at": node.created_at,
        "bytes": node.size,
        "deliveries": [
            {
                "agent": step.agent,
                "subscription": step.subscription,
                "state": step.state,
                "attempt": step.attempt,
                "error": step.error,
                "since": step.since,
                "duration_ms": round(step.duration_ms, 3),
                "attempts": [msgspec.structs.asdict(record) for record in step.attempts],
                "calls": [msgspec.structs.asdict(record) for record in step.calls],
            }
            for step in node.steps
        ],
        "children": [_json_of_node(child) for child in node.children],
    }
