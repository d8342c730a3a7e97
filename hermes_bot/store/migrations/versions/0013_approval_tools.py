"""What the tool of an approval was when it was asked for; what was asked for before counts as unchanged."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.add_column("approvals", sa.Column("fingerprint", sa.String(length=64), server_default="", nullable=False))
