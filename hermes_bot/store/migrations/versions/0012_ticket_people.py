"""Whose a ticket is: looked up for each message that they write, and for their Home; an index."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.create_index("tickets_by_requester", "tickets", ["team", "requester"])
