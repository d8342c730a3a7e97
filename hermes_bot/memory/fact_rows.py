"""Facts as rows: every SQL statement on them, each a function of a connection."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Row, bindparam, delete, func, insert, or_, select, update

from hermes_bot.memory.essence import essence, normalised
from hermes_bot.memory.fact import Fact, FactKind
from hermes_bot.memory.owner import Concluded, KnownError, Owner, Said, Source, Taught, key_of
from hermes_bot.store.locks import lock
from hermes_bot.store.memory_tables import fact_vectors, facts, forgotten_facts, memory_versions

Vector = NDArray[np.float32]
_OWNED = (
    facts.c.owner_kind == bindparam("kind"),
    facts.c.owner_team == bindparam("team"),
    facts.c.owner_id == bindparam("owner"),
)
_IDS = select(facts.c.id).where(*_OWNED, facts.c.replaced_by.is_(None))  # built once: a recall waits for it
_BY_IDS = select(facts).where(*_OWNED, facts.c.id.in_(bindparam("wanted", expanding=True)))
_VERSION = "facts"
_AT_ONCE = 500  # placeholders in one statement


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFact:
    """What is to be kept. `subject`: the newest fact of one subject holds, the others are history."""

    owner: Owner
    kind: FactKind
    text: str
    source: Source
    at: datetime
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What brings an index to `version`: drop `gone`, know `added` with their `vectors`, rows of one encoder.

    `forgotten` are those of `gone` that were deleted, so that the file must lose them at once.
    """

    version: int
    forgotten: Sequence[int]
    gone: Sequence[int]
    added: Sequence[int]
    vectors: Vector


def write(connection: Connection, new: NewFact, vector: Vector | None, encoder: str) -> Fact:
    """Keep the fact and return it as it then stands: the same said again counts, the newest of a subject holds."""
    lock(connection, "facts:" + "|".join(key_of(new.owner)))
    same = _same(connection, new)
    again = next((row for row in same if _is_repeat(row, new)), None)
    if again is not None:
        return _fact(_confirmed(connection, again, new))
    version = next_version(connection)
    holding = [row for row in same if row.replaced_by is None]
    newer = [row for row in holding if row.at > new.at]
    values = _values(new) | {"version": version, "replaced_by": newer[0].id if newer else None}
    number: int = connection.execute(insert(facts).values(values).returning(facts.c.id)).scalar_one()
    older = [row.id for row in holding if row.at <= new.at]
    connection.execute(update(facts).where(facts.c.id.in_(older)).values(replaced_by=number, version=version))
    if vector is not None:
        set_vectors(connection, [number], vector[None, :], encoder)
    return by_ids(connection, new.owner, [number])[0]


def _same(connection: Connection, new: NewFact) -> Sequence[Row[Any]]:
    """Return the owner's facts about the same thing, newest first."""
    about: ColumnElement[bool] = facts.c.digest == essence(new.text)
    if new.subject:
        about = or_(about & (facts.c.subject == ""), facts.c.subject == new.subject)
    else:
        about = about & (facts.c.subject == "")
    wanted = select(facts).where(*owned_by(new.owner), facts.c.kind == new.kind.value, about)
    return connection.execute(wanted.order_by(facts.c.id.desc())).all()


def _is_repeat(row: Row[Any], new: NewFact) -> bool:
    if normalised(row.text) != normalised(new.text):
        return False
    return row.replaced_by is None or _same_message(row.message_id, _message_id(new.source))


def _same_message(one: str, other: str) -> bool:
    """Return whether both come from one message: it, or what follows from it, which has its id in front."""
    return bool(one and other) and (one == other or one.startswith(f"{other}-") or other.startswith(f"{one}-"))


def _confirmed(connection: Connection, row: Row[Any], new: NewFact) -> Row[Any]:
    if _same_message(row.message_id, _message_id(new.source)):
        return row  # the same message, handled again or by another agent
    values = {"times": row.times + 1, "confirmed_at": max(row.confirmed_at, new.at)}
    connection.execute(update(facts).where(facts.c.id == row.id).values(values))
    return connection.execute(select(facts).where(facts.c.id == row.id)).one()


def _values(new: NewFact) -> dict[str, Any]:
    kind, team, owner_id = key_of(new.owner)
    source, by = _source(new.source)
    return {
        "owner_kind": kind,
        "owner_team": team,
        "owner_id": owner_id,
        "kind": new.kind.value,
        "subject": new.subject,
        "text": new.text,
        "digest": essence(new.text),
        "source_kind": source,
        "source_by": by,
        "ticket_id": getattr(new.source, "ticket_id", ""),
        "message_id": _message_id(new.source),
        "times": 1,
        "at": new.at,
        "confirmed_at": new.at,
    }


def _source(source: Source) -> tuple[str, str]:
    match source:
        case Said():
            return "customer", ""
        case Concluded(agent=agent):
            return "agent", agent
        case Taught(authority=authority, reference=reference):
            return "staff", reference or authority.by
        case KnownError(tool=tool):
            return "tool", tool


def _message_id(source: Source) -> str:
    found: str = getattr(source, "message_id", "")
    return found


def owned_by(owner: Owner) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that make a fact the owner's; every read and every deletion stands on them."""
    kind, team, owner_id = key_of(owner)
    return facts.c.owner_kind == kind, facts.c.owner_team == team, facts.c.owner_id == owner_id


def ids(connection: Connection, owner: Owner, kinds: Collection[FactKind] = ()) -> list[int]:
    """Return the ids of the owner's facts that hold."""
    if not kinds:
        return list(connection.scalars(_IDS, _named_owner(owner)))
    wanted = select(facts.c.id).where(*owned_by(owner), facts.c.replaced_by.is_(None))
    return list(connection.scalars(wanted.where(facts.c.kind.in_([kind.value for kind in kinds]))))


def naming(connection: Connection, owner: Owner, names: Collection[str], limit: int) -> list[int]:
    """Return ids of the owner's facts that hold and in which one of the names stands."""
    if not names:
        return []
    named = or_(*(func.lower(facts.c.text).contains(name, autoescape=True) for name in sorted(names)))
    wanted = select(facts.c.id).where(*owned_by(owner), facts.c.replaced_by.is_(None), named)
    return list(connection.scalars(wanted.order_by(facts.c.id.desc()).limit(limit)))


def by_ids(connection: Connection, owner: Owner, wanted: Sequence[int]) -> list[Fact]:
    """Return those of the facts that are the owner's."""
    rows: list[Row[Any]] = []
    for start in range(0, len(wanted), _AT_ONCE):
        some = {"wanted": list(wanted[start : start + _AT_ONCE])}
        rows += connection.execute(_BY_IDS, _named_owner(owner) | some)
    return [_fact(row) for row in rows]


def _named_owner(owner: Owner) -> dict[str, Any]:
    kind, team, owner_id = key_of(owner)
    return {"kind": kind, "team": team, "owner": owner_id}


def listing(connection: Connection, owner: Owner, *, history: bool) -> list[Fact]:
    """Return the owner's facts, newest first; with `history` those too that hold no more."""
    wanted = select(facts).where(*owned_by(owner)).order_by(facts.c.at.desc(), facts.c.id.desc())
    if not history:
        wanted = wanted.where(facts.c.replaced_by.is_(None))
    return [_fact(row) for row in connection.execute(wanted)]


def vectors(connection: Connection, wanted: Sequence[int], encoder: str) -> tuple[list[int], Vector]:
    """Return the ids among these that have a vector of this encoder, and the vectors, one row each."""
    rows: list[Row[Any]] = []
    for start in range(0, len(wanted), _AT_ONCE):
        some = fact_vectors.c.fact_id.in_(wanted[start : start + _AT_ONCE])
        rows += connection.execute(select(fact_vectors).where(some, fact_vectors.c.encoder == encoder))
    return [row.fact_id for row in rows], _stacked([row.vector for row in rows])


def set_vectors(connection: Connection, numbers: Sequence[int], rows: Vector, encoder: str) -> None:
    """Keep the vectors of the facts, of this encoder, instead of those of any other."""
    connection.execute(delete(fact_vectors).where(fact_vectors.c.fact_id.in_(numbers)))
    values = [
        {"fact_id": number, "encoder": encoder, "vector": np.ascontiguousarray(row, dtype="<f4").tobytes()}
        for number, row in zip(numbers, rows, strict=True)
    ]
    if values:
        connection.execute(insert(fact_vectors), values)


def encoded_later(connection: Connection, numbers: Sequence[int], rows: Vector, encoder: str) -> None:
    """Keep vectors for facts that had none of this encoder; those that are gone by now get none."""
    left = set(connection.scalars(select(facts.c.id).where(facts.c.id.in_(numbers))))
    here = [place for place, number in enumerate(numbers) if number in left]
    set_vectors(connection, [numbers[place] for place in here], rows[here], encoder)
    version = next_version(connection)
    connection.execute(update(facts).where(facts.c.id.in_(sorted(left))).values(version=version))


def not_encoded(connection: Connection, encoder: str, limit: int) -> list[tuple[int, str]]:
    """Return id and text of facts that hold and have no vector of this encoder."""
    mine = (fact_vectors.c.fact_id == facts.c.id) & (fact_vectors.c.encoder == encoder)
    wanted = (
        select(facts.c.id, facts.c.text)
        .select_from(facts.outerjoin(fact_vectors, mine))
        .where(facts.c.replaced_by.is_(None), fact_vectors.c.fact_id.is_(None))
        .order_by(facts.c.id)
        .limit(limit)
    )
    return [(row.id, row.text) for row in connection.execute(wanted)]


def version_of(connection: Connection) -> int:
    """Return the version that the last change of any fact made."""
    wanted = select(memory_versions.c.version).where(memory_versions.c.name == _VERSION)
    return connection.execute(wanted).scalar() or 0


def next_version(connection: Connection) -> int:
    """Return a new version; the row stays locked to the end of the transaction, so versions commit in order."""
    lock(connection, "facts-version")
    here = memory_versions.c.name == _VERSION
    changed = update(memory_versions).where(here).values(version=memory_versions.c.version + 1)
    number = connection.execute(changed.returning(memory_versions.c.version)).scalar()
    if number is None:
        connection.execute(insert(memory_versions).values(name=_VERSION, version=1))
        return 1
    return int(number)


def changes(connection: Connection, since: int, encoder: str, limit: int) -> Changes:
    """Return what changed after a version, oldest first, at most about `limit` facts; no version is cut in two."""
    newest = version_of(connection)
    upto = newest
    after = select(facts.c.version).where(facts.c.version > since).order_by(facts.c.version).offset(limit).limit(1)
    cut = connection.execute(after).scalar()
    if cut is not None:
        upto = int(cut)
    span = (facts.c.version > since, facts.c.version <= upto)
    gone = list(connection.scalars(select(facts.c.id).where(*span, facts.c.replaced_by.is_not(None))))
    forgotten = forgotten_facts.c.version > since, forgotten_facts.c.version <= upto
    deleted = list(connection.scalars(select(forgotten_facts.c.fact_id).where(*forgotten)))
    joined = facts.join(fact_vectors, fact_vectors.c.fact_id == facts.c.id)
    wanted = select(facts.c.id, fact_vectors.c.vector).select_from(joined)
    rows = connection.execute(wanted.where(*span, facts.c.replaced_by.is_(None), fact_vectors.c.encoder == encoder))
    found = rows.all()
    vectors_ = _stacked([row.vector for row in found])
    added = [row.id for row in found]
    return Changes(version=upto, forgotten=deleted, gone=[*gone, *deleted], added=added, vectors=vectors_)


def forget(connection: Connection, owner: Owner, now: datetime, *, message_id: str = "") -> int:
    """Delete the owner's facts, their history and vectors; return how many facts that were.

    With `message_id` those alone that came from this message.
    """
    lock(connection, "facts:" + "|".join(key_of(owner)))
    wanted = select(facts.c.id).where(*owned_by(owner))
    if message_id:
        wanted = wanted.where(facts.c.message_id == message_id)
    numbers = list(connection.scalars(wanted))
    if not numbers:
        return 0
    version = next_version(connection)
    for start in range(0, len(numbers), _AT_ONCE):
        some = numbers[start : start + _AT_ONCE]
        connection.execute(delete(fact_vectors).where(fact_vectors.c.fact_id.in_(some)))
        connection.execute(delete(facts).where(facts.c.id.in_(some)))
        gone = [{"fact_id": number, "version": version, "at": now} for number in some]
        connection.execute(insert(forgotten_facts), gone)
    return len(numbers)


def count(connection: Connection) -> int:
    """Return how many facts there are that hold."""
    return connection.execute(select(func.count()).where(facts.c.replaced_by.is_(None))).scalar_one()


def _stacked(rows: Sequence[bytes]) -> Vector:
    if not rows:
        return np.zeros((0, 0), dtype=np.float32)
    return np.frombuffer(b"".join(rows), dtype="<f4").reshape(len(rows), -1).astype(np.float32)


def _fact(row: Row[Any]) -> Fact:
    return Fact(
        id=row.id,
        kind=FactKind(row.kind),
        text=row.text,
        source=_source_in_words(row),
        at=row.at,
        subject=row.subject,
        ticket_id=row.ticket_id,
        message_id=row.message_id,
        times=row.times,
        confirmed_at=row.confirmed_at,
        replaced_by=row.replaced_by,
    )


def _source_in_words(row: Row[Any]) -> str:
    kind, by = row.source_kind, row.source_by
    who = "the customer" if kind == "customer" else f"{kind} {by}" if kind in {"agent", "tool"} else by
    return ", ".join(word for word in (row.ticket_id, who, row.confirmed_at.date().isoformat()) if word)
