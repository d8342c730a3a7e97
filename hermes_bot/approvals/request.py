"""An approval request as a value; `hermes_bot.approvals.approvals` keeps and settles them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class ApprovalStatus(StrEnum):
    """pending, then exactly one of the others, once."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One person's yes to the version that stands now."""

    user: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What was asked of the customer, and what they answered; `id` is that of the click that asked."""

    id: str
    asked_by: str
    asked_at: datetime
    question: str
    answer: str = ""
    answered_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRequest:
    """What an agent asks to be allowed; `key` is the same on a repeat. The rest is as in `ApprovalRequest`."""

    key: str
    ticket_id: str
    context_id: str
    requested_by: str
    agent: str
    tool: str
    level: str
    arguments: dict[str, Any]
    title: str
    shown: Sequence[tuple[str, str]]
    trace_id: str
    source_ts: str = ""
    internal: Sequence[tuple[str, str]] = ()
    fingerprint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """What a person is asked to allow. `shown` is what the card says, label and value, in the staff's language.

    `shown_hash` covers tool, arguments, `shown` and the version: what was shown is what may run, and nothing else.
    An edit makes a new `version`; `votes` are those for it, `needed` is how many different people must say yes, and
    `edited_by` who made it. `internal` is what only staff may read: checks, history.
    `context_id` is the ticket's conversation, where the waiting run is resumed; `source_ts` the customer's message
    that it rests on. `cause` says why it was cancelled.
    `result` is what the tool answered once it ran, in words. `fingerprint` is the tool's when it was asked for.
    """

    id: str
    ticket_id: str
    context_id: str
    agent: str
    tool: str
    level: str
    arguments: dict[str, Any]
    title: str
    shown: tuple[tuple[str, str], ...]
    shown_hash: str
    requested_by: str
    status: ApprovalStatus
    created_at: datetime
    expires_at: datetime
    trace_id: str
    settled_by: str = ""
    settled_at: datetime | None = None
    settle_message_id: str = ""
    reason: str = ""
    result: str = ""
    version: int = 1
    needed: int = 1
    source_ts: str = ""
    edited_by: str = ""
    cause: str = ""
    internal: tuple[tuple[str, str], ...] = ()
    fingerprint: str = ""
    votes: tuple[Vote, ...] = ()
    questions: tuple[Question, ...] = ()

    @property
    def pending(self) -> bool:
        """Whether it still waits for a decision."""
        return self.status is ApprovalStatus.PENDING
