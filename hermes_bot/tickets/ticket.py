"""A ticket as a value; `hermes_bot.tickets.tickets` keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class TicketStatus(StrEnum):
    """Where the work on a ticket is."""

    NEW = "new"
    WORKING = "working"
    WAITING_CUSTOMER = "waiting_customer"
    WAITING_APPROVAL = "waiting_approval"
    WITH_HUMAN = "with_human"
    SOLVED = "solved"
    CLOSED = "closed"


class Owner(StrEnum):
    """Who answers the customer: the bot is silent unless it owns the ticket."""

    BOT = "bot"
    PENDING_HUMAN = "pending_human"
    HUMAN = "human"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """One customer's concern in one conversation. `thread_ts` is empty only for an unthreaded direct message.

    `requester` is the Slack user whose ticket it is; nobody else's words count as the customer's. `agent` is the
    agent that works on it, `why` the routing decision in words. `assignee` is the Slack user who claimed it.
    `handoff_round` counts how often it went to people; reason and summary are those of the last time.
    `ownership_message_id` is the click that last moved the ticket between a person and the bot.
    """

    id: str
    context_id: str
    team: str
    channel: str
    channel_type: str
    thread_ts: str
    requester: str
    language: str
    subject: str
    status: TicketStatus
    owner: Owner
    opened_at: datetime
    updated_at: datetime
    route: str = ""
    agent: str = ""
    why: str = ""
    assignee: str = ""
    handoff_round: int = 0
    handoff_reason: str = ""
    handoff_summary: str = ""
    ownership_message_id: str = ""

    @property
    def direct(self) -> bool:
        """Whether only the customer and the bot can read the conversation."""
        return self.channel_type == "im"
