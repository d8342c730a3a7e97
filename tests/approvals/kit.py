"""People, a clock, and what a test of approvals does: ask, press, and look at what follows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from hermes_bot.approvals.access import Access
from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.changes import ChangeDesk, Revised
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.approvals.request import ApprovalRequest, NewRequest
from hermes_bot.approvals.rules import ApprovalRules
from hermes_bot.approvals.withdrawals import Source
from hermes_bot.bus.port import Delivery
from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.messages.approval_payloads import APPROVAL_ASKED, APPROVAL_EDITED, ApprovalAsked, ApprovalEdited
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import (
    APPROVAL_CLICKED,
    APPROVAL_SETTLED,
    EDGE,
    REPLY_READY,
    ApprovalClicked,
    Audience,
    Reply,
    fields_of,
    read,
)
from hermes_bot.people import Person, Roles
from hermes_bot.store.database import Database

TEAM, THREAD = "T0HERMES", "T0HERMES:C0SUPPORT:1.1"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LIFETIME_S = 3600.0
OMAR, OLIVIA, ADA, EMMA = "U0OMAR", "U0OLIVIA", "U0ADA", "U0EMMA"
APPROVERS = (OMAR, "S0APPROVERS", ADA, "U0GUEST", "U0GONE", "U0NOBODY")


class People:
    """A directory in memory: what Slack answers is under test elsewhere, here only what is made of it."""

    def __init__(self) -> None:
        self.persons = {
            "U0OMAR": Person(team="T0HERMES", id="U0OMAR", name="Omar"),
            "U0OLIVIA": Person(team="T0HERMES", id="U0OLIVIA", name="Olivia"),
            "U0ADA": Person(team="T0HERMES", id="U0ADA", name="Ada"),
            "U0EMMA": Person(team="T0HERMES", id="U0EMMA", name="Emma"),
            "U0GUEST": Person(team="T0HERMES", id="U0GUEST", name="Guest", guest=True),
            "U0GONE": Person(team="T0HERMES", id="U0GONE", name="Gone", deactivated=True),
            "U0ODD": Person(team="T0HERMES", id="U0ODD", name="Odd", stranger=True),
        }
        self.groups = {"S0APPROVERS": frozenset({"U0OLIVIA"})}
        self.down = False

    async def person(self, team: str, user: str, *, fresh: bool = False) -> Person:
        if self.down:
            raise TransientError("slack: no answer")
        if user not in self.persons:
            raise PermanentError(f"no such user {user}")
        return self.persons[user]

    async def group_members(self, group: str) -> frozenset[str]:
        if self.down:
            raise TransientError("slack: no answer")
        return self.groups[group]


class Words:
    """What customers wrote, by the id of the message."""

    def __init__(self) -> None:
        self.sources: dict[str, Source] = {}
        self.conversations: dict[str, str] = {}

    async def conversation(self, team: str, channel: str, ts: str) -> str:
        return self.conversations.get(ts, "")

    async def of(self, request: ApprovalRequest) -> Source | None:
        return self.sources.get(request.source_ts)


class Clock:
    """A time that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


async def ask(approvals: Approvals, key: str = "MSG-1:refund:1", **changes: Any) -> ApprovalRequest:
    """Return a pending request of Emma's to refund ten euros."""
    given: dict[str, Any] = {
        "key": key,
        "ticket_id": "T-1",
        "context_id": THREAD,
        "requested_by": EMMA,
        "agent": "refund",
        "tool": "issue_refund",
        "level": "L2",
        "arguments": {"order_id": "10001", "amount_cents": 1000, "currency": "EUR", "reason": "worn & torn"},
        "title": "Refund €10.00 for order 10001",
        "shown": [("Order", "10001"), ("Amount", "€10.00")],
        "trace_id": "0" * 32,
        "source_ts": "1.1",
    }
    return await approvals.request(NewRequest(**given | changes))


def approvals_in(database: Database, clock: Clock) -> Approvals:
    """Return the approvals in a database that has our tables, with the approvers of this kit."""
    rules = ApprovalRules(approvers=APPROVERS)
    return Approvals(database, clock=clock, expires_after_s=LIFETIME_S, rules=rules, policy="abc")


def message(type_: str, body: msgspec.Struct, *, id: str = "", context_id: str = THREAD) -> Message:
    """Return a message from Slack; one with the same id is the same message, delivered again."""
    more: dict[str, Any] = {"id": id} if id else {}
    return Message(type=type_, sender=EDGE, context_id=context_id, data=fields_of(body), **more)


def click(request: ApprovalRequest, user: str, decision: str = "approve", *, team: str = TEAM, id: str = "") -> Message:
    """Return a press of a button on the card as it is in `request`."""
    body = ApprovalClicked(
        approval_id=request.id,
        decision=decision,
        shown_hash=request.shown_hash,
        user=user,
        team=team,
        channel="C0SUPPORT",
        message_ts="1.2",
    )
    return message(APPROVAL_CLICKED, body, id=id)


def edit(request: ApprovalRequest, user: str, **arguments: str) -> Message:
    """Return a submitted form behind Edit, in which these arguments were changed."""
    typed = {name: str(value) for name, value in request.arguments.items()} | arguments
    body = ApprovalEdited(
        approval_id=request.id,
        shown_hash=request.shown_hash,
        arguments=typed,
        user=user,
        team=TEAM,
        channel="C0SUPPORT",
        message_ts="1.2",
    )
    return message(APPROVAL_EDITED, body)


def question(request: ApprovalRequest, user: str, words: str) -> Message:
    """Return a submitted form behind Ask customer."""
    body = ApprovalAsked(
        approval_id=request.id,
        shown_hash=request.shown_hash,
        question=words,
        user=user,
        team=TEAM,
        channel="C0SUPPORT",
        message_ts="1.2",
    )
    return message(APPROVAL_ASKED, body)


def delivery(message: Message) -> Delivery:
    """Return a first delivery to agent `approvals`."""
    return Delivery(message=message, subscription="s", agent="approvals")


async def press(desk: ApprovalDesk, pressed: Message) -> list[Message]:
    """Return what follows from a click."""
    return list(await desk.on_clicked(pressed, delivery(pressed)))


def access_for(people: People, rules: ApprovalRules | None = None) -> Access:
    """Return who may decide, by default the approvers of this kit."""
    return Access(Roles(people, team=TEAM), rules or ApprovalRules(approvers=APPROVERS))


def desk_for(
    approvals: Approvals, people: People, approvers: Sequence[str], *, allow_requester: bool = False
) -> ApprovalDesk:
    """Return a desk with these approvers."""
    rules = ApprovalRules(approvers=approvers, allow_requester=allow_requester)
    return ApprovalDesk(approvals, access_for(people, rules))


async def revise(request: ApprovalRequest, arguments: Any) -> Revised:
    """Return the edit as a tool would check it: at most fifty euros, and L3 from thirty."""
    cents = int(arguments["amount_cents"])
    if cents > 5000:
        return Revised(arguments={}, problem="the tool refuses it (above_limit)")
    whole = request.arguments | {**arguments, "amount_cents": cents}
    amount = f"€{cents / 100:.2f}"
    return Revised(
        arguments=whole,
        title=f"Refund {amount} for order {whole['order_id']}",
        shown=(("Order", whole["order_id"]), ("Amount", amount)),
        level="L3" if cents >= 3000 else "L2",
    )


async def tell(message: Message, request: ApprovalRequest, key: str, **values: str) -> Message:
    """Return what the customer is told."""
    body = Reply(ticket_id=request.ticket_id, channel="C0SUPPORT", thread_ts="1.1", text=f"{key}: {values}")
    return message.child(REPLY_READY, body)


def changes_for(approvals: Approvals, people: People) -> ChangeDesk:
    """Return the desk for edits and questions."""
    return ChangeDesk(approvals, access_for(people), revise=revise, tell=tell)


def resumed(outputs: Sequence[Message]) -> list[Message]:
    """Return the settlements that go to the waiting agent."""
    return [each for each in outputs if each.type == APPROVAL_SETTLED and each.recipient == "refund"]


def whispers(outputs: Sequence[Message]) -> list[str]:
    """Return what people are told alone."""
    replies = [read(each, Reply) for each in outputs if each.type == REPLY_READY]
    return [each.text for each in replies if each.audience is Audience.EPHEMERAL]
