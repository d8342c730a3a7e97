"""What differs between two handlings of the same message, in words; and the hops of one, for people to read.

A child has the same id in both, because ids follow from the parent's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hermes_bot.bus.port import Delivery
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import POST_CHECK
from hermes_bot.messages.ticket_payloads import TICKET_ANSWERED, TICKET_CHANGED, TICKET_DUE
from hermes_bot.observe.trace import parent_of

SHOWN = 80
OF_TICKETS = frozenset({TICKET_ANSWERED, TICKET_CHANGED, TICKET_DUE})
"""Types that tell of a ticket, which in a replay may be as it was: they stand beside the way of the message."""

OF_THE_EDGE = frozenset({POST_CHECK}) | OF_TICKETS
"""Types that a replay has none of: those that the edge sends itself, too, since it posts nothing."""

_MISSING = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One delivery: who handled what, and what came of it."""

    message_id: str
    type: str
    agent: str
    state: str
    error: str
    outputs: tuple[str, ...]


def hops_of(deliveries: Sequence[Delivery]) -> list[Hop]:
    """Return the hops in the order of their messages, without those beside the way."""
    return [
        Hop(
            message_id=each.message.id,
            type=each.message.type,
            agent=each.agent,
            state=each.state.value,
            error=each.error,
            outputs=tuple(_types_below(each, deliveries)),
        )
        for each in sorted(deliveries, key=lambda each: (each.message.hops, each.message.id, each.agent))
        if each.message.type not in OF_TICKETS
    ]


def differences(before: Sequence[Delivery], after: Sequence[Delivery], *, only: str = "") -> list[str]:
    """Return what differs, one sentence each; empty when the same came of both.

    With `only`, a message's id: what became of this message and what it sent, not what came of that in turn.
    """
    old, new = _by_id(before), _by_id(after)
    if only:
        known = {**old, **new}
        near = {only, *(each for each in known if parent_of(each, known) == only)}
        old, new = ({key: each for key, each in some.items() if key in near} for some in (old, new))
        before, after = ([each for each in some if each.message.id == only] for some in (before, after))
    return [*_messages(old, new), *_states(before, after)]


def _messages(before: Mapping[str, Message], after: Mapping[str, Message]) -> Iterator[str]:
    for message_id in dict.fromkeys((*before, *after)):
        old, new = before.get(message_id), after.get(message_id)
        if new is None and old is not None:
            yield f"{message_id} {old.type}: was sent, is not"
        elif old is None and new is not None:
            yield f"{message_id} {new.type}: was not sent, is"
        elif old is not None and new is not None:
            yield from _of_message(old, new)


def _of_message(old: Message, new: Message) -> Iterator[str]:
    for name in ("type", "recipient", "kind", "priority", "context_id"):
        if getattr(old, name) != getattr(new, name):
            yield f"{old.id} {name}: was {getattr(old, name)!s}, is {getattr(new, name)!s}"
    for path, was, now in _changed(old.data, new.data):
        yield f"{old.id} {old.type} {path}: was {_told(was)}, is {_told(now)}"


def _states(before: Sequence[Delivery], after: Sequence[Delivery]) -> Iterator[str]:
    old = {(each.message.id, each.agent): each for each in before}
    for each in after:
        was = old.get((each.message.id, each.agent))
        if was is not None and was.state is not each.state:
            because = f": {each.error or was.error}" if each.error or was.error else ""
            yield f"{each.message.id} at {each.agent}: was {was.state.value}, is {each.state.value}{because}"
    agents = {(each.message.id, each.agent) for each in after}
    for message_id, agent in old:
        if (message_id, agent) not in agents and message_id in {each.message.id for each in after}:
            yield f"{message_id}: {agent} got it, and gets it no more"


def _by_id(deliveries: Sequence[Delivery]) -> dict[str, Message]:
    ordered = sorted(deliveries, key=lambda each: (each.message.hops, each.message.id))
    return {each.message.id: each.message for each in ordered if each.message.type not in OF_THE_EDGE}


def _types_below(delivery: Delivery, deliveries: Sequence[Delivery]) -> list[str]:
    known = {each.message.id: each.message.type for each in deliveries if each.message.type not in OF_TICKETS}
    start = f"{delivery.message.id}-{delivery.branch}" if delivery.branch else f"{delivery.message.id}-"
    ours = (each for each in known if each.startswith(start) and parent_of(each, known) == delivery.message.id)
    return [known[each] for each in sorted(ours)]


def _changed(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield (path, old, new) of every value that differs."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            yield from _changed(old.get(key, _MISSING), new.get(key, _MISSING), f"{path}.{key}" if path else str(key))
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _changed(one, other, f"{path}[{number}]")
    elif old is _MISSING or new is _MISSING or old != new:
        yield path, old, new


def _told(value: Any) -> str:
    if value is _MISSING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
