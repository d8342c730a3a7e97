"""What stood in a thread before the bot was called into it."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.create_table(
        "thread_lines",
        sa.Column("ticket_number", sa.Integer(), nullable=False),
        sa.Column("ts", sa.String(length=60), nullable=False),
        sa.Column("user", sa.String(length=80), nullable=False),
        sa.Column("writer", sa.String(length=16), nullable=False),
        sa.Column("root", sa.Boolean(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("ticket_number", "ts"),
    )
    op.create_index(op.f("ix_thread_lines_ts"), "thread_lines", ["ts"])
    op.create_index(op.f("ix_thread_lines_user"), "thread_lines", ["user"])
