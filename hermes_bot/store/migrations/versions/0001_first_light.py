"""First light: tickets, runs, approvals, posts."""

import sqlalchemy as sa
from alembic import op

from hermes_bot.store.tables import UtcDateTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.create_table(
        "approvals",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("key", sa.String(length=300), nullable=False),
        sa.Column("ticket_id", sa.String(length=24), nullable=False),
        sa.Column("context_id", sa.String(length=120), nullable=False),
        sa.Column("agent", sa.String(length=80), nullable=False),
        sa.Column("tool", sa.String(length=120), nullable=False),
        sa.Column("level", sa.String(length=4), nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("shown", sa.JSON(), nullable=False),
        sa.Column("shown_hash", sa.String(length=64), nullable=False),
        sa.Column("requested_by", sa.String(length=40), nullable=False),
        sa.Column("trace_id", sa.String(length=32), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("settled_by", sa.String(length=40), nullable=False),
        sa.Column("settled_at", UtcDateTime(), nullable=True),
        sa.Column("settle_message_id", sa.String(length=200), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    with op.batch_alter_table("approvals", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_approvals_status"), ["status"], unique=False)
        batch_op.create_index(batch_op.f("ix_approvals_ticket_id"), ["ticket_id"], unique=False)

    op.create_table(
        "posts",
        sa.Column("key", sa.String(length=220), nullable=False),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("ts", sa.String(length=40), nullable=False),
        sa.Column("posted_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "runs",
        sa.Column("ticket_id", sa.String(length=24), nullable=False),
        sa.Column("agent", sa.String(length=80), nullable=False),
        sa.Column("message_id", sa.String(length=200), nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.Column("previous", sa.JSON(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("ticket_id", "agent"),
    )
    op.create_table(
        "ticket_messages",
        sa.Column("message_id", sa.String(length=80), nullable=False),
        sa.Column("ticket_number", sa.Integer(), nullable=False),
        sa.Column("opened", sa.Boolean(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("message_id"),
    )
    with op.batch_alter_table("ticket_messages", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ticket_messages_ticket_number"), ["ticket_number"], unique=False)

    op.create_table(
        "tickets",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("opened_by", sa.String(length=80), nullable=False),
        sa.Column("context_id", sa.String(length=120), nullable=False),
        sa.Column("team", sa.String(length=40), nullable=False),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("channel_type", sa.String(length=16), nullable=False),
        sa.Column("thread_ts", sa.String(length=40), nullable=False),
        sa.Column("requester", sa.String(length=40), nullable=False),
        sa.Column("language", sa.String(length=16), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=24), nullable=False),
        sa.Column("owner", sa.String(length=24), nullable=False),
        sa.Column("route", sa.String(length=80), nullable=False),
        sa.Column("agent", sa.String(length=80), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("assignee", sa.String(length=40), nullable=False),
        sa.Column("handoff_round", sa.Integer(), nullable=False),
        sa.Column("handoff_reason", sa.Text(), nullable=False),
        sa.Column("handoff_summary", sa.Text(), nullable=False),
        sa.Column("ownership_message_id", sa.String(length=200), nullable=False),
        sa.Column("opened_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("opened_by"),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("tickets", schema=None) as batch_op:
        batch_op.create_index("tickets_by_conversation", ["context_id", "requester"], unique=False)
