"""A proposed utterance as a value; `hermes_bot.triage.proposals` keeps them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ProposalStatus(StrEnum):
    """pending, then exactly one of the others."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a ticket's first words should have led to, without personal data, as an example for the routes file.

    `lines` is the difference that it makes to the file, `effect` says what would be routed differently, both as of
    the suggestion. `by` are Slack users, or `cli:<login>`. `result` says what came of it, in words.
    """

    id: str
    ticket_id: str
    route_was: str
    route: str
    language: str
    utterance: str
    lines: str
    effect: str
    suggested_by: str
    suggested_at: datetime
    status: ProposalStatus = ProposalStatus.PENDING
    settled_by: str = ""
    settled_at: datetime | None = None
    settle_key: str = ""
    result: str = ""

    @property
    def shown_hash(self) -> str:
        """What a card has to carry, so that what was read is what is accepted."""
        whole = "\x00".join((self.id, self.route, self.language, self.utterance))
        return hashlib.sha256(whole.encode()).hexdigest()
