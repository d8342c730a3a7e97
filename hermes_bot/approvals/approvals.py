"""Keeps approval requests and settles each exactly once, in the database."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from hermes_bot.approvals import asking, moves
from hermes_bot.approvals.moves import Act, Revision, Settled
from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus, NewRequest
from hermes_bot.approvals.rows import Pairs, by_id, request_of, shown_hash
from hermes_bot.approvals.rules import ApprovalRules
from hermes_bot.errors import PermanentError
from hermes_bot.store.database import Database
from hermes_bot.store.tables import approvals

Answer = TypeVar("Answer")


class Approvals:
    """Approval requests in the store. Every method is one transaction and may be repeated.

    `policy` names the version of the rules and policies in force, for the audit.
    """

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], datetime],
        expires_after_s: float,
        rules: ApprovalRules | None = None,
        policy: str = "",
    ) -> None:
        self._database = database
        self._clock = clock
        self._lifetime = timedelta(seconds=expires_after_s)
        self._rules = rules or ApprovalRules()
        self._policy = policy

    async def request(self, new: NewRequest) -> ApprovalRequest:
        """Return the pending request for its key, made if it is new: a repeat with the same key changes nothing."""
        row = asdict(new) | {
            "shown": [list(pair) for pair in new.shown],
            "shown_hash": shown_hash(new.tool, new.arguments, new.title, new.shown),
            "internal": [list(pair) for pair in new.internal],
            **self._begun(new.key, self._rules.authority(new.tool, new.level, new.arguments).needed),
        }
        act = self._act(by=new.requested_by)
        return await self._run(lambda connection: moves.requested(connection, row, act))

    def _begun(self, key: str, needed: int) -> dict[str, Any]:
        now = self._clock()
        return {
            "id": f"APR-{hashlib.sha256(key.encode()).hexdigest()[:20]}",
            "needed": needed,
            "status": ApprovalStatus.PENDING.value,
            "created_at": now,
            "expires_at": now + self._lifetime,
        }

    async def waiting_elsewhere(self, *, key: str, requested_by: str, tool: str, same: dict[str, Any]) -> bool:
        """Return whether another pending request of this person is for the same tool with the `same` arguments."""
        wanted = select(approvals.c.arguments).where(
            self._waiting(),
            approvals.c.requested_by == requested_by,
            approvals.c.tool == tool,
            approvals.c.key != key,
        )
        found = await self._database.run(lambda connection: connection.scalars(wanted).all())
        return any(same.items() <= arguments.items() for arguments in found)

    async def get(self, approval_id: str) -> ApprovalRequest:
        """Return the request; raise PermanentError for an unknown id."""
        return await self._database.run(lambda connection: by_id(connection, approval_id))

    async def listing(self, *, status: ApprovalStatus | None = None, limit: int = 50) -> Sequence[ApprovalRequest]:
        """Return the newest requests first."""
        wanted = select(approvals).order_by(approvals.c.created_at.desc(), approvals.c.id).limit(limit)
        if status is not None:
            wanted = wanted.where(approvals.c.status == status.value)
        return await self._database.run(
            lambda connection: [request_of(connection, row) for row in connection.execute(wanted).all()]
        )

    async def touched_in(self, context_id: str, message_id: str) -> Sequence[ApprovalRequest]:
        """Return what waits in this conversation, and what this very message has settled before; oldest first."""
        open_or_mine = or_(
            approvals.c.status == ApprovalStatus.PENDING.value, approvals.c.settle_message_id == message_id
        )
        wanted = select(approvals).where(approvals.c.context_id == context_id, open_or_mine)
        wanted = wanted.order_by(approvals.c.created_at, approvals.c.id)
        return await self._database.run(
            lambda connection: [request_of(connection, row) for row in connection.execute(wanted).all()]
        )

    async def count_waiting(self) -> int:
        """Return how many requests nobody has answered."""
        wanted = select(func.count()).select_from(approvals).where(self._waiting())
        return await self._database.run(lambda connection: connection.scalar(wanted) or 0)

    async def settle(
        self,
        approval_id: str,
        status: ApprovalStatus,
        *,
        by: str,
        message_id: str,
        reason: str = "",
        cause: str = "",
        team: str = "",
    ) -> Settled:
        """Settle a pending request whoever is needed, by one conditional update that stores the message that did it."""
        act = self._act(by=by, message_id=message_id, team=team)
        return await self._run(
            lambda connection: moves.settle(connection, approval_id, status, act, reason=reason, cause=cause)
        )

    async def approve(
        self, approval_id: str, *, by: str, message_id: str, seen: str, needed: int = 1, team: str = ""
    ) -> Settled:
        """Count one person's yes to what they saw (its hash); the last one that is needed settles the request."""
        act = self._act(by=by, message_id=message_id, team=team)
        return await self._run(lambda connection: moves.vote(connection, approval_id, act, seen=seen, needed=needed))

    async def reject(self, approval_id: str, *, by: str, message_id: str, reason: str, team: str = "") -> Settled:
        """Settle a pending request as rejected: one no is enough."""
        return await self.settle(
            approval_id, ApprovalStatus.REJECTED, by=by, message_id=message_id, reason=reason, team=team
        )

    async def edit(
        self,
        approval_id: str,
        *,
        by: str,
        message_id: str,
        seen: str,
        arguments: Mapping[str, Any],
        title: str,
        shown: Pairs,
        level: str,
        internal: Pairs = (),
        team: str = "",
    ) -> Settled:
        """Make a new version of what would run, which needs as many people as the rules say for it."""
        request = await self.get(approval_id)
        checked = dict(arguments)
        revision = Revision(
            arguments=checked,
            title=title,
            shown=shown,
            internal=internal,
            level=level,
            needed=self._rules.authority(request.tool, level, checked).needed,
        )
        act = self._act(by=by, message_id=message_id, team=team)
        return await self._run(
            lambda connection: moves.edit(connection, approval_id, act, seen=seen, revision=revision)
        )

    async def ask(self, approval_id: str, *, by: str, message_id: str, question: str, team: str = "") -> Settled:
        """Keep a question to the customer; the request stays open."""
        act = self._act(by=by, message_id=message_id, team=team)
        return await self._run(lambda connection: asking.ask(connection, approval_id, act, question=question))

    async def answer(self, ticket_id: str, *, by: str, message_id: str, text: str) -> Sequence[asking.Answered]:
        """Return the questions in this ticket that the customer's words answer, kept with them; mostly none."""
        act = self._act(by=by, message_id=message_id)
        return await self._run(lambda connection: asking.answer(connection, ticket_id, act, text=text))

    async def record_refusal(
        self, request: ApprovalRequest, *, by: str, team: str, message_id: str, decision: str, why: str
    ) -> None:
        """Write to the audit that somebody pressed who may not."""
        act = self._act(by=by, message_id=message_id, team=team)
        await self._run(lambda connection: moves.refused(connection, request, act, decision=decision, why=why))

    async def approved_arguments(self, approval_id: str) -> dict[str, Any]:
        """Return the arguments that were shown and approved; raise PermanentError for anything else."""
        request = await self.get(approval_id)
        if request.status is not ApprovalStatus.APPROVED:
            raise PermanentError(f"{approval_id} is {request.status}, not approved")
        now = shown_hash(request.tool, request.arguments, request.title, request.shown, request.version)
        if now != request.shown_hash:
            raise PermanentError(f"{approval_id}: what is stored is not what was shown")
        return request.arguments

    async def record_result(self, approval_id: str, result: str) -> None:
        """Keep what the tool answered, in words, for the card and in the audit."""
        act = self._act(by="")
        await self._run(lambda connection: moves.ran(connection, approval_id, result, act))

    def _waiting(self) -> ColumnElement[bool]:
        """Return what is true of a request that somebody can still approve.

        One whose time is over counts as gone, also where nobody lived to settle it: what asked for it was stopped.
        """
        return and_(approvals.c.status == ApprovalStatus.PENDING.value, approvals.c.expires_at > self._clock())

    def _act(self, *, by: str, message_id: str = "", team: str = "") -> Act:
        return Act(by=by, message_id=message_id, at=self._clock(), team=team, policy=self._policy)

    async def _run(self, work: Callable[[Connection], Answer]) -> Answer:
        return await self._database.run(work)
