"""An approval request as a value; `hermes_bot.approvals.approvals` keeps and settles them."""

from __future__ import annotations

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
class ApprovalRequest:
    """What a person is asked to allow. `shown` is what the card says, label and value, in the staff's language.

    `shown_hash` covers tool, arguments and `shown`: what was shown is what may run, and nothing else.
    `context_id` is the ticket's conversation, where the waiting run is resumed.
    `result` is what the tool answered once it ran, in words.
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
