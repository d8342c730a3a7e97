"""Tables beside `tickets`: what was said in and before them, what was changed in them, and replies that are held."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Boolean, Column, Index, Integer, String, Table, Text

from hermes_bot.store.columns import UtcDateTime, metadata

ticket_messages = Table(
    "ticket_messages",
    metadata,
    Column("message_id", String(80), primary_key=True),
    Column("ticket_number", Integer, nullable=False, index=True),
    Column("opened", Boolean, nullable=False),
    Column("ts", String(60), nullable=False, default="", server_default="", index=True),
    Column("text", Text, nullable=False, default="", server_default=""),
    Column("state", String(16), nullable=False, default="", server_default=""),
    Column("at", UtcDateTime, nullable=False),
)

ticket_journal = Table(
    "ticket_journal",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("ticket_number", Integer, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("message_id", String(200), nullable=False, index=True),
    Column("by", String(80), nullable=False),
    Column("what", String(24), nullable=False),
    Column("was", Text, nullable=False),
    Column("now", Text, nullable=False),
    Index("ticket_journal_by_ticket", "ticket_number", "number"),
    sqlite_autoincrement=True,
)

held_replies = Table(
    "held_replies",
    metadata,
    Column("message_id", String(200), primary_key=True),
    Column("ticket_number", Integer, nullable=False, index=True),
    Column("reply", JSON, nullable=False),
    Column("released_by", String(200), nullable=False, default=""),
    Column("at", UtcDateTime, nullable=False),
)

thread_lines = Table(
    "thread_lines",
    metadata,
    Column("ticket_number", Integer, primary_key=True, autoincrement=False),
    Column("ts", String(60), primary_key=True, index=True),
    Column("user", String(80), nullable=False, index=True),
    Column("writer", String(16), nullable=False),
    Column("root", Boolean, nullable=False),
    Column("text", Text, nullable=False),
)
