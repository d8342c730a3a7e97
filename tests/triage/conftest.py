"""Corrections on a real store and a routes file of their own; people and tickets are a handful."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hermes_bot.bus.port import Delivery
from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.messages.message import Message
from hermes_bot.people import Person, Roles
from hermes_bot.store.database import Database
from hermes_bot.triage.corrections import Corrections
from hermes_bot.triage.desk import TriageDesk
from hermes_bot.triage.proposals import Proposals

TEAM = "T0HERMES"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ROUTES = """\
routes:
  - name: order
    type: ticket.order
    agent: order
    utterances:
      en: [where is my parcel]
  - name: refund # money
    type: ticket.refund
    agent: refund
    utterances:
      en:
        - I want my money back # plain
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A ticket as corrections see it."""

    subject: str
    route: str = "order"
    language: str = "en"
    team: str = TEAM
    requester: str = "U0EMMA"


@dataclass
class People:
    """Everybody there is, and the tickets that they opened."""

    tickets: dict[str, Told] = field(default_factory=dict)
    away: bool = False

    async def get(self, ticket_id: str) -> Told:
        if ticket_id not in self.tickets:
            raise PermanentError(f"there is no ticket {ticket_id}")
        return self.tickets[ticket_id]

    async def person(self, team: str, user: str, *, fresh: bool = False) -> Person:
        if self.away:
            raise TransientError("slack is away")
        names = {"U0EMMA": "Emma Fischer", "U0OMAR": "Omar Haddad", "U0ADA": "Ada Novak"}
        if user not in names:
            raise PermanentError(f"unknown user {user}")
        return Person(team=TEAM, id=user, name=names[user])

    async def group_members(self, group: str) -> frozenset[str]:
        if self.away:
            raise TransientError("slack is away")
        return frozenset({"U0OMAR"})


@pytest.fixture
def people() -> People:
    return People({"T-1": Told(subject="Emma Fischer here: reimburse order 10003, call +49 30 1234567")})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "routing.yaml"
    file.write_text(ROUTES, encoding="utf-8")
    return file


@pytest.fixture
def proposals(database: Database) -> Proposals:
    return Proposals(database, clock=lambda: NOON)


@pytest.fixture
def corrections(proposals: Proposals, people: People, file: Path) -> Corrections:
    async def effect(content: bytes) -> str:
        return f"{len(content)} bytes"

    return Corrections(proposals, people, people, file=file, effect=effect)


@pytest.fixture
def desk(corrections: Corrections, people: People) -> TriageDesk:
    return TriageDesk(corrections, Roles(people, team=TEAM), staff=("S0OPERATORS", "U0ADA"), admins=("U0ADA",))


def delivery(message: Message) -> Delivery:
    return Delivery(message=message, subscription=f"triage:{message.type}", agent="triage")
