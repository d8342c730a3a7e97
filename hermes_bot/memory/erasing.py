"""All words of one person in Hermes' own tables: which rows hold them, and what is left of each when they are gone.

A ticket stays with its state and no words; an approval with what was decided; the audit with its chain. What only
served the work (runs, boards, windows, held replies) goes. A test holds `ERASED` and `WORDLESS` against every table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, select, update

from hermes_bot.memory import fact_rows
from hermes_bot.memory.owner import PersonOwner
from hermes_bot.messages.message import Message
from hermes_bot.store import tables as t

_AT_ONCE = 400

Blank = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is a person's: their tickets, the messages that began there, the approvals asked for them."""

    person: PersonOwner
    numbers: frozenset[int] = frozenset()
    roots: frozenset[str] = frozenset()
    approvals: frozenset[str] = frozenset()
    ticket_ids: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ticket_ids", frozenset(f"T-{number}" for number in self.numbers))

    def began(self, message_id: str) -> bool:
        """Return whether the message follows from one of the person's: a child has its parent's id in front."""
        while message_id:
            if message_id in self.roots:
                return True
            message_id = message_id.rpartition("-")[0]
        return False

    def concerns(self, message: Message) -> bool:
        """Return whether the message holds words of the person, or about them."""
        data = message.data
        inbound = data.get("inbound")
        said = [data, inbound] if isinstance(inbound, dict) else [data]
        return (
            self.began(message.id)
            or self.began(str(data.get("reference", "")))
            or data.get("ticket_id") in self.ticket_ids
            or data.get("approval_id") in self.approvals
            or any(self._wrote(each) for each in said)
        )

    def _wrote(self, data: Mapping[str, Any]) -> bool:
        teams = {data.get("team", ""), data.get("user_team", "")} - {"", None}
        return data.get("user") == self.person.user and (not teams or self.person.team in teams)


def scope_of(connection: Connection, person: PersonOwner) -> Scope:
    """Return what is the person's, as of now."""
    mine = t.tickets.c.team == person.team, t.tickets.c.requester == person.user
    rows = connection.execute(select(t.tickets.c.number, t.tickets.c.opened_by).where(*mine))
    found = rows.all()
    numbers = frozenset(row.number for row in found)
    roots = _values(connection, t.ticket_messages.c.message_id, t.ticket_messages.c.ticket_number, numbers)
    approvals = _values(connection, t.approvals.c.id, t.approvals.c.ticket_id, {f"T-{number}" for number in numbers})
    return Scope(
        person=person,
        numbers=numbers,
        roots=frozenset(roots | {row.opened_by for row in found}),
        approvals=frozenset(approvals),
    )


def _values(connection: Connection, wanted: Any, column: Any, values: Collection[Any]) -> set[Any]:
    conditions = _portions(column, values)
    return {value for condition in conditions for value in connection.scalars(select(wanted).where(condition))}


def _portions(column: Any, values: Collection[Any]) -> list[ColumnElement[bool]]:
    """Return conditions that together say that the column has one of the values; a statement takes only so many."""
    wanted = sorted(values)
    return [column.in_(wanted[start : start + _AT_ONCE]) for start in range(0, len(wanted), _AT_ONCE)]


def persons_called(connection: Connection, user: str) -> list[PersonOwner]:
    """Return who has this user id, in each team that the tables know one of."""
    ticket = select(t.tickets.c.team).where(t.tickets.c.requester == user)
    fact = select(t.facts.c.owner_team).where(t.facts.c.owner_kind == "person", t.facts.c.owner_id == user)
    vouched = select(t.vouched_people.c.team).where(t.vouched_people.c.id == user)
    teams = {team for wanted in (ticket, fact, vouched) for team in connection.scalars(wanted)}
    return [PersonOwner(team, user) for team in sorted(teams)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What happens to the rows of a table that are the person's: `blank` says what stands there instead, None deletes.

    `mine` are the conditions on rows, one for each portion of ids.
    """

    table: Table
    mine: Callable[[Scope], Sequence[ColumnElement[bool]]]
    blank: Blank | None = None


def _within(column: Any, of: Callable[[Scope], Any]) -> Callable[[Scope], list[ColumnElement[bool]]]:
    return lambda scope: _portions(column, of(scope))


def _numbers(scope: Scope) -> frozenset[int]:
    return scope.numbers


def _ticket_ids(scope: Scope) -> frozenset[str]:
    return scope.ticket_ids


def _person(scope: Scope) -> list[ColumnElement[bool]]:
    people = t.vouched_people.c
    return [and_(people.team == scope.person.team, people.id == scope.person.user)]


def _chosen(scope: Scope) -> list[ColumnElement[bool]]:
    chosen = t.preferences.c
    return [and_(chosen.team == scope.person.team, chosen.user == scope.person.user)]


def _audited(scope: Scope) -> list[ColumnElement[bool]]:
    texts, rows = t.audit_texts.c, t.audit.c
    mine: list[ColumnElement[bool]] = [texts.owner == scope.person.user]
    return mine + [
        texts.number.in_(select(rows.number).where(condition))
        for condition in _within(rows.ticket_id, _ticket_ids)(scope)
    ]


def _told(scope: Scope) -> list[ColumnElement[bool]]:
    """Return the entries of the tickets' journals that hold more than a state, an owner or a name of ours."""
    entries = t.ticket_journal.c
    return [
        and_(condition, entries.what.not_in(STATES)) for condition in _within(entries.ticket_number, _numbers)(scope)
    ]


def said_in_threads(person: PersonOwner) -> ColumnElement[bool]:
    """Return the condition on what the person said in threads before anybody's ticket began there."""
    lines, there = t.thread_lines.c, select(t.tickets.c.number).where(t.tickets.c.team == person.team)
    return and_(lines.user == person.user, lines.ticket_number.in_(there))


def _before(scope: Scope) -> list[ColumnElement[bool]]:
    """Return what stood in threads before the person's tickets, and what the person said before those of others."""
    return [said_in_threads(scope.person), *_within(t.thread_lines.c.ticket_number, _numbers)(scope)]


def _learned(scope: Scope) -> list[ColumnElement[bool]]:
    """Return what the routes learned from the person's words: the changes that their proposals made."""
    proposals = t.route_proposals.c
    return [
        t.routing_changes.c.proposal.in_(select(proposals.number).where(condition))
        for condition in _within(proposals.ticket_id, _ticket_ids)(scope)
    ]


STATES = ("status", "owner", "priority", "rating", "assignee", "agent", "route", "language")
"""What a ticket's journal may still say about it afterwards."""

_NO_WORDS = {"subject": "", "why": "", "handoff_reason": "", "handoff_summary": "", "handoff_note": ""}

ERASED: Sequence[Erasure] = (
    Erasure(table=t.tickets, mine=_within(t.tickets.c.number, _numbers), blank=_NO_WORDS),
    Erasure(table=t.ticket_messages, mine=_within(t.ticket_messages.c.ticket_number, _numbers), blank={"text": ""}),
    Erasure(
        table=t.ticket_journal,
        mine=_told,
        blank={"was": "", "now": ""},
    ),
    Erasure(table=t.thread_lines, mine=_before),
    Erasure(table=t.held_replies, mine=_within(t.held_replies.c.ticket_number, _numbers)),
    Erasure(table=t.runs, mine=_within(t.runs.c.ticket_id, _ticket_ids)),
    Erasure(table=t.agent_runs, mine=_within(t.agent_runs.c.ticket_id, _ticket_ids)),
    Erasure(table=t.boards, mine=_within(t.boards.c.ticket_id, _ticket_ids)),
    Erasure(table=t.working_memories, mine=_within(t.working_memories.c.ticket_id, _ticket_ids)),
    Erasure(
        table=t.tool_calls,
        mine=_within(t.tool_calls.c.ticket_id, _ticket_ids),
        blank={"arguments": {}, "answer": {}},
    ),
    Erasure(
        table=t.approvals,
        mine=_within(t.approvals.c.ticket_id, _ticket_ids),
        blank={"arguments": {}, "title": "", "shown": [], "internal": [], "reason": "", "result": ""},
    ),
    Erasure(
        table=t.approval_questions,
        mine=_within(t.approval_questions.c.ticket_id, _ticket_ids),
        blank={"question": "", "answer": ""},
    ),
    Erasure(table=t.audit_texts, mine=_audited),
    Erasure(table=t.routing_changes, mine=_learned, blank={"lines": ""}),
    Erasure(
        table=t.route_proposals,
        mine=_within(t.route_proposals.c.ticket_id, _ticket_ids),
        blank={"utterance": "", "lines": "", "effect": "", "result": ""},
    ),
    Erasure(table=t.vouched_people, mine=_person),
    Erasure(table=t.preferences, mine=_chosen),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByMessage:
    """A table whose rows are the person's by the id of the message that they follow from, in `column`."""

    table: Table
    column: Any
    blank: Blank | None = None
    where: Sequence[ColumnElement[bool]] = ()


BY_MESSAGE: Sequence[ByMessage] = (
    ByMessage(table=t.journal, column=t.journal.c.message_id, blank={"error": ""}, where=(t.journal.c.error != "",)),
    ByMessage(table=t.task_graphs, column=t.task_graphs.c.message_id),
    ByMessage(table=t.task_answers, column=t.task_answers.c.task),
)


def erase(connection: Connection, scope: Scope, now: datetime) -> dict[str, int]:
    """Take the person's words out of every table; return how many rows of each were changed or deleted."""
    counts = {"facts": fact_rows.forget(connection, scope.person, now)}
    _decline(connection, scope)
    for erasure in ERASED:
        changed = sum(_erase(connection, erasure, condition) for condition in erasure.mine(scope))
        counts[erasure.table.name] = changed
    for each in BY_MESSAGE:
        counts[each.table.name] = _erase_by_message(connection, each, scope)
    return {name: count for name, count in counts.items() if count}


def _erase(connection: Connection, erasure: Erasure, condition: ColumnElement[bool]) -> int:
    if erasure.blank is None:
        return connection.execute(delete(erasure.table).where(condition)).rowcount
    words = [erasure.table.c[name] for name in erasure.blank]
    rows = connection.execute(select(*erasure.table.primary_key, *words).where(condition)).all()
    changed = [row for row in rows if any(getattr(row, name) != empty for name, empty in erasure.blank.items())]
    if changed:
        connection.execute(update(erasure.table).where(condition).values(**erasure.blank))
    return len(changed)


def _erase_by_message(connection: Connection, each: ByMessage, scope: Scope) -> int:
    key = next(iter(each.table.primary_key))
    rows = connection.execute(select(key, each.column).where(*each.where))
    mine = [row[0] for row in rows if scope.began(str(row[1]))]
    for start in range(0, len(mine), _AT_ONCE):
        here = key.in_(mine[start : start + _AT_ONCE])
        change: Any = delete(each.table) if each.blank is None else update(each.table).values(**each.blank)
        connection.execute(change.where(here))
    return len(mine)


def _decline(connection: Connection, scope: Scope) -> None:
    """Settle proposals that wait: nobody may accept words that are gone."""
    for condition in _within(t.route_proposals.c.ticket_id, _ticket_ids)(scope):
        waiting = t.route_proposals.c.status == "pending"
        connection.execute(update(t.route_proposals).where(condition, waiting).values(status="declined"))


def texts_of(connection: Connection, scope: Scope) -> set[str]:
    """Return the words that are about to go, to find them elsewhere: what the person said, whole."""
    found: set[str] = {fact.text for fact in fact_rows.listing(connection, scope.person, history=True)}
    for condition in _within(t.ticket_messages.c.ticket_number, _numbers)(scope):
        found |= set(connection.scalars(select(t.ticket_messages.c.text).where(condition)))
    for condition in _within(t.tickets.c.number, _numbers)(scope):
        found |= set(connection.scalars(select(t.tickets.c.subject).where(condition)))
    for condition in _before(scope):
        found |= set(connection.scalars(select(t.thread_lines.c.text).where(condition)))
    return {text for text in found if len(text) >= 4}
