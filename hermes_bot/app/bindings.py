"""Binds message types to their handlers: services, agents of the route table, and their limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agents.desk import Agent, Desk
from agents.entry import EntryAgent
from agents.handoff import HandoffAgent
from agents.order import OrderAgent
from agents.refund import RefundAgent
from agents.rules.order import OrderPlanner
from agents.rules.refund import RefundPlanner
from agents.texts import Texts
from agents.unknown import UnknownAgent
from hermes_bot import observe
from hermes_bot.app.binding import Binding
from hermes_bot.app.build import Stores
from hermes_bot.app.limits import policy_of
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Delivery, Handler
from hermes_bot.edge.edge import SlackEdge
from hermes_bot.messages import payloads
from hermes_bot.messages.message import Message
from hermes_bot.people import Directory, Roles
from hermes_bot.settings import Settings
from hermes_bot.tickets.ownership import Ownership


def subscribe_services(
    bus: Bus,
    settings: Settings,
    stores: Stores,
    roles: Roles,
    directory: Directory,
    texts: Texts,
    edge: SlackEdge,
) -> None:
    """Bind what is not an agent of the route table: approvals, ownership and the way out to Slack."""
    people, approvals = settings.people, settings.approvals
    desk = ApprovalDesk(
        stores.approvals, roles, approvers=approvals.approvers, allow_requester=approvals.allow_requester
    )
    everyone = tuple(dict.fromkeys((*people.operators, *people.admins, *approvals.approvers)))
    ownership = Ownership(stores.tickets, roles, directory, staff=everyone, render=texts.render)
    bindings: Mapping[str, Mapping[str, Handler]] = {
        "approvals": {
            payloads.APPROVAL_REQUESTED: desk.on_requested,
            payloads.APPROVAL_CLICKED: desk.on_clicked,
            payloads.APPROVAL_EXPIRED: desk.on_expired,
        },
        "tickets": {
            payloads.HANDOFF_CLICKED: ownership.on_clicked,
            payloads.TICKET_FAILED: ownership.on_failed,
        },
        "slack": edge.handlers(),
    }
    for agent, handlers in bindings.items():
        for pattern, handler in handlers.items():
            bus.subscribe(pattern, agent, handler, policy_of(settings, agent))


class AgentBindings:
    """Which agent gets which type: entry's own, and those of the route table, which may change while the bus runs."""

    def __init__(self, bus: Bus, settings: Settings, desk: Callable[[bool], Desk], agents: Mapping[str, Agent]) -> None:
        self._bus = bus
        self._settings = settings
        self._desk = desk
        self._agents = agents
        self._bound: dict[str, Binding] = {}

    def bind_fixed(self) -> None:
        """Bind what no route decides."""
        entry, refund = EntryAgent(), self._agents["refund"]
        for pattern in (payloads.TICKET_CREATED, payloads.TICKET_REPLIED, payloads.TICKET_CLICKED):
            self._subscribe(pattern, entry)
        self._subscribe(payloads.APPROVAL_SETTLED, refund)

    def bind(self, wanted: Mapping[str, Binding]) -> None:
        """Bind each type to its agents, and no other type; what is queued for a binding that goes is still handled."""
        for type_, binding in self._bound.items():
            if wanted.get(type_) != binding:
                for agent in binding.agents:
                    self._bus.unsubscribe(agent, type_)
        for type_, binding in wanted.items():
            if self._bound.get(type_) != binding:
                for agent in binding.agents:
                    self._subscribe(type_, self._agents[agent], binding)
        self._bound = dict(wanted)

    def _subscribe(self, pattern: str, agent: Agent, binding: Binding | None = None) -> None:
        handler, policy = handler_of(agent, self._desk), policy_of(self._settings, agent.name)
        binding = binding or Binding.to(agent.name)
        self._bus.subscribe(
            pattern,
            agent.name,
            handler,
            policy,
            capability=binding.capability,
            match=binding.agents[agent.name],
            include=binding.include,
        )


def agents_of(texts: Texts) -> dict[str, Agent]:
    """Return the agents that routes may name."""
    return {
        "order": OrderAgent(OrderPlanner(texts)),
        "refund": RefundAgent(RefundPlanner(texts)),
        "handoff": HandoffAgent(),
        "unknown": UnknownAgent(),
    }


def capabilities_of(agents: Mapping[str, Agent]) -> dict[str, dict[str, float]]:
    """Return for each capability who has it and how well it fits.

    An agent's class may say so in `capabilities`; each agent has the capability of its own name.
    """
    found: dict[str, dict[str, float]] = {}
    for name, agent in agents.items():
        own: Mapping[str, float] = getattr(agent, "capabilities", {})
        for capability, match in {name: 1.0, **own}.items():
            found.setdefault(capability, {})[name] = match
    return found


def handler_of(agent: Agent, desk: Callable[[bool], Desk]) -> Handler:
    """Return the agent as the bus calls it: with a desk made for this delivery."""

    async def handle(message: Message, delivery: Delivery) -> Sequence[Message]:
        with observe.bound(
            message_id=message.id, trace_id=message.trace_id, agent=agent.name, attempt=delivery.attempt
        ):
            return await agent.handle(message, desk(delivery.redelivered))

    return handle
