"""Rebuilds the tree of a message: what followed from what, who handled it, and where it is now.

It is fed with what the bus keeps (`Seen`) and what the journal holds (`Record`). Either may know what the other does
not: the bus the states of this moment, the journal what the bus has purged and every attempt with its duration.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from hermes_bot.observe.hops import ASIDE
from hermes_bot.observe.records import Record, RecordKind

FINAL = frozenset({"done", "dead", "expired", "suspended", "cancelled"})
FAILED = frozenset({"dead", "expired", "suspended"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A delivery as the bus keeps it."""

    message_id: str
    type: str
    sender: str
    context_id: str
    trace_id: str
    created_at: datetime
    size: int
    agent: str
    subscription: str
    state: str
    attempt: int
    error: str
    waits_since: datetime
    updated_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A delivery: where it is, and its attempts and calls in the order of time. `since` is when it got there."""

    agent: str
    subscription: str
    state: str
    attempt: int = 1
    error: str = ""
    since: datetime | None = None
    attempts: tuple[Record, ...] = ()
    calls: tuple[Record, ...] = ()

    @property
    def duration_ms(self) -> float:
        """Return how long the attempts took together."""
        return sum(each.duration_ms for each in self.attempts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A message with its deliveries and with what followed from it. Neither is there where nobody knows more."""

    message_id: str
    type: str
    sender: str = ""
    context_id: str = ""
    trace_id: str = ""
    created_at: datetime | None = None
    size: int = 0
    steps: tuple[Step, ...] = ()
    children: tuple[Node, ...] = ()

    def all(self) -> list[Node]:
        """Return this node and all below it."""
        return [self, *(below for child in self.children for below in child.all())]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The trees that belong together, and what they come to."""

    roots: tuple[Node, ...] = ()
    nodes: tuple[Node, ...] = field(default=())

    @property
    def steps(self) -> list[tuple[Node, Step]]:
        """Return every delivery with its message."""
        return [(node, step) for node in self.nodes for step in node.steps]

    @property
    def open(self) -> list[tuple[Node, Step]]:
        """Return the deliveries that are in no final state: that is where the message is now.

        What stands beside the way, such as a ticket's timer, does not count.
        """
        return [(node, step) for node, step in self.steps if step.state not in FINAL and node.type not in ASIDE]

    @property
    def failed(self) -> list[tuple[Node, Step]]:
        """Return the deliveries that wait for a person."""
        return [(node, step) for node, step in self.steps if step.state in FAILED]

    @property
    def records(self) -> list[Record]:
        """Return all attempts and calls."""
        return [record for _, step in self.steps for record in (*step.attempts, *step.calls)]


def build(seen: Iterable[Seen], records: Iterable[Record]) -> Trace:
    """Return the trees of all messages that `seen` and `records` speak of, oldest first.

    Records come in the order in which things ended: a clock may have jumped meanwhile.
    """
    known = {(each.message_id, each.subscription): each for each in seen}
    attempts: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
    calls: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        if record.kind is RecordKind.ATTEMPT:
            attempts[record.message_id, record.subscription].append(record)
        else:
            calls[record.message_id, record.agent].append(record)
    steps: defaultdict[str, list[Step]] = defaultdict(list)
    for key in [*known, *(key for key in attempts if key not in known)]:
        steps[key[0]].append(_step(known.get(key), attempts[key], calls))
    nodes = _nodes(known.values(), [record for each in attempts.values() for record in each], steps)
    return _tree(nodes)


def _step(seen: Seen | None, attempts: Sequence[Record], calls: Mapping[tuple[str, str], Sequence[Record]]) -> Step:
    if seen is not None:
        ended = seen.state in FINAL or seen.state == "retrying"
        return Step(
            agent=seen.agent,
            subscription=seen.subscription,
            state=seen.state,
            attempt=seen.attempt,
            error=seen.error,
            since=seen.updated_at if ended else seen.waits_since,
            attempts=tuple(attempts),
            calls=tuple(calls.get((seen.message_id, seen.agent), ())),
        )
    last = attempts[-1]
    return Step(
        agent=last.agent,
        subscription=last.subscription,
        state=last.outcome,
        attempt=last.attempt,
        error=last.error,
        since=last.started_at,
        attempts=tuple(attempts),
        calls=tuple(calls.get((last.message_id, last.agent), ())),
    )


def _nodes(seen: Iterable[Seen], records: Iterable[Record], steps: Mapping[str, Sequence[Step]]) -> dict[str, Node]:
    """Return one node for each message; of those that only an output tells of, there is nothing but the type."""
    nodes: dict[str, Node] = {}
    records = list(records)
    for record in records:
        for message_id, type_ in record.outputs:
            nodes[message_id] = Node(message_id=message_id, type=type_, sender=record.agent, trace_id=record.trace_id)
    for record in records:
        nodes[record.message_id] = Node(
            message_id=record.message_id,
            type=record.type,
            sender=record.sender,
            context_id=record.context_id,
            trace_id=record.trace_id,
            created_at=record.started_at,
            size=record.bytes_in,
            steps=tuple(steps[record.message_id]),
        )
    for each in seen:
        nodes[each.message_id] = Node(
            message_id=each.message_id,
            type=each.type,
            sender=each.sender,
            context_id=each.context_id,
            trace_id=each.trace_id,
            created_at=each.created_at,
            size=each.size,
            steps=tuple(steps[each.message_id]),
        )
    return nodes


def _tree(nodes: Mapping[str, Node]) -> Trace:
    below: defaultdict[str, list[str]] = defaultdict(list)
    for message_id in nodes:
        below[parent_of(message_id, nodes)].append(message_id)

    def grown(message_id: str) -> Node:
        node = nodes[message_id]
        children = tuple(grown(each) for each in sorted(below[message_id], key=_in_order))
        return Node(**{name: getattr(node, name) for name in Node.__slots__} | {"children": children})

    tops = sorted(below[""], key=lambda each: (nodes[each].created_at is None, nodes[each].created_at, each))
    roots = tuple(grown(each) for each in tops)
    return Trace(roots=roots, nodes=tuple(node for root in roots for node in root.all()))


def parent_of(message_id: str, known: Mapping[str, object]) -> str:
    """Return the nearest message that this one follows from, empty where none is known.

    A child's id is its parent's, a hyphen and more; an agent's name in there may hold hyphens of its own.
    """
    end = message_id.rfind("-")
    while end > 0:
        if message_id[:end] in known:
            return message_id[:end]
        end = message_id.rfind("-", 0, end)
    return ""


def _in_order(message_id: str) -> list[tuple[int, str]]:
    """Return a key that puts `-10` behind `-9`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", message_id) if part]
