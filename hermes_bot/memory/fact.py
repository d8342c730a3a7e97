"""What is known of an owner: a fact with its source, its place in history, and how near it is to a question."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class FactKind(StrEnum):
    """What sort of thing is kept; whatever is none of these is not."""

    PREFERENCE = "preference"
    ADDRESS = "address"
    DECISION = "decision"
    PROBLEM = "problem"
    SUMMARY = "summary"  # of a ticket that ended
    SUBTASK = "subtask"  # what came of a finished part of a ticket
    CONVENTION = "convention"  # of the shop
    ERROR = "error"  # of an agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One sentence about an owner. `subject` says what it is about: the newest of one subject holds.

    `source` says in words where it came from (`T-12, said by the customer, 2026-05-04`). `times` counts how often it
    was said. `replaced_by` is the newer fact that holds instead, None while this one holds.
    """

    id: int
    kind: FactKind
    text: str
    source: str
    at: datetime
    subject: str = ""
    ticket_id: str = ""
    message_id: str = ""
    times: int = 1
    confirmed_at: datetime
    replaced_by: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A fact that answers a question. `cosine` is the nearness of both, -1..1; `score` what they were ordered by."""

    fact: Fact
    cosine: float
    score: float

    @property
    def quoted(self) -> str:
        """The fact with its source, as a prompt or a person reads it."""
        return f"{self.fact.text} [{self.fact.source}]"
