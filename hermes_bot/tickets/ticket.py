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
    REOPENED = "reopened"

    @property
    def ended(self) -> bool:
        """Whether nobody has anything to do any more."""
        return self in (TicketStatus.SOLVED, TicketStatus.CLOSED)


class Priority(StrEnum):
    """How soon the customer is to be answered."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    URGENT = "urgent"


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

    `turn` counts what ends a wait: a customer's message, another status, another owner. `first_response_at` is when
    the bot or a person first answered; the word that a person will come is no answer. `response_late`: that took
    longer than the priority allows. `handoff_note` is what the person who gave it back wrote for the bot. `held_by`
    wrote in the thread while the bot owned it, and the bot's messages wait (`hold_id` is the remark's message) until
    they have said what they meant. `suggest_to` is who asked last what the bot would say. `source_deleted`: the
    customer deleted the message that the ticket began with.
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
    priority: Priority = Priority.NORMAL
    turn: int = 0
    version: int = 0
    card_due: bool = False
    source_deleted: bool = False
    first_response_at: datetime | None = None
    response_late: bool = False
    rating: str = ""
    handoff_note: str = ""
    returned_by: str = ""
    held_by: str = ""
    hold_id: str = ""
    suggest_to: str = ""

    @property
    def direct(self) -> bool:
        """Whether only the customer and the bot can read the conversation."""
        return self.channel_type == "im"
