"""The tables of agents at work: the state of each run between its steps, and what models were asked and cost."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, Float, Index, Integer, String, Table

from hermes_bot.store.columns import UtcDateTime, metadata

agent_runs = Table(
    "agent_runs",
    metadata,
    Column("key", String(300), primary_key=True),
    Column("agent", String(80), nullable=False),
    Column("ticket_id", String(24), nullable=False, index=True),
    Column("fingerprint", String(64), nullable=False),
    Column("status", String(16), nullable=False),
    Column("message_id", String(200), nullable=False),
    Column("origin", JSON, nullable=False),
    Column("state", JSON, nullable=False),
    Column("previous", JSON, nullable=False),
    Column("decided", JSON, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False, index=True),
)

model_usage = Table(
    "model_usage",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("at", UtcDateTime, nullable=False),
    Column("day", String(10), nullable=False),
    Column("ticket_id", String(24), nullable=False, index=True),
    Column("agent", String(80), nullable=False),
    Column("message_id", String(200), nullable=False),
    Column("model", String(120), nullable=False),
    Column("tokens_in", Integer, nullable=False),
    Column("tokens_out", Integer, nullable=False),
    Column("cost_usd", Float, nullable=True),
    Column("seconds", Float, nullable=False),
    Index("model_usage_by_day", "day", "agent"),
    sqlite_autoincrement=True,
)
