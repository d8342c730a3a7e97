"""The typed data of each message type that Hermes ships.

A producer passes the struct to `Message.child`; a consumer reads it with `read(message, Struct)`.
Text in here is decoded and unescaped: escaping for Slack happens once, in the edge, right before posting.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeVar

import msgspec

from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message

EDGE = "slack"
"""The agent through which people write and read."""

TICKET_CREATED = "ticket.created"
TICKET_REPLIED = "ticket.replied"
TICKET_CLICKED = "ticket.clicked"
TICKET_ORDER = "ticket.order"
TICKET_REFUND = "ticket.refund"
TICKET_HANDOFF = "ticket.handoff"
TICKET_UNKNOWN = "ticket.unknown"
TICKET_FAILED = "ticket.failed"
REPLY_READY = "reply.ready"
APPROVAL_REQUESTED = "approval.requested"
APPROVAL_CLICKED = "approval.clicked"
APPROVAL_SETTLED = "approval.settled"
APPROVAL_EXPIRED = "approval.expired"
HANDOFF_REQUESTED = "handoff.requested"
HANDOFF_CLICKED = "handoff.clicked"
HANDOFF_CHANGED = "handoff.changed"
HANDOFF_NOTED = "handoff.noted"
ALARM_RAISED = "alarm.raised"
ROUTE_CORRECTED = "route.corrected"
PROPOSAL_MADE = "proposal.made"
PROPOSAL_CLICKED = "proposal.clicked"
PROPOSAL_SETTLED = "proposal.settled"
POST_CHECK = "post.check"
AGENT_STEP = "agent.step"


class Inbound(msgspec.Struct, frozen=True, kw_only=True):
    """`ticket.created` and `ticket.replied`: what somebody wrote in Slack.

    `ts` and `thread_ts` are Slack's message ids, strings and never numbers. `thread_ts` is empty when the message
    is not a reply. `channel_type` is one of channel, group, im, mpim. `known_only`: a reply that nobody addressed to
    the bot, in a channel where it listens to mentions alone; it counts only if the writer has a ticket there, or is of
    the staff and somebody has one.
    """

    team: str
    channel: str
    channel_type: str
    ts: str
    user: str
    text: str
    user_team: str = ""
    thread_ts: str = ""
    mentioned: bool = False
    known_only: bool = False
    files: tuple[str, ...] = ()


def said_once(inbound: Inbound) -> str:
    """Return the task of what somebody wrote in Slack, however often and by however many events Slack tells of it."""
    return f"slack:{inbound.team}:{inbound.channel}:{inbound.ts}"


def asked_for(task_id: str) -> str:
    """Return the task of the same words, where somebody asked that a ticket be made of them."""
    return f"{task_id}:ticket"


class Clicked(msgspec.Struct, frozen=True, kw_only=True):
    """`ticket.clicked`: a choice button. `choice` is the id of the `Choice` that an agent offered."""

    ticket_id: str
    choice: str
    label: str
    user: str
    team: str


class Audience(StrEnum):
    """Who may see a reply."""

    THREAD = "thread"  # everyone in the ticket's thread (in a direct message: the customer alone)
    OWNER = "owner"  # the ticket's requester alone: a direct message
    EPHEMERAL = "ephemeral"  # the user in `user` alone, in the ticket's thread, unsaved by Slack


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A button under a reply: what is sent back and what is shown."""

    id: str
    label: str


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One of several requests in a customer's message, and the type that reaches the agent for it."""

    type: str
    text: str


class SaidInPrivate(msgspec.Struct, frozen=True, kw_only=True):
    """What of an answer the customer alone may see. With `tells` the text is a part of the answer of its own."""

    text: str
    audience: Audience
    fields: tuple[tuple[str, str], ...] = ()
    choices: tuple[Choice, ...] = ()
    tells: bool = False


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that waits for those to the other requests in the same message."""

    text: str
    choices: tuple[Choice, ...] = ()
    private: SaidInPrivate | None = None


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """`ticket.<agent>`: what entry hands to an agent. `choice` is set when the customer pressed a choice button.

    `source_ts` is the ts of the customer's message that this work answers. `reason` is a word that says why it was
    sent on (`cancel`, `files` …), `known` what the sender found out, label and value, in the staff's language.

    Where the message held several requests, `text` is the one to work on, `whole` the message, `then` what is still to
    do, and `said` the answers so far, which are given together with the last one.
    """

    ticket_id: str
    text: str
    language: str
    choice: str = ""
    source_ts: str = ""
    reason: str = ""
    known: tuple[tuple[str, str], ...] = ()
    whole: str = ""
    then: tuple[Part, ...] = ()
    said: tuple[Said, ...] = ()


class AgentStep(msgspec.Struct, frozen=True, kw_only=True):
    """`agent.step`: an agent goes on with one of its runs. `step` counts from 1, `ticket_id` is empty for a task."""

    run: str
    step: int
    ticket_id: str = ""


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """`ticket.failed`: a message of a customer's ended without an answer; a person has to look at it.

    `inbound` is what the customer wrote, where no ticket exists yet; otherwise `ticket_id` names it.
    """

    reference: str
    error: str
    ticket_id: str = ""
    inbound: Inbound | None = None


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """`reply.ready`: a message for Slack. All text is plain and unescaped.

    `fields` are label and value pairs shown under the text. `in_reply_to` is the ts of the message answered.
    `thread_ts` is empty only for an unthreaded direct message. `user` matters for owner and ephemeral. `feedback`: the
    customer is asked for thumbs up or down; under the answer that solves a ticket that is done in any case.
    """

    ticket_id: str
    channel: str
    thread_ts: str
    text: str
    audience: Audience = Audience.THREAD
    user: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    choices: tuple[Choice, ...] = ()
    in_reply_to: str = ""
    feedback: bool = False


class ApprovalRequested(msgspec.Struct, frozen=True, kw_only=True):
    """`approval.requested`: a card is wanted for this approval (its content stands in the store)."""

    approval_id: str
    ticket_id: str = ""


class ApprovalClicked(msgspec.Struct, frozen=True, kw_only=True):
    """`approval.clicked`: somebody pressed a button of a card.

    `shown_hash` comes from the button, `channel` and `message_ts` say where the card stood that was pressed,
    `thread_ts` in which thread, if it was in one.
    """

    approval_id: str
    decision: str  # approve | reject
    shown_hash: str
    user: str
    team: str
    channel: str
    message_ts: str
    reason: str = ""
    thread_ts: str = ""


class ApprovalSettled(msgspec.Struct, frozen=True, kw_only=True):
    """`approval.settled`: sent once to the agent that waits and once to the edge, which redraws the card.

    `reason` is what whoever rejected it wrote. `cause` says why it was cancelled: edited | deleted (the customer's
    message that it rests on) | stopped. After `edited` the agent is given the new words as work of their own.
    """

    approval_id: str
    ticket_id: str
    status: str  # approved | rejected | expired | cancelled
    by: str = ""
    reason: str = ""
    cause: str = ""


class HandoffRequested(msgspec.Struct, frozen=True, kw_only=True):
    """`handoff.requested`: a person is wanted; the edge posts a card with Claim in the handoff channel."""

    ticket_id: str
    reason: str
    summary: str


class HandoffClicked(msgspec.Struct, frozen=True, kw_only=True):
    """`handoff.clicked`: somebody of the staff pressed a button of a ticket's card, chose from it or sent its form.

    `action`: claim, take, assign, return, priority, solve, reopen, reply, hold_take or hold_once. `value` is who or
    what was chosen, `text` what was typed.
    """

    ticket_id: str
    action: str
    user: str
    team: str
    channel: str
    message_ts: str
    value: str = ""
    text: str = ""
    thread_ts: str = ""


class HandoffChanged(msgspec.Struct, frozen=True, kw_only=True):
    """`handoff.changed`: the ticket's ownership changed; the edge redraws its handoff card from the store."""

    ticket_id: str


class HandoffNoted(msgspec.Struct, frozen=True, kw_only=True):
    """`handoff.noted`: the customer wrote on a ticket that people own; the edge shows it under the ticket's card.

    With a `label` it is something else that belongs there, such as a summary, and the label stands for the writer.
    `mentions` are the users and user groups who are called; `loud`: it is shown in the channel as well.
    """

    ticket_id: str
    text: str
    user: str
    label: str = ""
    mentions: tuple[str, ...] = ()
    loud: bool = False


class RouteCorrected(msgspec.Struct, frozen=True, kw_only=True):
    """`route.corrected`: somebody of the staff says which route a ticket should have taken.

    `text` is the customer's words as they were left in the form, `channel` where the card stands.
    """

    ticket_id: str
    route: str
    text: str
    user: str
    team: str
    channel: str


class ProposalMade(msgspec.Struct, frozen=True, kw_only=True):
    """`proposal.made` and `proposal.settled`: a card is wanted, or redrawn, for this proposed utterance."""

    proposal_id: str


class ProposalClicked(msgspec.Struct, frozen=True, kw_only=True):
    """`proposal.clicked`: Accept or Decline was pressed. `shown_hash` comes from the button."""

    proposal_id: str
    decision: str  # accept | decline
    shown_hash: str
    user: str
    team: str
    channel: str
    message_ts: str


class PostCheck(msgspec.Struct, frozen=True, kw_only=True):
    """`post.check`: the edge looks once more whether something stands twice in Slack. `key` is the post's own."""

    key: str
    channel: str
    thread_ts: str = ""
    since: str = ""


class AlarmRaised(msgspec.Struct, frozen=True, kw_only=True):
    """`alarm.raised`: something that whoever runs Hermes has to look at; the edge tells the handoff channel.

    `subject` is what it is about, such as a message type; `text` says it in words; `reference` is a message's id.
    """

    subject: str
    text: str
    reference: str = ""


Payload = TypeVar("Payload", bound=msgspec.Struct)


def read(message: Message, payload: type[Payload]) -> Payload:
    """Return the data as `payload`, unknown fields ignored; raise PermanentError where it does not fit."""
    try:
        return msgspec.convert(message.data, payload)
    except msgspec.ValidationError as error:
        raise PermanentError(f"{message.type} {message.id}: data does not fit {payload.__name__}: {error}") from error


def fields_of(payload: msgspec.Struct) -> dict[str, Any]:
    """Return the payload as a JSON object."""
    body: dict[str, Any] = msgspec.to_builtins(payload)
    return body
