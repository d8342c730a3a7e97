"""Questions to the customer while an approval is open, and their answers; parts of one transaction each."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, update

from hermes_bot.approvals.moves import Act, Came, Settled, noted, settle
from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.approvals.rows import by_id
from hermes_bot.store.approval_tables import approval_questions as questions
from hermes_bot.store.tables import approvals

QUESTION_CHARACTERS = 1_000
ANSWER_CHARACTERS = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question that a message of the customer's answers."""

    request: ApprovalRequest
    question_id: str


def ask(connection: Connection, approval_id: str, act: Act, *, question: str) -> Settled:
    """Keep a question to the customer; a repeat changes nothing."""
    request = by_id(connection, approval_id, locked=True)
    if any(each.id == act.message_id for each in request.questions):
        return Settled(request=request, came=Came.COUNTED)
    if not request.pending:
        return Settled(request=request, came=Came.LATE)
    if act.at > request.expires_at:
        return settle(connection, approval_id, ApprovalStatus.EXPIRED, act)
    row = {"message_id": act.message_id, "approval_id": request.id, "ticket_id": request.ticket_id}
    row |= {"asked_by": act.by, "question": question[:QUESTION_CHARACTERS]}
    connection.execute(insert(questions).values(**row, asked_at=act.at))
    noted(connection, request, act, "asked", {"question": question[:QUESTION_CHARACTERS]})
    return Settled(request=by_id(connection, approval_id), came=Came.COUNTED)


def answer(connection: Connection, ticket_id: str, act: Act, *, text: str) -> list[Answered]:
    """Take the customer's words as the answer to what is asked in this ticket; a repeat gives the same."""
    mine = (questions.c.ticket_id == ticket_id) & (questions.c.answer_message_id == act.message_id)
    known = connection.execute(select(questions).where(mine).order_by(questions.c.message_id)).all()
    if known:
        return [Answered(request=by_id(connection, row.approval_id), question_id=row.message_id) for row in known]
    waiting = (
        select(questions.c.message_id, questions.c.approval_id)
        .join(approvals, approvals.c.id == questions.c.approval_id)
        .where(
            questions.c.ticket_id == ticket_id,
            questions.c.answer_message_id == "",
            approvals.c.status == ApprovalStatus.PENDING.value,
        )
        .order_by(questions.c.message_id)
    )
    return [
        _answered(connection, row.message_id, row.approval_id, act, text[:ANSWER_CHARACTERS])
        for row in connection.execute(waiting).all()
    ]


def _answered(connection: Connection, question_id: str, approval_id: str, act: Act, text: str) -> Answered:
    values = {"answer": text, "answered_at": act.at, "answer_message_id": act.message_id}
    connection.execute(update(questions).where(questions.c.message_id == question_id).values(**values))
    request = by_id(connection, approval_id)
    noted(connection, request, act, "answered", {"answer": text})
    return Answered(request=request, question_id=question_id)
