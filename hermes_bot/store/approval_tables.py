"""The tables around approvals: who said yes, what was asked of the customer, and the audit.

`audit` is append-only and holds no personal words: those stand in `audit_texts`, whose rows may be erased.
"""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, Integer, String, Table, Text

from hermes_bot.store.columns import UtcDateTime, metadata

Number = BigInteger().with_variant(Integer, "sqlite")

approval_votes = Table(
    "approval_votes",
    metadata,
    Column("approval_id", String(40), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("user", String(40), primary_key=True),
    Column("message_id", String(200), nullable=False),
    Column("at", UtcDateTime, nullable=False),
)

approval_questions = Table(
    "approval_questions",
    metadata,
    Column("message_id", String(200), primary_key=True),
    Column("approval_id", String(40), nullable=False, index=True),
    Column("ticket_id", String(24), nullable=False, index=True),
    Column("asked_by", String(40), nullable=False),
    Column("asked_at", UtcDateTime, nullable=False),
    Column("question", Text, nullable=False),
    Column("answer_message_id", String(200), nullable=False, default=""),
    Column("answered_at", UtcDateTime, nullable=True),
    Column("answer", Text, nullable=False, default=""),
)

audit = Table(
    "audit",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("key", String(400), nullable=False, unique=True),
    Column("at", UtcDateTime, nullable=False),
    Column("action", String(24), nullable=False),
    Column("subject", String(80), nullable=False, index=True),
    Column("ticket_id", String(24), nullable=False, index=True),
    Column("actor", String(80), nullable=False),
    Column("team", String(40), nullable=False),
    Column("facts", JSON, nullable=False),
    Column("texts", JSON, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
)

audit_texts = Table(
    "audit_texts",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("name", String(40), primary_key=True),
    Column("owner", String(40), nullable=False, index=True),
    Column("salt", String(64), nullable=False),
    Column("text", Text, nullable=False),
)
