"""The keys that every record of one handling carries, bound once instead of passed to each call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

KEYS = ("message_id", "trace_id", "ticket_id", "agent", "attempt")

_BOUND: ContextVar[Mapping[str, object] | None] = ContextVar("hermes_log_fields", default=None)


@contextmanager
def bound(**fields: object) -> Iterator[None]:
    """Give every record that is logged inside, also by tasks started there, these fields."""
    before = _BOUND.set({**current(), **fields})
    try:
        yield
    finally:
        _BOUND.reset(before)


def current() -> Mapping[str, object]:
    """Return the fields bound here."""
    return _BOUND.get() or {}
