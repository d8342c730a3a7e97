"""Tools: the record of every call that writes, begun and finished."""

import sqlalchemy as sa
from alembic import op

from hermes_bot.store.columns import UtcDateTime

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.create_table(
        "tool_calls",
        sa.Column("key", sa.String(length=300), nullable=False),
        sa.Column("tool", sa.String(length=120), nullable=False),
        sa.Column("level", sa.String(length=4), nullable=False),
        sa.Column("agent", sa.String(length=80), nullable=False),
        sa.Column("ticket_id", sa.String(length=24), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.Column("started_at", UtcDateTime(), nullable=False),
        sa.Column("finished_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("key"),
    )
    with op.batch_alter_table("tool_calls", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tool_calls_started_at"), ["started_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_tool_calls_ticket_id"), ["ticket_id"], unique=False)
