"""Reads the audit: whether the chain is whole, and its rows with the words that were not erased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from hermes_bot.approvals.audit import GENESIS, row_hash, text_hash
from hermes_bot.approvals.request import ApprovalStatus
from hermes_bot.store.approval_tables import audit, audit_texts
from hermes_bot.store.database import Database
from hermes_bot.store.tables import approvals

ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One thing that happened. `texts` are the words that still stand, `erased` the names of those that do not."""

    number: int
    at: datetime
    action: str
    subject: str
    ticket_id: str
    actor: str
    team: str
    facts: dict[str, Any]
    hash: str
    texts: dict[str, str] = field(default_factory=dict)
    erased: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a check of the chain found. `problem` is empty where it is whole, else it names the row `number`."""

    rows: int
    erased: int = 0
    problem: str = ""
    number: int = 0

    @property
    def whole(self) -> bool:
        """Whether nothing was changed, left out or put in."""
        return not self.problem


class AuditLog:
    """The audit in the store, for reading."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def verify(self) -> Verdict:
        """Return whether every row is what was written, follows the one before, and no settlement is missing."""
        rows, erased, previous, after = 0, 0, GENESIS, 0
        while True:
            page, words = await self._page(after)
            for row in page:
                problem = _fault(row, number=rows + 1, previous=previous, words=words)
                if problem:
                    return Verdict(rows=rows, erased=erased, problem=problem, number=row.number)
                erased += sum((row.number, name) not in words for name in row.texts)
                rows, previous, after = rows + 1, row.hash, row.number
            if len(page) < ROWS_AT_ONCE:
                break
        problem = await self._database.run(_unsaid)
        return Verdict(rows=rows, erased=erased, problem=problem, number=rows if problem else 0)

    async def export(self, *, ticket_id: str = "", subject: str = "") -> Sequence[AuditRow]:
        """Return the rows, oldest first; those of one ticket or one approval where that is named."""
        found: list[AuditRow] = []
        after = 0
        while True:
            page, words = await self._page(after)
            wanted = (row for row in page if ticket_id in ("", row.ticket_id) and subject in ("", row.subject))
            found += [_row(row, words) for row in wanted]
            if len(page) < ROWS_AT_ONCE:
                return found
            after = page[-1].number

    async def _page(self, after: int) -> tuple[Sequence[Row[Any]], dict[tuple[int, str], tuple[str, str]]]:
        """Return the next rows, and salt and text of the words that belong to them and were not erased."""

        def work(connection: Connection) -> tuple[Sequence[Row[Any]], dict[tuple[int, str], tuple[str, str]]]:
            wanted = select(audit).where(audit.c.number > after).order_by(audit.c.number).limit(ROWS_AT_ONCE)
            rows = connection.execute(wanted).all()
            last = rows[-1].number if rows else after
            texts = select(audit_texts).where(audit_texts.c.number > after, audit_texts.c.number <= last)
            kept = (row for row in connection.execute(texts) if row.text)
            return rows, {(row.number, row.name): (row.salt, row.text) for row in kept}

        return await self._database.run(work)


def _fault(row: Row[Any], *, number: int, previous: str, words: dict[tuple[int, str], tuple[str, str]]) -> str:
    if row.number != number:
        return f"row {number} is missing: after it comes row {row.number}"
    if row.previous != previous:
        return f"row {row.number} does not follow the one before it"
    if row_hash(row._asdict()) != row.hash:
        return f"row {row.number} ({row.action} {row.subject}) is not what was written"
    for name, expected in row.texts.items():
        kept = words.get((row.number, name))
        if kept is not None and text_hash(*kept) != expected:
            return f"row {row.number} ({row.action} {row.subject}): its {name} is not what was written"
    return ""


def _unsaid(connection: Connection) -> str:
    """Return which settled approval the audit is silent about: its end may have been cut off."""
    told = select(audit.c.subject, audit.c.action)
    said: dict[str, set[str]] = {}
    for row in connection.execute(told):
        said.setdefault(row.subject, set()).add(row.action)
    settled = approvals.c.status != ApprovalStatus.PENDING.value
    for row in connection.execute(select(approvals.c.id, approvals.c.status).where(settled)):
        actions = said.get(row.id, set())
        if actions and row.status not in actions:
            return f"{row.id} is {row.status}, but the audit does not say so: its end may be cut off"
    return ""


def _row(row: Row[Any], words: dict[tuple[int, str], tuple[str, str]]) -> AuditRow:
    kept = {name: words[row.number, name][1] for name in row.texts if (row.number, name) in words}
    return AuditRow(
        number=row.number,
        at=row.at,
        action=row.action,
        subject=row.subject,
        ticket_id=row.ticket_id,
        actor=row.actor,
        team=row.team,
        facts=row.facts,
        hash=row.hash,
        texts=kept,
        erased=tuple(sorted(set(row.texts) - set(kept))),
    )
