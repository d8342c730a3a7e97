"""One entry of the journal: an attempt at a delivery, a tool call or a model call, without anybody's words.

Plain values only: who fills one in knows the bus or the tools, who keeps it knows SQL, and this file knows neither.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum

import msgspec

LONGEST_ERROR = 500


class RecordKind(StrEnum):
    """What was done."""

    ATTEMPT = "attempt"
    TOOL = "tool"
    MODEL = "model"


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What was done, by whom, when, for how long, and what came of it.

    `outputs` are (id, type) of the messages that were made. `name` and `level` are a tool's, `name` also a model's.
    `tokens_in`, `tokens_out` and `cost_usd` stay 0 and None where no model was asked. `outcome` is the delivery's new
    state, or the call's: done, needs_approval, refused, invalid, failed.
    """

    kind: RecordKind
    started_at: datetime
    duration_ms: float
    outcome: str
    message_id: str = ""
    trace_id: str = ""
    context_id: str = ""
    type: str = ""
    sender: str = ""
    agent: str = ""
    subscription: str = ""
    attempt: int = 1
    error: str = ""
    outputs: tuple[tuple[str, str], ...] = ()
    bytes_in: int = 0
    bytes_out: int = 0
    name: str = ""
    level: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None


Make = Callable[[], Record]
"""Makes a record when it is written, off the hot path: who adds one pays for a closure only."""
