"""Tasks that were delegated, answers to requests, and people whom a library's caller vouches for."""

import sqlalchemy as sa
from alembic import op

from hermes_bot.store.tables import UtcDateTime

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.create_table(
        "task_graphs",
        sa.Column("key", sa.String(length=300), nullable=False),
        sa.Column("agent", sa.String(length=80), nullable=False),
        sa.Column("context_id", sa.String(length=120), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("message_id", sa.String(length=200), nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.Column("previous", sa.JSON(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "task_answers",
        sa.Column("task", sa.String(length=300), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("task"),
    )
    op.create_table(
        "vouched_people",
        sa.Column("team", sa.String(length=40), nullable=False),
        sa.Column("id", sa.String(length=80), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("locale", sa.String(length=16), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("team", "id"),
    )
    op.create_index("ix_task_graphs_updated_at", "task_graphs", ["updated_at"])
    op.create_index("ix_task_answers_at", "task_answers", ["at"])
