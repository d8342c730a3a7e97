"""Tickets: priority, first response, ratings, holds; what was said, every change, and replies that are held."""

import sqlalchemy as sa
from alembic import op

from hermes_bot.store.columns import UtcDateTime

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    with op.batch_alter_table("tickets", schema=None) as batch_op:
        batch_op.add_column(sa.Column("priority", sa.String(length=8), server_default="normal", nullable=False))
        batch_op.add_column(sa.Column("turn", sa.Integer(), server_default="0", nullable=False))
        batch_op.add_column(sa.Column("version", sa.Integer(), server_default="0", nullable=False))
        batch_op.add_column(sa.Column("card_due", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column("source_deleted", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column("first_response_at", UtcDateTime(), nullable=True))
        batch_op.add_column(sa.Column("response_late", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column("rating", sa.String(length=8), server_default="", nullable=False))
        batch_op.add_column(sa.Column("handoff_note", sa.Text(), server_default="", nullable=False))
        batch_op.add_column(sa.Column("returned_by", sa.String(length=40), server_default="", nullable=False))
        batch_op.add_column(sa.Column("held_by", sa.String(length=40), server_default="", nullable=False))
        batch_op.add_column(sa.Column("hold_id", sa.String(length=200), server_default="", nullable=False))
        batch_op.add_column(sa.Column("suggest_to", sa.String(length=40), server_default="", nullable=False))
        batch_op.create_index("ix_tickets_card_due", ["card_due"], unique=False)
    with op.batch_alter_table("ticket_messages", schema=None) as batch_op:
        batch_op.add_column(sa.Column("ts", sa.String(length=60), server_default="", nullable=False))
        batch_op.add_column(sa.Column("text", sa.Text(), server_default="", nullable=False))
        batch_op.add_column(sa.Column("state", sa.String(length=16), server_default="", nullable=False))
        batch_op.create_index("ix_ticket_messages_ts", ["ts"], unique=False)
    op.create_table(
        "ticket_journal",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("ticket_number", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("message_id", sa.String(length=200), nullable=False),
        sa.Column("by", sa.String(length=80), nullable=False),
        sa.Column("what", sa.String(length=24), nullable=False),
        sa.Column("was", sa.Text(), nullable=False),
        sa.Column("now", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("ticket_journal", schema=None) as batch_op:
        batch_op.create_index("ix_ticket_journal_message_id", ["message_id"], unique=False)
        batch_op.create_index("ticket_journal_by_ticket", ["ticket_number", "number"], unique=False)
    op.create_table(
        "held_replies",
        sa.Column("message_id", sa.String(length=200), nullable=False),
        sa.Column("ticket_number", sa.Integer(), nullable=False),
        sa.Column("reply", sa.JSON(), nullable=False),
        sa.Column("released_by", sa.String(length=200), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("message_id"),
    )
    with op.batch_alter_table("held_replies", schema=None) as batch_op:
        batch_op.create_index("ix_held_replies_ticket_number", ["ticket_number"], unique=False)
