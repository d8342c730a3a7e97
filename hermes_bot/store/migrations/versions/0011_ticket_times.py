"""When a ticket changed last is looked up every second by what follows tickets: an index.

Revision ID: 0011
Revises: 0010
"""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index."""
    op.create_index("tickets_by_change", "tickets", ["updated_at"])
