"""The memory: facts and their vectors, blackboards, working memories."""

import sqlalchemy as sa
from alembic import op

from hermes_bot.store.columns import UtcDateTime

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Bring the schema forward."""
    _facts()
    op.create_table(
        "boards",
        sa.Column("ticket_id", sa.String(length=24), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.String(length=120), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("author", sa.String(length=80), nullable=False),
        sa.Column("message_id", sa.String(length=200), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("ticket_id", "version"),
    )
    op.create_table(
        "working_memories",
        sa.Column("ticket_id", sa.String(length=24), nullable=False),
        sa.Column("agent", sa.String(length=80), nullable=False),
        sa.Column("message_id", sa.String(length=200), nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.Column("previous", sa.JSON(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("ticket_id", "agent"),
    )


def _facts() -> None:
    op.create_table(
        "facts",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("owner_kind", sa.String(length=8), nullable=False),
        sa.Column("owner_team", sa.String(length=40), nullable=False),
        sa.Column("owner_id", sa.String(length=80), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=32), nullable=False),
        sa.Column("source_kind", sa.String(length=16), nullable=False),
        sa.Column("source_by", sa.String(length=200), nullable=False),
        sa.Column("ticket_id", sa.String(length=24), nullable=False),
        sa.Column("message_id", sa.String(length=200), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("confirmed_at", UtcDateTime(), nullable=False),
        sa.Column("replaced_by", sa.BigInteger(), nullable=True),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("facts_by_owner", "facts", ["owner_kind", "owner_team", "owner_id", "replaced_by"])
    op.create_index("ix_facts_ticket_id", "facts", ["ticket_id"])
    op.create_index("ix_facts_version", "facts", ["version"])
    op.create_table(
        "fact_vectors",
        sa.Column("fact_id", BIG, autoincrement=False, nullable=False),
        sa.Column("encoder", sa.String(length=200), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("fact_id"),
    )
    op.create_table(
        "forgotten_facts",
        sa.Column("fact_id", BIG, autoincrement=False, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("fact_id"),
    )
    op.create_index("ix_forgotten_facts_version", "forgotten_facts", ["version"])
    op.create_table(
        "memory_versions",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
