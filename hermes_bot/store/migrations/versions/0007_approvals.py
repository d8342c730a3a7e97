"""Approvals: versions, votes, questions to the customer, and the audit, which can only grow."""

import sqlalchemy as sa
from alembic import op

from hermes_bot.store.columns import UtcDateTime

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
NO = "audit is append-only"


def upgrade() -> None:
    """Bring the schema forward."""
    with op.batch_alter_table("approvals", schema=None) as batch_op:
        batch_op.add_column(sa.Column("version", sa.Integer(), nullable=False, server_default="1"))
        batch_op.add_column(sa.Column("needed", sa.Integer(), nullable=False, server_default="1"))
        batch_op.add_column(sa.Column("source_ts", sa.String(length=40), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("edited_by", sa.String(length=40), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("cause", sa.String(length=40), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("internal", sa.JSON(), nullable=False, server_default="[]"))
        batch_op.create_index(batch_op.f("ix_approvals_context_id"), ["context_id"], unique=False)
    _votes_and_questions()
    _audit()
    _append_only()


def _votes_and_questions() -> None:
    op.create_table(
        "approval_votes",
        sa.Column("approval_id", sa.String(length=40), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("user", sa.String(length=40), nullable=False),
        sa.Column("message_id", sa.String(length=200), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("approval_id", "version", "user"),
    )
    op.create_table(
        "approval_questions",
        sa.Column("message_id", sa.String(length=200), nullable=False),
        sa.Column("approval_id", sa.String(length=40), nullable=False),
        sa.Column("ticket_id", sa.String(length=24), nullable=False),
        sa.Column("asked_by", sa.String(length=40), nullable=False),
        sa.Column("asked_at", UtcDateTime(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer_message_id", sa.String(length=200), nullable=False),
        sa.Column("answered_at", UtcDateTime(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("message_id"),
    )
    with op.batch_alter_table("approval_questions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_approval_questions_approval_id"), ["approval_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_approval_questions_ticket_id"), ["ticket_id"], unique=False)


def _audit() -> None:
    op.create_table(
        "audit",
        sa.Column("number", NUMBER, autoincrement=False, nullable=False),
        sa.Column("key", sa.String(length=400), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("action", sa.String(length=24), nullable=False),
        sa.Column("subject", sa.String(length=80), nullable=False),
        sa.Column("ticket_id", sa.String(length=24), nullable=False),
        sa.Column("actor", sa.String(length=80), nullable=False),
        sa.Column("team", sa.String(length=40), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("texts", sa.JSON(), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("key"),
    )
    op.create_table(
        "audit_texts",
        sa.Column("number", NUMBER, autoincrement=False, nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("owner", sa.String(length=40), nullable=False),
        sa.Column("salt", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", "name"),
    )
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_subject"), ["subject"], unique=False)
        batch_op.create_index(batch_op.f("ix_audit_ticket_id"), ["ticket_id"], unique=False)
    with op.batch_alter_table("audit_texts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_texts_owner"), ["owner"], unique=False)


def _append_only() -> None:
    """Let the database itself refuse a change of what is written."""
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER audit_no_{verb.lower()} BEFORE {verb} ON audit BEGIN SELECT RAISE(ABORT, '{NO}'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{NO}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit "
        "FOR EACH ROW EXECUTE FUNCTION audit_append_only()"
    )
    op.execute(
        "CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only()"
    )
