"""What the bus writes on messages that follow from another one: id, sender, hops, the way that led here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from hermes_bot.bus.port import Delivery, State
from hermes_bot.messages.message import Chain, Hop, Kind, Message

BUS = "bus"
"""The agent name in `processed_by` of what the bus itself sent after a failure."""


def stamp(parent: Delivery, outputs: Sequence[Message], at: datetime) -> tuple[Message, ...]:
    """Return a handler's outputs stamped; a re-run that makes the same outputs gets the same ids."""
    return _stamped(parent, outputs, State.DONE, at, mark="", trail=())


def stamp_failure(parent: Delivery, outputs: Sequence[Message], state: State, at: datetime) -> tuple[Message, ...]:
    """Return what is sent because `parent` failed, stamped, with ids of its own: a replay's outputs stay apart."""
    return _stamped(parent, outputs, state, at, mark="f", trail=((BUS, state.value, parent.message.task),))


def answer_again(request: Message, result: Message, id: str) -> Message:
    """Return the stored result of an earlier request as the answer to one that repeats it."""
    return msgspec.structs.replace(
        result,
        id=id,
        task_id=id,
        recipient=request.reply_to or request.sender,
        context_id=request.context_id,
        trace_id=request.trace_id,
        hops=request.hops + 1,
    )


def comes_from_failure(message: Message) -> bool:
    """Return whether the message, or one it follows from, was sent because of a failure."""
    return any(agent == BUS for agent, _, _ in message.processed_by)


def _stamped(
    parent: Delivery,
    outputs: Sequence[Message],
    state: State,
    at: datetime,
    *,
    mark: str,
    trail: tuple[tuple[str, str, str], ...],
) -> tuple[Message, ...]:
    if not outputs:
        return ()
    source = parent.message
    prefix = f"{source.id}-{parent.branch}.{mark}" if parent.branch else f"{source.id}-{mark}"
    processed_by = (*source.processed_by, (parent.agent, source.type, source.task))
    hop = Hop(at=at, agent=parent.agent, type=source.type, outcome=state.value)
    return tuple(
        msgspec.structs.replace(
            output,
            id=f"{prefix}{number}",
            sender=BUS if trail else parent.agent,
            task_id=output.task_id or f"{prefix}{number}",
            hops=output.hops or source.hops + 1,  # a task counts from where it was delegated, not its results
            # an error goes to who asked, and what follows from it is new work, whose failure must be heard of
            processed_by=processed_by if output.kind is Kind.ERROR else (*processed_by, *trail),
            created_at=at,
            context_chain=Chain(
                text=output.context_chain.text or source.context_chain.text, hops=(*source.context_chain.hops, hop)
            ),
        )
        for number, output in enumerate(outputs, start=1)
    )
