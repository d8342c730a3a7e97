"""One record per hop: who handled which message, what came out, and how long it took."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

HOP = "hop"
ASIDE = frozenset({"ticket.changed", "ticket.due", "ticket.answered", "ticket.card"})
"""Types of what happens beside the way of a customer's message: in the file, but not on the screen."""

_LOG = logging.getLogger("hermes_bot.hops")


def log_hop(
    *,
    message_id: str,
    trace_id: str,
    type: str,
    agent: str,
    outputs: Sequence[str],
    duration_ms: float,
    attempt: int = 1,
    outcome: str = "done",
) -> None:
    """Record one handling. `outputs` are the types of the messages it made, `outcome` its delivery's new state."""
    fields = {"type": type, "outputs": list(outputs), "duration_ms": round(duration_ms, 3), "outcome": outcome}
    keys = {"message_id": message_id, "trace_id": trace_id, "agent": agent, "attempt": attempt}
    _LOG.info(HOP, extra=keys | fields)


def hop_line(fields: Mapping[str, object]) -> str:
    """Return `MSG-… ticket.created → entry → ticket.order  12 ms`, ending in `→ (terminal)` where nothing followed."""
    outputs = fields.get("outputs")
    made = ", ".join(str(each) for each in outputs if each not in ASIDE) if isinstance(outputs, list) else ""
    outcome = str(fields.get("outcome", "done"))
    end = made or "(terminal)" if outcome == "done" else f"({outcome}, attempt {fields.get('attempt', 1)})"
    duration = fields.get("duration_ms")
    took = _took(duration) if isinstance(duration, int | float) else ""
    return f"{fields.get('message_id')} {fields.get('type')} → {fields.get('agent')} → {end}  {took}".rstrip()


def on_the_way(record: logging.LogRecord) -> bool:
    """Return whether a person who watches wants to see this record."""
    return record.name != _LOG.name or getattr(record, "type", "") not in ASIDE


def _took(duration_ms: float) -> str:
    if duration_ms >= 1000:
        return f"{duration_ms / 1000:.1f} s"
    return f"{duration_ms:.0f} ms" if duration_ms >= 10 else f"{duration_ms:.1f} ms"
