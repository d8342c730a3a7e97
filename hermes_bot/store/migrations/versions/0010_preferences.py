"""What people chose for themselves."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.create_table(
        "preferences",
        sa.Column("team", sa.String(length=40), nullable=False),
        sa.Column("user", sa.String(length=40), nullable=False),
        sa.Column("language", sa.String(length=16), server_default="", nullable=False),
        sa.Column("home", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("team", "user"),
    )
