"""What can happen to an approval, each as part of one transaction: conditional, repeatable, and written to the audit.

The row of the approval is locked first and the audit's end last, always in this order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, insert, select, update

from hermes_bot.approvals.audit import Entry, append, parted
from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.approvals.rows import Pairs, by_id, shown_hash
from hermes_bot.store.approval_tables import approval_votes as votes
from hermes_bot.store.approval_tables import audit
from hermes_bot.store.tables import approvals

REASON_CHARACTERS = 500


class Came(StrEnum):
    """What came of an attempt."""

    SETTLED = "settled"  # this attempt is the one that settled it
    COUNTED = "counted"  # a yes of several that are needed, or a change that is kept
    TWICE = "twice"  # this person has said yes to this version before
    LATE = "late"  # it was settled before
    STALE = "stale"  # what was shown is not what would run now
    EDITOR = "editor"  # whoever made this version cannot be its only approver


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The request after an attempt, and what came of it."""

    request: ApprovalRequest
    came: Came

    @property
    def won(self) -> bool:
        """Whether this attempt is the one that settled it."""
        return self.came is Came.SETTLED


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Who does something, by which message, when, and under which policy."""

    by: str
    message_id: str
    at: datetime
    team: str = ""
    policy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What an edit makes of a request, checked by the tool, the policy and the rules."""

    arguments: dict[str, Any]
    title: str
    shown: Pairs
    internal: Pairs
    level: str
    needed: int


def settle(
    connection: Connection, approval_id: str, status: ApprovalStatus, act: Act, *, reason: str = "", cause: str = ""
) -> Settled:
    """Settle a pending request by one conditional update that stores the message that did it.

    A repeat for the same message wins again, since it is the same click. A decision that comes after `expires_at`
    settles it as expired: the default is no.
    """
    known = by_id(connection, approval_id, locked=True)
    by, kept = act.by, reason[:REASON_CHARACTERS]
    if status in (ApprovalStatus.APPROVED, ApprovalStatus.REJECTED) and act.at > known.expires_at:
        status, by, kept = ApprovalStatus.EXPIRED, "", ""
    values = {
        "status": status.value,
        "settled_by": by,
        "settled_at": act.at,
        "settle_message_id": act.message_id,
        "reason": kept,
        "cause": cause,
    }
    pending = approvals.c.status == ApprovalStatus.PENDING.value
    changed = connection.execute(update(approvals).where(approvals.c.id == approval_id, pending).values(**values))
    request = by_id(connection, approval_id)
    if changed.rowcount:
        facts = {"version": request.version, "cause": cause, "approvers": [vote.user for vote in request.votes]}
        append(connection, _entry(request, status.value, act, facts, {"reason": kept}, by=by), at=act.at)
    mine = request.settle_message_id == act.message_id
    return Settled(request=request, came=Came.SETTLED if mine else Came.LATE)


def vote(connection: Connection, approval_id: str, act: Act, *, seen: str, needed: int) -> Settled:
    """Count one person's yes to what they saw, by its hash; the last one that is needed settles the request.

    `needed` is what the rules ask today; the request never needs fewer than its card said.
    """
    request = by_id(connection, approval_id, locked=True)
    if not request.pending:
        return _after(connection, request, act)
    if act.at > request.expires_at:
        return settle(connection, approval_id, ApprovalStatus.APPROVED, act)
    if request.shown_hash != seen:
        return Settled(request=request, came=Came.STALE)
    request = _needing(connection, request, needed)
    if request.needed == 1 and act.by == request.edited_by:
        return Settled(request=request, came=Came.EDITOR)
    if act.by in {each.user for each in request.votes}:
        return Settled(request=request, came=Came.COUNTED if _voted(connection, request, act) else Came.TWICE)
    row = {"approval_id": request.id, "version": request.version, "user": act.by}
    connection.execute(insert(votes).values(**row, message_id=act.message_id, at=act.at))
    request = by_id(connection, approval_id)
    voters = {each.user for each in request.votes}
    if len(voters) >= request.needed and voters - {request.edited_by}:
        return settle(connection, approval_id, ApprovalStatus.APPROVED, act)
    facts = {"version": request.version, "count": len(voters), "needed": request.needed}
    append(connection, _entry(request, "counted", act, facts), at=act.at)
    return Settled(request=request, came=Came.COUNTED)


def edit(connection: Connection, approval_id: str, act: Act, *, seen: str, revision: Revision) -> Settled:
    """Make a new version of what would run: votes for the one before count no more. A repeat changes nothing."""
    request = by_id(connection, approval_id, locked=True)
    if connection.execute(select(audit.c.number).where(audit.c.key == f"edited:{act.message_id}")).first():
        return Settled(request=request, came=Came.COUNTED)
    if not request.pending:
        return Settled(request=request, came=Came.LATE)
    if act.at > request.expires_at:
        return settle(connection, approval_id, ApprovalStatus.EXPIRED, act)
    if request.shown_hash != seen:
        return Settled(request=request, came=Came.STALE)
    version, shown = request.version + 1, [list(pair) for pair in revision.shown]
    values = {
        "version": version,
        "arguments": revision.arguments,
        "title": revision.title,
        "shown": shown,
        "shown_hash": shown_hash(request.tool, revision.arguments, revision.title, revision.shown, version),
        "internal": [list(pair) for pair in revision.internal],
        "level": revision.level,
        "needed": revision.needed,
        "edited_by": act.by,
    }
    connection.execute(update(approvals).where(approvals.c.id == approval_id).values(**values))
    request = by_id(connection, approval_id)
    append(connection, _content(request, "edited", act, key=f"edited:{act.message_id}"), at=act.at)
    return Settled(request=request, came=Came.COUNTED)


def requested(connection: Connection, row: Mapping[str, Any], act: Act) -> ApprovalRequest:
    """Keep what is asked for, and write it to the audit; a repeat with the same key changes nothing."""
    known = connection.execute(select(approvals.c.id).where(approvals.c.key == row["key"])).first()
    if known is None:
        connection.execute(insert(approvals).values(**row))
        request = by_id(connection, row["id"])
        append(connection, _content(request, "requested", act, key=f"requested:{request.id}"), at=act.at)
    return by_id(connection, row["id"])


def refused(connection: Connection, request: ApprovalRequest, act: Act, *, decision: str, why: str) -> None:
    """Write to the audit that somebody pressed who may not."""
    facts = {"version": request.version, "decision": decision, "why": why}
    entry = _entry(request, "refused", act, facts, key=f"refused:{act.message_id}")
    append(connection, entry, at=act.at)


def ran(connection: Connection, approval_id: str, result: str, act: Act) -> None:
    """Keep what the tool answered, in words, for the card and in the audit."""
    connection.execute(update(approvals).where(approvals.c.id == approval_id).values(result=result))
    request = by_id(connection, approval_id)
    digest = shown_hash(request.tool, {}, result, ())[:16]
    entry = _entry(
        request, "ran", act, {"version": request.version}, {"result": result}, key=f"ran:{request.id}:{digest}"
    )
    append(connection, entry, at=act.at)


def noted(connection: Connection, request: ApprovalRequest, act: Act, action: str, texts: Mapping[str, str]) -> bool:
    """Write something that was said about the request to the audit; False where it is there already."""
    facts = {"version": request.version}
    return append(
        connection, _entry(request, action, act, facts, texts, key=f"{action}:{act.message_id}:{request.id}"), at=act.at
    )


def _needing(connection: Connection, request: ApprovalRequest, needed: int) -> ApprovalRequest:
    """Return the request, which needs more people where the rules have become stricter."""
    if needed <= request.needed:
        return request
    connection.execute(update(approvals).where(approvals.c.id == request.id).values(needed=needed))
    return by_id(connection, request.id)


def _voted(connection: Connection, request: ApprovalRequest, act: Act) -> bool:
    """Return whether this very message has counted before."""
    mine = (votes.c.approval_id == request.id) & (votes.c.message_id == act.message_id)
    return connection.execute(select(votes.c.user).where(mine)).first() is not None


def _after(connection: Connection, request: ApprovalRequest, act: Act) -> Settled:
    """Return what a vote that comes when all is settled means: a repeat of one that counted is one still."""
    if request.settle_message_id == act.message_id:
        return Settled(request=request, came=Came.SETTLED)
    return Settled(request=request, came=Came.COUNTED if _voted(connection, request, act) else Came.LATE)


def _content(request: ApprovalRequest, action: str, act: Act, *, key: str) -> Entry:
    """Return the entry that holds all that would run."""
    arguments, words = parted(request.arguments)
    facts = {
        "tool": request.tool,
        "level": request.level,
        "arguments": arguments,
        "version": request.version,
        "needed": request.needed,
        "shown_hash": request.shown_hash,
        "requested_by": request.requested_by,
        "expires_at": request.expires_at.isoformat(),
    }
    shown = "\n".join(f"{label}: {value}" for label, value in request.shown)
    return _entry(request, action, act, facts, words | {"title": request.title, "shown": shown}, key=key)


def _entry(
    request: ApprovalRequest,
    action: str,
    act: Act,
    facts: Mapping[str, Any],
    texts: Mapping[str, str] | None = None,
    *,
    key: str = "",
    by: str | None = None,
) -> Entry:
    said = {"message_id": act.message_id, "policy": act.policy}
    return Entry(
        key=key or f"{action}:{request.id}:{act.message_id}",
        action=action,
        subject=request.id,
        ticket_id=request.ticket_id,
        actor=act.by if by is None else by,
        team=act.team,
        owner=request.requested_by,
        facts={**facts, **{name: value for name, value in said.items() if value}},
        texts=texts or {},
    )
