"""The table of tool calls that write: what was begun, and what came of it."""

from __future__ import annotations

from sqlalchemy import JSON, Column, String, Table

from hermes_bot.store.columns import UtcDateTime, metadata

tool_calls = Table(
    "tool_calls",
    metadata,
    Column("key", String(300), primary_key=True),
    Column("tool", String(120), nullable=False),
    Column("level", String(4), nullable=False),
    Column("agent", String(80), nullable=False),
    Column("ticket_id", String(24), nullable=False, index=True),
    Column("digest", String(64), nullable=False),
    Column("arguments", JSON, nullable=False),
    Column("status", String(16), nullable=False),
    Column("answer", JSON, nullable=False),
    Column("started_at", UtcDateTime, nullable=False, index=True),
    Column("finished_at", UtcDateTime, nullable=True),
)
