"""The typed data of what happens around an approval besides the click that settles it."""

from __future__ import annotations

import msgspec

APPROVAL_CHANGED = "approval.changed"
APPROVAL_REMINDED = "approval.reminded"
APPROVAL_EDITED = "approval.edited"
APPROVAL_ASKED = "approval.asked"
APPROVAL_ANSWERED = "approval.answered"

EDITED, DELETED, STOPPED = "edited", "deleted", "stopped"
"""Why an approval was cancelled: `cause` of `approval.settled`."""


class ApprovalEdited(msgspec.Struct, frozen=True, kw_only=True):
    """`approval.edited`: somebody changed the arguments in the form behind Edit. `arguments` are as they were typed."""

    approval_id: str
    shown_hash: str
    arguments: dict[str, str]
    user: str
    team: str
    channel: str
    message_ts: str
    thread_ts: str = ""


class ApprovalAsked(msgspec.Struct, frozen=True, kw_only=True):
    """`approval.asked`: somebody puts a question to the customer; the approval stays open."""

    approval_id: str
    shown_hash: str
    question: str
    user: str
    team: str
    channel: str
    message_ts: str
    thread_ts: str = ""


class ApprovalAnswered(msgspec.Struct, frozen=True, kw_only=True):
    """`approval.answered`: the customer answered the question with this id; the edge shows it with the card."""

    approval_id: str
    question_id: str
