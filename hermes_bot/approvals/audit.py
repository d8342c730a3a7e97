"""The audit's rows: written in the transaction of what they tell of, each with the hash of the one before.

A row's hash covers everything in it. Of personal words it holds the salted hash alone; the words stand in a row of
`audit_texts`, which may be erased while the chain stays whole. `hermes_bot.approvals.audit_log` reads and checks.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, insert, select

from hermes_bot.store.approval_tables import audit, audit_texts
from hermes_bot.store.locks import lock

GENESIS = "0" * 64
_IDENTIFIER = re.compile(r"[A-Za-z0-9_.:-]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What happened. The same `key` is written once. `texts` are personal words by name, those of `owner`."""

    key: str
    action: str
    subject: str
    ticket_id: str = ""
    actor: str = ""
    team: str = ""
    owner: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)


def append(connection: Connection, entry: Entry, *, at: datetime) -> bool:
    """Write the entry at the end of the chain; return False where its key is there already."""
    lock(connection, "audit")
    if connection.execute(select(audit.c.number).where(audit.c.key == entry.key)).first() is not None:
        return False
    last = connection.execute(select(audit.c.number, audit.c.hash).order_by(audit.c.number.desc()).limit(1)).first()
    number, previous = (1, GENESIS) if last is None else (last.number + 1, last.hash)
    salts = {name: secrets.token_hex(16) for name, text in entry.texts.items() if text}
    row: dict[str, Any] = {
        "number": number,
        "key": entry.key,
        "at": at,
        "action": entry.action,
        "subject": entry.subject,
        "ticket_id": entry.ticket_id,
        "actor": entry.actor,
        "team": entry.team,
        "facts": dict(entry.facts),
        "texts": {name: text_hash(salt, entry.texts[name]) for name, salt in salts.items()},
        "previous": previous,
    }
    connection.execute(insert(audit).values(**row, hash=row_hash(row)))
    for name, salt in salts.items():
        text = {"number": number, "name": name, "owner": entry.owner, "salt": salt, "text": entry.texts[name]}
        connection.execute(insert(audit_texts).values(**text))
    return True


def row_hash(row: Mapping[str, Any]) -> str:
    """Return the SHA-256 of everything in the row but its own hash."""
    whole = {name: value for name, value in row.items() if name not in ("hash", "at")} | {"at": row["at"].isoformat()}
    return hashlib.sha256(msgspec.json.encode(whole, order="deterministic")).hexdigest()


def text_hash(salt: str, text: str) -> str:
    """Return the salted SHA-256 of personal words."""
    return hashlib.sha256(f"{salt}:{text}".encode()).hexdigest()


def parted(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a tool's arguments in two parts: numbers, ids and currencies, and words, which may be personal."""
    facts: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for name, value in arguments.items():
        if value is None or isinstance(value, bool | int | float) or _identifies(name, value):
            facts[name] = value
        else:
            words = value if isinstance(value, str) else msgspec.json.encode(value, order="deterministic").decode()
            texts[f"arguments.{name}"[:40]] = words
    return facts, texts


def _identifies(name: str, value: object) -> bool:
    """Return whether a text is an id or a currency, by the name of its argument: any other may be about a person."""
    named = name.endswith("_id") or name == "currency"
    return named and isinstance(value, str) and (not value or bool(_IDENTIFIER.fullmatch(value)))
