"""Keeps approval requests and settles each exactly once, in the database."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, func, insert, select, update

from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.errors import PermanentError
from hermes_bot.store.database import Database
from hermes_bot.store.tables import approvals

REASON_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The request after an attempt to settle it, and whether this attempt is the one that did."""

    request: ApprovalRequest
    won: bool


class Approvals:
    """Approval requests in the store. Every method is one transaction and may be repeated."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime], expires_after_s: float) -> None:
        self._database = database
        self._clock = clock
        self._lifetime = timedelta(seconds=expires_after_s)

    async def request(
        self,
        *,
        key: str,
        ticket_id: str,
        context_id: str,
        requested_by: str,
        agent: str,
        tool: str,
        level: str,
        arguments: dict[str, Any],
        title: str,
        shown: Sequence[tuple[str, str]],
        trace_id: str,
    ) -> ApprovalRequest:
        """Return the pending request for `key`, made if it is new: a repeat with the same key changes nothing."""
        row = {
            "id": f"APR-{hashlib.sha256(key.encode()).hexdigest()[:20]}",
            "key": key,
            "ticket_id": ticket_id,
            "context_id": context_id,
            "agent": agent,
            "tool": tool,
            "level": level,
            "arguments": arguments,
            "title": title,
            "shown": [list(pair) for pair in shown],
            "shown_hash": shown_hash(tool, arguments, title, shown),
            "requested_by": requested_by,
            "trace_id": trace_id,
            **self._begun(),
        }

        def work(connection: Connection) -> ApprovalRequest:
            known = connection.execute(select(approvals).where(approvals.c.key == key)).first()
            if known is None:
                connection.execute(insert(approvals).values(**row))
            return _by_id(connection, str(row["id"]))

        return await self._database.run(work)

    def _begun(self) -> dict[str, Any]:
        now = self._clock()
        return {"status": ApprovalStatus.PENDING.value, "created_at": now, "expires_at": now + self._lifetime}

    async def waiting_elsewhere(self, *, key: str, requested_by: str, tool: str, same: dict[str, Any]) -> bool:
        """Return whether another pending request of this person is for the same tool with the `same` arguments."""
        wanted = select(approvals.c.arguments).where(
            approvals.c.status == ApprovalStatus.PENDING.value,
            approvals.c.requested_by == requested_by,
            approvals.c.tool == tool,
            approvals.c.key != key,
        )
        found = await self._database.run(lambda connection: connection.scalars(wanted).all())
        return any(same.items() <= arguments.items() for arguments in found)

    async def get(self, approval_id: str) -> ApprovalRequest:
        """Return the request; raise PermanentError for an unknown id."""
        return await self._database.run(lambda connection: _by_id(connection, approval_id))

    async def listing(self, *, status: ApprovalStatus | None = None, limit: int = 50) -> Sequence[ApprovalRequest]:
        """Return the newest requests first."""
        wanted = select(approvals).order_by(approvals.c.created_at.desc(), approvals.c.id).limit(limit)
        if status is not None:
            wanted = wanted.where(approvals.c.status == status.value)
        return await self._database.run(lambda connection: [_request(row) for row in connection.execute(wanted)])

    async def count_waiting(self) -> int:
        """Return how many requests nobody has answered."""
        pending = approvals.c.status == ApprovalStatus.PENDING.value
        wanted = select(func.count()).select_from(approvals).where(pending)
        return await self._database.run(lambda connection: connection.scalar(wanted) or 0)

    async def settle(
        self, approval_id: str, status: ApprovalStatus, *, by: str, message_id: str, reason: str = ""
    ) -> Settled:
        """Settle a pending request once, by one conditional update that stores the message that did it.

        A repeat for the same `message_id` wins again, since it is the same click. An approval that comes after
        `expires_at` settles as expired: the default is no.
        """
        now = self._clock()

        def work(connection: Connection) -> Settled:
            pending = _by_id(connection, approval_id)
            late = status is ApprovalStatus.APPROVED and now > pending.expires_at
            connection.execute(
                update(approvals)
                .where(approvals.c.id == approval_id, approvals.c.status == ApprovalStatus.PENDING.value)
                .values(
                    status=(ApprovalStatus.EXPIRED if late else status).value,
                    settled_by="" if late else by,
                    settled_at=now,
                    settle_message_id=message_id,
                    reason=reason[:REASON_CHARACTERS],
                )
            )
            request = _by_id(connection, approval_id)
            return Settled(request=request, won=request.settle_message_id == message_id)

        return await self._database.run(work)

    async def approved_arguments(self, approval_id: str) -> dict[str, Any]:
        """Return the arguments that were shown and approved; raise PermanentError for anything else."""
        request = await self.get(approval_id)
        if request.status is not ApprovalStatus.APPROVED:
            raise PermanentError(f"{approval_id} is {request.status}, not approved")
        if shown_hash(request.tool, request.arguments, request.title, request.shown) != request.shown_hash:
            raise PermanentError(f"{approval_id}: what is stored is not what was shown")
        return request.arguments

    async def record_result(self, approval_id: str, result: str) -> None:
        """Keep what the tool answered, in words, for the card."""
        statement = update(approvals).where(approvals.c.id == approval_id).values(result=result)
        await self._database.run(lambda connection: connection.execute(statement))


def shown_hash(tool: str, arguments: dict[str, Any], title: str, shown: Sequence[tuple[str, str]]) -> str:
    """Return the SHA-256 of what runs and of what the card says, independent of the order of keys."""
    whole = [tool, arguments, title, [list(pair) for pair in shown]]
    return hashlib.sha256(msgspec.json.encode(whole, order="deterministic")).hexdigest()


def _by_id(connection: Connection, approval_id: str) -> ApprovalRequest:
    row = connection.execute(select(approvals).where(approvals.c.id == approval_id)).first()
    if row is None:
        raise PermanentError(f"there is no approval {approval_id}")
    return _request(row)


def _request(row: Row[Any]) -> ApprovalRequest:
    columns = dict(row._mapping)
    columns.pop("key")
    shown = tuple((str(label), str(value)) for label, value in row.shown)
    internal = tuple((str(label), str(value)) for label, value in row.internal)
    return ApprovalRequest(**columns | {"status": ApprovalStatus(row.status), "shown": shown, "internal": internal})
