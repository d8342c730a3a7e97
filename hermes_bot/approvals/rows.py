"""Reads approvals out of their tables, with votes and questions, and says what a hash covers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, select

from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus, Question, Vote
from hermes_bot.errors import PermanentError
from hermes_bot.store.approval_tables import approval_questions as questions
from hermes_bot.store.approval_tables import approval_votes as votes
from hermes_bot.store.tables import approvals

Pairs = Sequence[tuple[str, str]]


def shown_hash(tool: str, arguments: dict[str, Any], title: str, shown: Pairs, version: int = 1) -> str:
    """Return the SHA-256 of what runs and of what the card says, independent of the order of keys."""
    whole: list[Any] = [tool, arguments, title, [list(pair) for pair in shown]]
    if version > 1:
        whole.append(version)
    return hashlib.sha256(msgspec.json.encode(whole, order="deterministic")).hexdigest()


def by_id(connection: Connection, approval_id: str, *, locked: bool = False) -> ApprovalRequest:
    """Return the request; `locked` keeps other transactions away from it. Raise PermanentError for an unknown id."""
    wanted = select(approvals).where(approvals.c.id == approval_id)
    row = connection.execute(wanted.with_for_update() if locked else wanted).first()
    if row is None:
        raise PermanentError(f"there is no approval {approval_id}")
    return request_of(connection, row)


def request_of(connection: Connection, row: Row[Any]) -> ApprovalRequest:
    """Return the request in a row of `approvals`."""
    columns = dict(row._mapping)
    columns.pop("key")
    known = {
        "status": ApprovalStatus(row.status),
        "shown": _pairs(row.shown),
        "internal": _pairs(row.internal),
        "votes": _votes(connection, row.id, row.version),
        "questions": _questions(connection, row.id),
    }
    return ApprovalRequest(**columns | known)


def _pairs(raw: Sequence[Sequence[object]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(label), str(value)) for label, value in raw)


def _votes(connection: Connection, approval_id: str, version: int) -> tuple[Vote, ...]:
    wanted = (
        select(votes.c.user, votes.c.at)
        .where(votes.c.approval_id == approval_id, votes.c.version == version)
        .order_by(votes.c.at, votes.c.user)
    )
    return tuple(Vote(user=row.user, at=row.at) for row in connection.execute(wanted))


def _questions(connection: Connection, approval_id: str) -> tuple[Question, ...]:
    wanted = (
        select(questions)
        .where(questions.c.approval_id == approval_id)
        .order_by(questions.c.asked_at, questions.c.message_id)
    )
    return tuple(
        Question(
            id=row.message_id,
            asked_by=row.asked_by,
            asked_at=row.asked_at,
            question=row.question,
            answer=row.answer,
            answered_at=row.answered_at,
        )
        for row in connection.execute(wanted)
    )
