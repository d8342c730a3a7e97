"""Hermes' own tables. A change here comes with a migration; a test holds both together."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    String,
    Table,
    Text,
    false,
)

from hermes_bot.store.agent_tables import agent_runs as agent_runs
from hermes_bot.store.agent_tables import model_usage as model_usage
from hermes_bot.store.approval_tables import approval_questions as approval_questions
from hermes_bot.store.approval_tables import approval_votes as approval_votes
from hermes_bot.store.approval_tables import audit as audit
from hermes_bot.store.approval_tables import audit_texts as audit_texts
from hermes_bot.store.columns import UtcDateTime as UtcDateTime
from hermes_bot.store.columns import metadata as metadata
from hermes_bot.store.memory_tables import boards as boards
from hermes_bot.store.memory_tables import fact_vectors as fact_vectors
from hermes_bot.store.memory_tables import facts as facts
from hermes_bot.store.memory_tables import forgotten_facts as forgotten_facts
from hermes_bot.store.memory_tables import memory_versions as memory_versions
from hermes_bot.store.memory_tables import working_memories as working_memories
from hermes_bot.store.people_tables import preferences as preferences
from hermes_bot.store.ticket_tables import held_replies as held_replies
from hermes_bot.store.ticket_tables import thread_lines as thread_lines
from hermes_bot.store.ticket_tables import ticket_journal as ticket_journal
from hermes_bot.store.ticket_tables import ticket_messages as ticket_messages
from hermes_bot.store.tool_tables import tool_calls as tool_calls

tickets = Table(
    "tickets",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("opened_by", String(80), nullable=False, unique=True),
    Column("context_id", String(120), nullable=False),
    Column("team", String(40), nullable=False),
    Column("channel", String(40), nullable=False),
    Column("channel_type", String(16), nullable=False),
    Column("thread_ts", String(40), nullable=False),
    Column("requester", String(40), nullable=False),
    Column("language", String(16), nullable=False),
    Column("subject", Text, nullable=False),
    Column("status", String(24), nullable=False),
    Column("owner", String(24), nullable=False),
    Column("route", String(80), nullable=False, default=""),
    Column("agent", String(80), nullable=False, default=""),
    Column("why", Text, nullable=False, default=""),
    Column("assignee", String(40), nullable=False, default=""),
    Column("handoff_round", Integer, nullable=False, default=0),
    Column("handoff_reason", Text, nullable=False, default=""),
    Column("handoff_summary", Text, nullable=False, default=""),
    Column("ownership_message_id", String(200), nullable=False, default=""),
    Column("priority", String(8), nullable=False, default="normal", server_default="normal"),
    Column("turn", Integer, nullable=False, default=0, server_default="0"),
    Column("version", Integer, nullable=False, default=0, server_default="0"),
    Column("card_due", Boolean, nullable=False, default=False, server_default=false(), index=True),
    Column("source_deleted", Boolean, nullable=False, default=False, server_default=false()),
    Column("first_response_at", UtcDateTime, nullable=True),
    Column("response_late", Boolean, nullable=False, default=False, server_default=false()),
    Column("rating", String(8), nullable=False, default="", server_default=""),
    Column("handoff_note", Text, nullable=False, default="", server_default=""),
    Column("returned_by", String(40), nullable=False, default="", server_default=""),
    Column("held_by", String(40), nullable=False, default="", server_default=""),
    Column("hold_id", String(200), nullable=False, default="", server_default=""),
    Column("suggest_to", String(40), nullable=False, default="", server_default=""),
    Column("opened_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Index("tickets_by_conversation", "context_id", "requester"),
    Index("tickets_by_change", "updated_at"),
    Index("tickets_by_requester", "team", "requester"),
    sqlite_autoincrement=True,
)

runs = Table(
    "runs",
    metadata,
    Column("ticket_id", String(24), primary_key=True),
    Column("agent", String(80), primary_key=True),
    Column("message_id", String(200), nullable=False),
    Column("state", JSON, nullable=False),
    Column("previous", JSON, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
)

approvals = Table(
    "approvals",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("key", String(300), nullable=False, unique=True),
    Column("ticket_id", String(24), nullable=False, index=True),
    Column("context_id", String(120), nullable=False, index=True),
    Column("agent", String(80), nullable=False),
    Column("tool", String(120), nullable=False),
    Column("level", String(4), nullable=False),
    Column("arguments", JSON, nullable=False),
    Column("title", Text, nullable=False),
    Column("shown", JSON, nullable=False),
    Column("shown_hash", String(64), nullable=False),
    Column("requested_by", String(40), nullable=False),
    Column("trace_id", String(32), nullable=False),
    Column("status", String(16), nullable=False, index=True),
    Column("created_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
    Column("settled_by", String(40), nullable=False, default=""),
    Column("settled_at", UtcDateTime, nullable=True),
    Column("settle_message_id", String(200), nullable=False, default=""),
    Column("reason", Text, nullable=False, default=""),
    Column("result", Text, nullable=False, default=""),
    Column("version", Integer, nullable=False, default=1, server_default="1"),
    Column("needed", Integer, nullable=False, default=1, server_default="1"),
    Column("source_ts", String(40), nullable=False, default="", server_default=""),
    Column("edited_by", String(40), nullable=False, default="", server_default=""),
    Column("cause", String(40), nullable=False, default="", server_default=""),
    Column("internal", JSON, nullable=False, default=list, server_default="[]"),
    Column("fingerprint", String(64), nullable=False, default="", server_default=""),
)

posts = Table(
    "posts",
    metadata,
    Column("key", String(220), primary_key=True),
    Column("channel", String(40), nullable=False),
    Column("ts", String(40), nullable=False),
    Column("posted_at", UtcDateTime, nullable=False),
)

journal = Table(
    "journal",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("kind", String(16), nullable=False),
    Column("started_at", UtcDateTime, nullable=False, index=True),
    Column("duration_ms", Float, nullable=False),
    Column("outcome", String(24), nullable=False),
    Column("message_id", String(200), nullable=False, index=True),
    Column("trace_id", String(64), nullable=False, index=True),
    Column("context_id", String(200), nullable=False),
    Column("type", String(120), nullable=False),
    Column("sender", String(80), nullable=False),
    Column("agent", String(80), nullable=False),
    Column("subscription", String(200), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("error", Text, nullable=False),
    Column("outputs", JSON, nullable=False),
    Column("bytes_in", BigInteger, nullable=False),
    Column("bytes_out", BigInteger, nullable=False),
    Column("name", String(120), nullable=False),
    Column("level", String(4), nullable=False),
    Column("tokens_in", Integer, nullable=False),
    Column("tokens_out", Integer, nullable=False),
    Column("cost_usd", Float, nullable=True),
    sqlite_autoincrement=True,
)

task_graphs = Table(
    "task_graphs",
    metadata,
    Column("key", String(300), primary_key=True),
    Column("agent", String(80), nullable=False),
    Column("context_id", String(120), nullable=False),
    Column("status", String(16), nullable=False),
    Column("message_id", String(200), nullable=False),
    Column("state", JSON, nullable=False),
    Column("previous", JSON, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False, index=True),
)

task_answers = Table(
    "task_answers",
    metadata,
    Column("task", String(300), primary_key=True),
    Column("answer", JSON, nullable=False),
    Column("at", UtcDateTime, nullable=False, index=True),
)

vouched_people = Table(
    "vouched_people",
    metadata,
    Column("team", String(40), primary_key=True),
    Column("id", String(80), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("email", String(320), nullable=False),
    Column("locale", String(16), nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
)

route_proposals = Table(
    "route_proposals",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("key", String(300), nullable=False, unique=True),
    Column("ticket_id", String(24), nullable=False, index=True),
    Column("route_was", String(80), nullable=False),
    Column("route", String(80), nullable=False),
    Column("language", String(16), nullable=False),
    Column("utterance", Text, nullable=False),
    Column("lines", Text, nullable=False, default=""),
    Column("effect", Text, nullable=False, default=""),
    Column("suggested_by", String(80), nullable=False),
    Column("suggested_at", UtcDateTime, nullable=False),
    Column("status", String(16), nullable=False, index=True),
    Column("settled_by", String(80), nullable=False, default=""),
    Column("settled_at", UtcDateTime, nullable=True),
    Column("settle_key", String(300), nullable=False, default=""),
    Column("result", Text, nullable=False, default=""),
    sqlite_autoincrement=True,
)

routing_changes = Table(
    "routing_changes",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("key", String(300), nullable=False, unique=True),
    Column("at", UtcDateTime, nullable=False, index=True),
    Column("by", String(80), nullable=False),
    Column("file", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("lines", Text, nullable=False),
    Column("proposal", Integer, nullable=True),
    sqlite_autoincrement=True,
)
