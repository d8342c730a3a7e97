"""The tables of the memory: facts and their vectors, the blackboard of each ticket, what an agent works with."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, Index, Integer, LargeBinary, String, Table, Text

from hermes_bot.store.columns import UtcDateTime, metadata

BigId = BigInteger().with_variant(Integer, "sqlite")

facts = Table(
    "facts",
    metadata,
    Column("id", BigId, primary_key=True, autoincrement=True),
    Column("owner_kind", String(8), nullable=False),
    Column("owner_team", String(40), nullable=False),
    Column("owner_id", String(80), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("subject", String(200), nullable=False, default=""),
    Column("text", Text, nullable=False),
    Column("digest", String(32), nullable=False),
    Column("source_kind", String(16), nullable=False),
    Column("source_by", String(200), nullable=False),
    Column("ticket_id", String(24), nullable=False, default="", index=True),
    Column("message_id", String(200), nullable=False, default=""),
    Column("times", Integer, nullable=False, default=1),
    Column("at", UtcDateTime, nullable=False),
    Column("confirmed_at", UtcDateTime, nullable=False),
    Column("replaced_by", BigInteger, nullable=True),
    Column("version", BigInteger, nullable=False, index=True),
    Index("facts_by_owner", "owner_kind", "owner_team", "owner_id", "replaced_by"),
    sqlite_autoincrement=True,
)

fact_vectors = Table(
    "fact_vectors",
    metadata,
    Column("fact_id", BigId, primary_key=True, autoincrement=False),
    Column("encoder", String(200), nullable=False),
    Column("vector", LargeBinary, nullable=False),
)

forgotten_facts = Table(
    "forgotten_facts",
    metadata,
    Column("fact_id", BigId, primary_key=True, autoincrement=False),
    Column("version", BigInteger, nullable=False, index=True),
    Column("at", UtcDateTime, nullable=False),
)

memory_versions = Table(
    "memory_versions",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("version", BigInteger, nullable=False),
)

boards = Table(
    "boards",
    metadata,
    Column("ticket_id", String(24), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("key", String(120), nullable=False),
    Column("value", JSON, nullable=False),
    Column("author", String(80), nullable=False),
    Column("message_id", String(200), nullable=False),
    Column("at", UtcDateTime, nullable=False),
)

working_memories = Table(
    "working_memories",
    metadata,
    Column("ticket_id", String(24), primary_key=True),
    Column("agent", String(80), primary_key=True),
    Column("message_id", String(200), nullable=False),
    Column("state", JSON, nullable=False),
    Column("previous", JSON, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
)
