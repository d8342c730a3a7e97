"""Agents: runs between their steps, and what models were asked and cost."""

import sqlalchemy as sa
from alembic import op

from hermes_bot.store.columns import UtcDateTime

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.create_table(
        "agent_runs",
        sa.Column("key", sa.String(length=300), nullable=False),
        sa.Column("agent", sa.String(length=80), nullable=False),
        sa.Column("ticket_id", sa.String(length=24), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("message_id", sa.String(length=200), nullable=False),
        sa.Column("origin", sa.JSON(), nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.Column("previous", sa.JSON(), nullable=False),
        sa.Column("decided", sa.JSON(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    with op.batch_alter_table("agent_runs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_agent_runs_ticket_id"), ["ticket_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_agent_runs_updated_at"), ["updated_at"], unique=False)

    op.create_table(
        "model_usage",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("ticket_id", sa.String(length=24), nullable=False),
        sa.Column("agent", sa.String(length=80), nullable=False),
        sa.Column("message_id", sa.String(length=200), nullable=False),
        sa.Column("model", sa.String(length=120), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("model_usage", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_model_usage_ticket_id"), ["ticket_id"], unique=False)
        batch_op.create_index("model_usage_by_day", ["day", "agent"], unique=False)
