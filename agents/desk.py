"""What an agent may use while it handles one message. Agents hold no services: they are handed this desk."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agents.texts import Texts
from hermes_bot.approvals.approvals import Approvals
from hermes_bot.memory.memories import Memories
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import Inbound
from hermes_bot.people import Directory, Roles
from hermes_bot.store.agent_runs import AgentRuns
from hermes_bot.store.preferences import Preferences
from hermes_bot.tasks.tasks import Tasks
from hermes_bot.tickets.runs import Runs
from hermes_bot.tickets.thread import ThreadReader
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tools.order_book import OrderBook
from hermes_bot.tools.toolbox import Toolbox
from routing.choice import RouteChoice

REMEMBERING = frozenset({"order", "refund"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Staff:
    """Who works here: `members` are user (U…) and user group (S…) ids."""

    roles: Roles
    members: Sequence[str] = ()

    async def includes(self, team: str, user: str) -> bool:
        """Return whether the person is one of them; raise TransientError when Slack does not answer."""
        return await self.roles.includes(self.members, team, user)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """How things are done in a channel. No `language`: that of the customer's message.

    `private_in_thread`: what is the customer's alone may stand in the thread, since everyone there may read it.
    """

    language: str = ""
    private_in_thread: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FloodLimits:
    """How many messages of one person are answered within `window_s`; what is more is kept on their tickets."""

    messages: int
    window_s: float


def agent_in(type_: str) -> str:
    """Return the agent that a type is named after."""
    return type_.rpartition(".")[2]


def everything(_type: str) -> None:
    """Return that nothing is kept from the agent."""


def type_named(route: str) -> str:
    """Return the type that is named after a route."""
    return f"ticket.{route}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The services, each for the agent that needs it. `choose` is the router's: a text in, a choice out.

    `agent_of` tells which agent gets a type just now, empty where none does: routes come and go while the bot runs.
    `type_of` tells the type of a route by its name, `include_of` what a type's route lets its agent see; None is all.
    `redelivered` says that an earlier attempt at this message may have run part of the way. `ways` says what
    differs in a channel, by its id. `memory` is what is known beyond this message, None where nothing is kept.
    `agent_runs` keeps the runs of planners that go step by step, None where there are none. `remembering` are the
    agents that know what the conversation is about; the others start afresh with each message. `preferences` are what
    people chose for themselves, `flood` how much of one person is answered, None for all. `threads` reads what
    stands in a thread that the bot is called into, None where nothing is read.
    """

    tickets: Tickets
    runs: Runs
    approvals: Approvals
    toolbox: Toolbox
    book: OrderBook
    directory: Directory
    staff: Staff
    texts: Texts
    tasks: Tasks
    choose: Callable[[str], Awaitable[RouteChoice]]
    agent_of: Callable[[str], str] = agent_in
    type_of: Callable[[str], str] = type_named
    include_of: Callable[[str], Collection[str] | None] = everything
    redelivered: bool = False
    ways: Mapping[str, Ways] = field(default_factory=dict)
    memory: Memories | None = None
    agent_runs: AgentRuns | None = None
    remembering: frozenset[str] = REMEMBERING
    preferences: Preferences | None = None
    flood: FloodLimits | None = None
    threads: ThreadReader | None = None

    async def fixed_language(self, inbound: Inbound) -> str:
        """Return the language of the answers there, as the channel or the person says; empty: that of the message."""
        fixed = self.ways_of(inbound.channel).language
        if fixed or self.preferences is None:
            return fixed
        return await self.preferences.language(inbound.team, inbound.user)

    def ways_of(self, channel: str) -> Ways:
        """Return how things are done there."""
        return self.ways.get(channel, Ways())


class Agent(Protocol):
    """One agent. It keeps nothing between messages, so any worker may take the next one."""

    @property
    def name(self) -> str:
        """The name under which it subscribes."""
        ...

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        """Return what follows from the message; an empty list ends the chain. The same message gives the same list."""
        ...
