"""A support desk in one process: real agents, tickets, approvals and tools, and a pump in place of the bus and Slack.

The pump handles every message twice and demands the same outputs, as after a crash before the commit.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from agents.desk import Agent, Desk
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.approvals.request import ApprovalStatus
from hermes_bot.bus.port import Delivery
from hermes_bot.bus.stamp import stamp
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import (
    APPROVAL_CLICKED,
    APPROVAL_REQUESTED,
    APPROVAL_SETTLED,
    HANDOFF_CLICKED,
    REPLY_READY,
    TICKET_CLICKED,
    TICKET_CREATED,
    TICKET_REPLIED,
    ApprovalClicked,
    ApprovalRequested,
    Audience,
    Clicked,
    HandoffClicked,
    Inbound,
    Reply,
    read,
)
from hermes_bot.people import Person
from hermes_bot.tickets.ownership import Ownership

TEAM = "T0HERMES"
SUPPORT = "C0SUPPORT"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MOST_HOPS = 50


class Clock:
    """A time that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


class KnownPeople:
    """The directory of a handful of people.

    A fake, because looking people up belongs to the edge, which stands above the agents.
    """

    def __init__(self, people: Sequence[Person], groups: dict[str, frozenset[str]]) -> None:
        self.people = {person.id: person for person in people}
        self.groups = groups
        self.failure: Exception | None = None

    async def person(self, team: str, user: str, *, fresh: bool = False) -> Person:
        if self.failure is not None:
            raise self.failure
        if user not in self.people:
            raise PermanentError(f"unknown user {user}")
        return self.people[user]

    async def group_members(self, group: str) -> frozenset[str]:
        if self.failure is not None:
            raise self.failure
        return self.groups[group]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Everything that followed from one thing that somebody did."""

    messages: tuple[Message, ...] = ()

    @property
    def replies(self) -> list[Reply]:
        return [read(message, Reply) for message in self.messages if message.type == REPLY_READY]

    def seen_by(self, audience: Audience) -> list[Reply]:
        return [reply for reply in self.replies if reply.audience is audience]

    @property
    def answer(self) -> Reply:
        """The one public answer."""
        public = self.seen_by(Audience.THREAD)
        assert len(public) == 1, f"{len(public)} public answers: {[reply.text for reply in public]}"
        return public[0]

    def of(self, type: str) -> list[Message]:
        return [message for message in self.messages if message.type == type]

    @property
    def route(self) -> str:
        """The agent that the customer's message went to."""
        return next(message.type.removeprefix("ticket.") for message in self.messages if message.sender == "entry")


@dataclass(kw_only=True)
class Pump:
    """Carries messages between agents until nothing is left; what goes to Slack is collected."""

    desk: Desk
    agents: dict[str, Agent]
    approval_desk: ApprovalDesk
    ownership: Ownership
    clock: Callable[[], datetime]
    twice: bool = True
    numbers: Any = field(default_factory=lambda: itertools.count(1))

    async def says(
        self,
        user: str,
        text: str,
        *,
        channel: str = SUPPORT,
        thread_ts: str = "",
        files: tuple[str, ...] = (),
        known_only: bool = False,
    ) -> Turn:
        """Return what follows from a message; a channel that starts with D is the person's direct message."""
        ts = self.next_ts()
        inbound = Inbound(
            team=TEAM,
            channel=channel,
            channel_type="im" if channel.startswith("D") else "channel",
            ts=ts,
            user=user,
            text=text,
            thread_ts=thread_ts,
            files=files,
            known_only=known_only,
        )
        direct = channel.startswith("D") and not thread_ts
        context = f"{TEAM}:{channel}" if direct else f"{TEAM}:{channel}:{thread_ts or ts}"
        return await self.run(self._message(TICKET_REPLIED if thread_ts else TICKET_CREATED, inbound, context))

    async def clicks(self, user: str, reply: Reply, choice: int | str, *, team: str = TEAM) -> Turn:
        """Return what follows from pressing a button of a reply, given by its place or its id."""
        pressed = next(
            each for place, each in enumerate(reply.choices) if choice in (place, each.id)
        )  # an id may be given as text
        body = Clicked(ticket_id=reply.ticket_id, choice=pressed.id, label=pressed.label, user=user, team=team)
        context = (await self.desk.tickets.get(reply.ticket_id)).context_id
        return await self.run(self._message(TICKET_CLICKED, body, context))

    async def decides(self, user: str, asked: Turn, decision: str, *, reason: str = "") -> Turn:
        """Return what follows from pressing a button of the approval card."""
        card = read(asked.of(APPROVAL_REQUESTED)[0], ApprovalRequested)
        request = await self.desk.approvals.get(card.approval_id)
        body = ApprovalClicked(
            approval_id=request.id,
            decision=decision,
            shown_hash=request.shown_hash,
            user=user,
            team=TEAM,
            channel="C0HANDOFF",
            message_ts="1.0",
            reason=reason,
        )
        message = self._message(APPROVAL_CLICKED, body, f"{TEAM}:C0HANDOFF:1.0")
        outputs = await self.approval_desk.on_clicked(message, _delivery(message, "approvals"))
        return await self._drain(stamp(_delivery(message, "approvals"), outputs, self.clock()))

    async def lets_expire(self, asked: Turn) -> Turn:
        """Return what follows when nobody decides."""
        message = self._message("approval.expired", asked.of(APPROVAL_REQUESTED)[0].data, f"{TEAM}:C0HANDOFF:1.0")
        outputs = await self.approval_desk.on_expired(message, _delivery(message, "approvals"))
        return await self._drain(stamp(_delivery(message, "approvals"), outputs, self.clock()))

    async def takes(self, user: str, ticket_id: str, action: str) -> Turn:
        """Return what follows from Claim or Give back."""
        body = HandoffClicked(
            ticket_id=ticket_id, action=action, user=user, team=TEAM, channel="C0HANDOFF", message_ts="1.0"
        )
        message = self._message(HANDOFF_CLICKED, body, f"{TEAM}:C0HANDOFF:1.0")
        outputs = await self.ownership.on_clicked(message, _delivery(message, "tickets"))
        return Turn(messages=tuple(outputs))

    async def stops_before(self, user: str, text: str, type: str) -> Message:
        """Return the first message of this type that follows from what somebody says; it is not handled."""
        agents, self.agents = self.agents, {name: _Stopping(agent, type) for name, agent in self.agents.items()}
        try:
            turn = await self.says(user, text)
        finally:
            self.agents = agents
        return turn.of(type)[0]

    async def run(self, message: Message) -> Turn:
        """Return everything that follows from a message."""
        return await self._drain((message,))

    def next_ts(self) -> str:
        return f"{1_700_000_000 + next(self.numbers)}.000100"

    async def _drain(self, first: Sequence[Message]) -> Turn:
        waiting, out = deque(first), list(first)
        for _ in range(MOST_HOPS):
            if not waiting:
                return Turn(messages=tuple(out))
            message = waiting.popleft()
            agent = self._agent_for(message)
            if agent is None:
                continue
            outputs = await self._handle(agent, message)
            out.extend(outputs)
            waiting.extend(outputs)
        raise AssertionError(f"no end after {MOST_HOPS} messages: {[message.type for message in out]}")

    async def _handle(self, agent: Agent, message: Message) -> tuple[Message, ...]:
        delivery = _delivery(message, agent.name)
        desk = replace(self.desk, tickets=self.desk.tickets.on_behalf(message.id, agent.name))
        outputs = stamp(delivery, await agent.handle(message, desk), self.clock())
        if self.twice:
            again = await agent.handle(message, replace(desk, redelivered=True))
            assert stamp(delivery, again, self.clock()) == outputs
        return outputs

    def _agent_for(self, message: Message) -> Agent | None:
        if message.recipient:
            return self.agents.get(message.recipient)
        if message.type in {TICKET_CREATED, TICKET_REPLIED, TICKET_CLICKED}:
            return self.agents["entry"]
        area, _, name = message.type.partition(".")
        assert message.type != APPROVAL_SETTLED, "a settlement names its receiver"
        return self.agents.get(name) if area == "ticket" else None

    def _message(self, type: str, body: msgspec.Struct | dict[str, Any], context: str) -> Message:
        data = msgspec.to_builtins(body)
        number = next(self.numbers)
        return Message(
            type=type,
            sender="slack",
            context_id=context,
            id=f"MSG-{number}",
            data=data,
            created_at=self.clock(),
        )


class _Stopping:
    """The agent, which does nothing with messages of one type."""

    def __init__(self, agent: Agent, type: str) -> None:
        self.name = agent.name
        self._agent = agent
        self._type = type

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        return [] if message.type == self._type else await self._agent.handle(message, desk)


def _delivery(message: Message, agent: str) -> Delivery:
    return Delivery(message=message, subscription=f"{agent}:{message.type}", agent=agent)


async def pending(desk: Desk) -> int:
    """Return how many approvals wait."""
    return len(await desk.approvals.listing(status=ApprovalStatus.PENDING))
