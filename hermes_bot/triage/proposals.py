"""Keeps proposed utterances, and who changed the routes file when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from hermes_bot.errors import PermanentError
from hermes_bot.store.database import Database
from hermes_bot.store.numbers import number_in
from hermes_bot.store.tables import route_proposals, routing_changes
from hermes_bot.triage.proposal import Proposal, ProposalStatus

PREFIX = "P"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of the routes file: `by` whom (empty: edited by hand), the lines, and the proposal behind it."""

    at: datetime
    by: str
    file: str
    digest: str
    lines: str
    proposal: str = ""


class Proposals:
    """Proposals and changes in the store. Every method is one transaction and may be repeated."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def find(self, key: str) -> Proposal | None:
        """Return the proposal that was added with this key."""
        wanted = select(route_proposals).where(route_proposals.c.key == key)

        def work(connection: Connection) -> Proposal | None:
            row = connection.execute(wanted).first()
            return None if row is None else _proposal(row)

        return await self._database.run(work)

    async def add(self, key: str, **fields: str) -> Proposal:
        """Return the pending proposal for `key`, made if it is new."""
        values = {**fields, "key": key, "suggested_at": self._clock(), "status": ProposalStatus.PENDING.value}

        def work(connection: Connection) -> Proposal:
            known = connection.execute(select(route_proposals).where(route_proposals.c.key == key)).first()
            if known is not None:
                return _proposal(known)
            number = connection.execute(
                insert(route_proposals).values(**values).returning(route_proposals.c.number)
            ).scalar_one()
            return _by_number(connection, number)

        return await self._database.run(work)

    async def get(self, proposal_id: str) -> Proposal:
        """Return the proposal; raise PermanentError for an unknown id."""
        number = number_of(proposal_id)
        return await self._database.run(lambda connection: _by_number(connection, number))

    async def listing(self, *, status: ProposalStatus | None = None, limit: int = 50) -> Sequence[Proposal]:
        """Return the newest proposals first."""
        wanted = select(route_proposals).order_by(route_proposals.c.number.desc()).limit(limit)
        if status is not None:
            wanted = wanted.where(route_proposals.c.status == status.value)
        return await self._database.run(lambda connection: [_proposal(row) for row in connection.execute(wanted)])

    async def settle(self, proposal_id: str, status: ProposalStatus, *, by: str, key: str) -> Proposal:
        """Settle a pending proposal once; whose `settle_key` it then carries has settled it."""
        number = number_of(proposal_id)
        statement = (
            update(route_proposals)
            .where(route_proposals.c.number == number, route_proposals.c.status == ProposalStatus.PENDING.value)
            .values(status=status.value, settled_by=by, settled_at=self._clock(), settle_key=key)
        )

        def work(connection: Connection) -> Proposal:
            connection.execute(statement)
            return _by_number(connection, number)

        return await self._database.run(work)

    async def reopen(self, proposal_id: str, *, key: str) -> Proposal:
        """Make the proposal pending again that was settled with this key: what it promised could not be done."""
        number = number_of(proposal_id)
        statement = (
            update(route_proposals)
            .where(route_proposals.c.number == number, route_proposals.c.settle_key == key)
            .values(status=ProposalStatus.PENDING.value, settled_by="", settled_at=None, settle_key="")
        )

        def work(connection: Connection) -> Proposal:
            connection.execute(statement)
            return _by_number(connection, number)

        return await self._database.run(work)

    async def record_change(self, key: str, *, by: str, file: str, digest: str, lines: str, proposal: str = "") -> None:
        """Write down a change of the file, once for each key."""
        values = {
            "key": key,
            "at": self._clock(),
            "by": by,
            "file": file,
            "digest": digest,
            "lines": lines,
            "proposal": number_of(proposal) if proposal else None,
        }

        def work(connection: Connection) -> None:
            known = connection.execute(select(routing_changes.c.number).where(routing_changes.c.key == key)).first()
            if known is None:
                connection.execute(insert(routing_changes).values(**values))

        await self._database.run(work)

    async def wrote(self, digest: str) -> bool:
        """Return whether a content of the file with this digest was written by an accepted proposal."""
        wanted = select(routing_changes.c.number).where(
            routing_changes.c.digest == digest, routing_changes.c.proposal.is_not(None)
        )
        return await self._database.run(lambda connection: connection.execute(wanted).first() is not None)

    async def changes(self, *, limit: int = 50) -> Sequence[Change]:
        """Return the newest changes first."""
        wanted = select(routing_changes).order_by(routing_changes.c.number.desc()).limit(limit)
        return await self._database.run(lambda connection: [_change(row) for row in connection.execute(wanted)])


def number_of(proposal_id: str) -> int:
    """Return the number in `P-7`; raise PermanentError where there is none."""
    number = number_in(proposal_id, PREFIX)
    if number is None:
        raise PermanentError(f"{proposal_id!r} is not the id of a suggestion, such as P-7")
    return number


def _by_number(connection: Connection, number: int) -> Proposal:
    row = connection.execute(select(route_proposals).where(route_proposals.c.number == number)).first()
    if row is None:
        raise PermanentError(f"there is no suggestion {PREFIX}-{number}")
    return _proposal(row)


def _proposal(row: Row[Any]) -> Proposal:
    columns = dict(row._mapping)
    number, _ = columns.pop("number"), columns.pop("key")
    return Proposal(**columns | {"id": f"{PREFIX}-{number}", "status": ProposalStatus(row.status)})


def _change(row: Row[Any]) -> Change:
    proposal = "" if row.proposal is None else f"{PREFIX}-{row.proposal}"
    return Change(at=row.at, by=row.by, file=row.file, digest=row.digest, lines=row.lines, proposal=proposal)
