"""Deliveries as the redis scripts keep them: a message as JSON, fixed fields, variable fields.

The order of the fields is the one that redis_records.lua names.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from hermes_bot.bus.port import Delivery, State
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import decode, encode

DELAYED = "delayed"
"""The scripts' own state of a delivery whose `not_before` has not come; everybody else calls it queued."""


class Fixed(msgspec.Struct, frozen=True, array_like=True):
    """What never changes."""

    message_id: str
    task: str
    subscription: str
    agent: str
    branch: str
    context_id: str
    priority: int


class Variable(msgspec.Struct, frozen=True, array_like=True):
    """What changes; times in seconds since the epoch, 0 for never. `turn` is empty where nobody has a lease."""

    state: str
    attempt: int
    redelivered: bool
    error: str
    queued_at: float
    updated_at: float
    turn: str
    last_turn: str


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A delivery with its number and, when it is leased, its turn."""

    number: str
    turn: str
    delivery: Delivery


_ENCODER = msgspec.msgpack.Encoder()
_FIXED = msgspec.msgpack.Decoder(Fixed)
_VARIABLE = msgspec.msgpack.Decoder(Variable)


Packed = tuple[Fixed, str, float]
"""What the scripts want of a new delivery: fixed fields, message, `not_before` (0 for none)."""


def packed(delivery: Delivery) -> Packed:
    """Return the delivery as `publish` wants it; raise PermanentError where its message is not JSON."""
    message = delivery.message
    task, subscription = delivery.key
    fixed = Fixed(message.id, task, subscription, delivery.agent, delivery.branch, message.context_id, message.priority)
    not_before = 0.0 if message.not_before is None else message.not_before.timestamp()
    try:
        _ENCODER.encode(fixed)  # odd text is found here, not in the batch that others share
        return fixed, encode(message).decode(), not_before
    except (TypeError, ValueError, RecursionError) as error:
        raise PermanentError(f"{message.type} {message.id!r} cannot be stored: {error}") from error


def unpacked(row: Sequence[bytes]) -> Record:
    """Return the delivery in a row that a script returned."""
    number, body, fixed_fields, variable_fields = row
    fixed, variable = _FIXED.decode(fixed_fields), _VARIABLE.decode(variable_fields)
    delivery = Delivery(
        message=decode(body),
        subscription=fixed.subscription,
        agent=fixed.agent,
        attempt=variable.attempt,
        redelivered=variable.redelivered,
        state=State.QUEUED if variable.state == DELAYED else State(variable.state),
        error=variable.error,
        branch=fixed.branch,
        queued_at=_time(variable.queued_at),
        updated_at=_time(variable.updated_at) if variable.updated_at else None,
    )
    return Record(number=number.decode(), turn=variable.turn, delivery=delivery)


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
