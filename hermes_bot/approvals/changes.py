"""What staff do to an open request besides deciding it: change what would run, and ask the customer something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hermes_bot.approvals.access import OLD_CARD, Access
from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.clicks import UNKNOWN, late_words
from hermes_bot.approvals.moves import Came, Settled
from hermes_bot.approvals.outputs import changed, private, settlement
from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.approvals.rows import Pairs
from hermes_bot.bus.port import Delivery
from hermes_bot.errors import PermanentError
from hermes_bot.messages.approval_payloads import ApprovalAsked, ApprovalEdited
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import read

QUESTION_TEXT = "approval.question"


@dataclass(frozen=True, slots=True, kw_only=True)
class Revised:
    """What would run after an edit, checked by the tool's schema and the policy; `problem` says why it cannot."""

    arguments: Mapping[str, Any]
    title: str = ""
    shown: Pairs = ()
    level: str = ""
    internal: Pairs = ()
    problem: str = ""


class Revise(Protocol):
    """Checks the arguments that somebody typed, on behalf of whoever asked; nothing runs."""

    async def __call__(self, request: ApprovalRequest, arguments: Mapping[str, str]) -> Revised:
        """Return what they make of the request. Raise TransientError when what is needed is away."""
        ...


class Tell(Protocol):
    """Says something to the customer in the ticket's conversation."""

    async def __call__(self, message: Message, request: ApprovalRequest, key: str, **values: str) -> Message:
        """Return the reply with the text of that key, in the customer's language."""
        ...


Attempt = ApprovalEdited | ApprovalAsked


class ChangeDesk:
    """The bus handlers of agent `approvals` for `approval.edited` and `approval.asked`."""

    def __init__(self, approvals: Approvals, access: Access, *, revise: Revise, tell: Tell) -> None:
        self._approvals = approvals
        self._access = access
        self._revise = revise
        self._tell = tell

    async def on_edited(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Make a new version of the request; its card is drawn anew, and what was approved before counts no more."""
        attempt = read(message, ApprovalEdited)
        request, refusal = await self._admitted(message, attempt, "edit")
        if request is None:
            return refusal
        revised = await self._revise(request, attempt.arguments)
        if revised.problem:
            return [_private(message, attempt, f"Nothing was changed: {revised.problem}", request)]
        if revised.arguments == request.arguments and not self._made_by(request, attempt):
            return [_private(message, attempt, "Nothing was changed: that is what stands there already.", request)]
        came = await self._approvals.edit(
            request.id,
            by=attempt.user,
            message_id=message.id,
            seen=attempt.shown_hash,
            arguments=revised.arguments,
            title=revised.title,
            shown=revised.shown,
            level=revised.level,
            internal=revised.internal,
            team=attempt.team,
        )
        return _outputs(message, attempt, came)

    async def on_asked(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Put the question to the customer; the request stays open."""
        attempt = read(message, ApprovalAsked)
        request, refusal = await self._admitted(message, attempt, "ask")
        if request is None:
            return refusal
        question = attempt.question.strip()
        if not question:
            return [_private(message, attempt, "There was no question in it. Nothing was done.", request)]
        came = await self._approvals.ask(
            request.id, by=attempt.user, message_id=message.id, question=question, team=attempt.team
        )
        if came.came is not Came.COUNTED:
            return _outputs(message, attempt, came)
        told = await self._tell(message, request, QUESTION_TEXT, question=question)
        return [told, changed(message, came.request)]

    async def _admitted(
        self, message: Message, attempt: Attempt, decision: str
    ) -> tuple[ApprovalRequest | None, list[Message]]:
        """Return the request if this person may do this to it, or what they are told."""
        try:
            request = await self._approvals.get(attempt.approval_id)
        except PermanentError:
            return None, [_private(message, attempt, UNKNOWN)]
        seen = request.shown_hash if self._made_by(request, attempt) else attempt.shown_hash
        why = await self._access.refusal(request, team=attempt.team, user=attempt.user, shown_hash=seen)
        if not why:
            return request, []
        await self._approvals.record_refusal(
            request, by=attempt.user, team=attempt.team, message_id=message.id, decision=decision, why=why
        )
        redraw = [changed(message, request)] if why == OLD_CARD else []
        return None, [*redraw, _private(message, attempt, why, request)]

    @staticmethod
    def _made_by(request: ApprovalRequest, attempt: Attempt) -> bool:
        """Return whether the version that stands now may be this very attempt's, handled for the second time."""
        return isinstance(attempt, ApprovalEdited) and request.version > 1 and request.edited_by == attempt.user


def _outputs(message: Message, attempt: Attempt, came: Settled) -> list[Message]:
    if came.came is Came.COUNTED:
        return [changed(message, came.request)]
    if came.came is Came.STALE:
        return [changed(message, came.request), _private(message, attempt, OLD_CARD, came.request)]
    words = _private(message, attempt, late_words(came.request, attempt.user), came.request)
    return [*settlement(message, came.request), words]


def _private(message: Message, attempt: Attempt, text: str, request: ApprovalRequest | None = None) -> Message:
    ticket_id = request.ticket_id if request is not None else ""
    return private(message, text, channel=attempt.channel, user=attempt.user, ticket_id=ticket_id)
