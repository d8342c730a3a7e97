"""Routing: proposed utterances, and who changed the routes file when."""

import sqlalchemy as sa
from alembic import op

from hermes_bot.store.tables import UtcDateTime

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    op.create_table(
        "route_proposals",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=300), nullable=False),
        sa.Column("ticket_id", sa.String(length=24), nullable=False),
        sa.Column("route_was", sa.String(length=80), nullable=False),
        sa.Column("route", sa.String(length=80), nullable=False),
        sa.Column("language", sa.String(length=16), nullable=False),
        sa.Column("utterance", sa.Text(), nullable=False),
        sa.Column("lines", sa.Text(), nullable=False),
        sa.Column("effect", sa.Text(), nullable=False),
        sa.Column("suggested_by", sa.String(length=80), nullable=False),
        sa.Column("suggested_at", UtcDateTime(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("settled_by", sa.String(length=80), nullable=False),
        sa.Column("settled_at", UtcDateTime(), nullable=True),
        sa.Column("settle_key", sa.String(length=300), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("key"),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("route_proposals", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_route_proposals_status"), ["status"], unique=False)
        batch_op.create_index(batch_op.f("ix_route_proposals_ticket_id"), ["ticket_id"], unique=False)

    op.create_table(
        "routing_changes",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=300), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("by", sa.String(length=80), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("lines", sa.Text(), nullable=False),
        sa.Column("proposal", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("key"),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("routing_changes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_routing_changes_at"), ["at"], unique=False)
