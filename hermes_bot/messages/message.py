"""The envelope: one immutable message for everything on the bus.

What the fields mean is told in docs/messages.md. Delivery states live on the bus, not here.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import msgspec
from ulid import ULID

from hermes_bot.errors import PermanentError
from hermes_bot.messages.upgrades import VERSION, upgraded

PRIORITY_OPERATOR = 9
PRIORITY_USER = 8
PRIORITY_SUBTASK = 5
PRIORITY_NOTICE = 2


class Kind(StrEnum):
    """What a message asks of its receiver."""

    REQUEST = "request"
    RESPONSE = "response"
    CALLBACK = "callback"
    EVENT = "event"
    HEARTBEAT = "heartbeat"
    ERROR = "error"


class Hop(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a chain: who handled what, when, and what came of it."""

    at: datetime
    agent: str
    type: str
    outcome: str


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """The original request's text, whole, and one line for each hop since."""

    text: str = ""
    hops: tuple[Hop, ...] = ()


def new_message_id() -> str:
    """Return a fresh root id, `MSG-<ulid>`; ids made later sort later (to the millisecond)."""
    return f"MSG-{ULID()}"


def new_trace_id() -> str:
    """Return a W3C trace id: 32 lower-case hex digits (https://www.w3.org/TR/trace-context/#trace-id)."""
    return secrets.token_hex(16)


def utc_now() -> datetime:
    """Return the current time, aware, in UTC."""
    return datetime.now(UTC)


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """An immutable envelope. Only `type`, `sender` and `context_id` are required; see docs/messages.md.

    A message made by `child` has an empty id until the bus stamps it, in order of production, so that a re-run of
    the same handler makes the same ids. `extra` holds what a newer sender's envelope had beside the fields known
    here; it is written again where it stood.
    """

    type: str
    sender: str
    context_id: str
    id: str = msgspec.field(default_factory=new_message_id)
    kind: Kind = Kind.EVENT
    recipient: str = ""
    task_id: str = ""
    trace_id: str = msgspec.field(default_factory=new_trace_id)
    data: dict[str, Any] = msgspec.field(default_factory=dict)
    priority: int = PRIORITY_USER
    created_at: datetime = msgspec.field(default_factory=utc_now)
    not_before: datetime | None = None
    ttl_s: float | None = None
    hops: int = 0
    processed_by: tuple[tuple[str, str, str], ...] = ()
    context_chain: Chain = msgspec.field(default_factory=Chain)
    expects: dict[str, Any] | None = None
    reply_to: str = ""
    version: int = VERSION
    replay: bool = False
    extra: dict[str, Any] | None = None

    @property
    def task(self) -> str:
        """The unit of idempotency: `task_id`, or the id where none was given."""
        return self.task_id or self.id

    def child(
        self,
        type: str,
        data: dict[str, Any] | msgspec.Struct | None = None,
        *,
        recipient: str = "",
        context_id: str = "",
        trace_id: str = "",
        kind: Kind = Kind.EVENT,
        priority: int | None = None,
        not_before: datetime | None = None,
        task_id: str = "",
        ttl_s: float | None = None,
        expects: dict[str, Any] | None = None,
        reply_to: str = "",
    ) -> Message:
        """Return an unstamped message that follows from this one; the bus gives it id, sender, hops and chain."""
        body = msgspec.to_builtins(data) if isinstance(data, msgspec.Struct) else data or {}
        return Message(
            type=type,
            sender="",
            context_id=context_id or self.context_id,
            id="",
            kind=kind,
            recipient=recipient,
            task_id=task_id,
            trace_id=trace_id or self.trace_id,
            data=body,
            priority=self.priority if priority is None else priority,
            not_before=not_before,
            ttl_s=ttl_s,
            context_chain=self.context_chain,
            expects=expects,
            reply_to=reply_to,
            replay=self.replay,
        )


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Message)
_KNOWN = frozenset(Message.__struct_fields__) - {"extra"}


def encode(message: Message) -> bytes:
    """Return the message as UTF-8 JSON; fields that hold their default are left out."""
    if not message.extra:
        return _ENCODER.encode(message)
    known: dict[str, Any] = msgspec.to_builtins(message)
    del known["extra"]
    return _ENCODER.encode({**message.extra, **known})


def decode(raw: bytes) -> Message:
    """Return the message in `raw`, of this version or an older one; raise PermanentError where it is not one."""
    try:
        message = _DECODER.decode(raw)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return _decode_slowly(raw)
    return message if message.version == VERSION and message.extra is None else _decode_slowly(raw)


def _decode_slowly(raw: bytes) -> Message:
    """Return a message that has unknown fields or another version; say what is wrong with one that is none."""
    try:
        fields = msgspec.json.decode(raw, type=dict[str, Any])
        fields = upgraded(fields)
        extra = {name: value for name, value in fields.items() if name not in _KNOWN}
        known = {name: value for name, value in fields.items() if name in _KNOWN}
        message = msgspec.convert(known, Message)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise PermanentError(f"not a message: {error}") from error
    return msgspec.structs.replace(message, extra=extra or None)
