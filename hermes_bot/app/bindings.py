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
from hermes_bot.app.build import Stores
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Delivery, Handler, Policy
from hermes_bot.edge.edge import SlackEdge
from hermes_bot.errors import SettingsError
from hermes_bot.messages import payloads
from hermes_bot.messages.message import Message
from hermes_bot.people import Directory, Roles
from hermes_bot.settings import Settings
from hermes_bot.tickets.ownership import Ownership
from routing.route import Route


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


def subscribe_agents(
    bus: Bus, settings: Settings, routes: Sequence[Route], desk: Callable[[bool], Desk], texts: Texts
) -> None:
    """Bind entry to what customers do, and each route's type to its agent."""
    agents: dict[str, Agent] = {
        "order": OrderAgent(OrderPlanner(texts)),
        "refund": RefundAgent(RefundPlanner(texts)),
        "handoff": HandoffAgent(),
        "unknown": UnknownAgent(),
    }
    bindings: list[tuple[str, Agent]] = [
        (pattern, EntryAgent())
        for pattern in (payloads.TICKET_CREATED, payloads.TICKET_REPLIED, payloads.TICKET_CLICKED)
    ]
    for route in (route for route in routes if route.enabled):
        if route.agent not in agents:
            known = ", ".join(sorted(agents))
            raise SettingsError(
                f"route {route.name!r}: there is no agent {route.agent!r}; known are {known}",
                file=str(settings.routing.file),
            )
        bindings.append((route.type, agents[route.agent]))
    bindings.append((payloads.APPROVAL_SETTLED, agents["refund"]))
    for pattern, agent in bindings:
        bus.subscribe(pattern, agent.name, handler_of(agent, desk), policy_of(settings, agent.name))


def handler_of(agent: Agent, desk: Callable[[bool], Desk]) -> Handler:
    """Return the agent as the bus calls it: with a desk made for this delivery."""

    async def handle(message: Message, delivery: Delivery) -> Sequence[Message]:
        with observe.bound(message_id=message.id, trace_id=message.trace_id, agent=agent.name):
            return await agent.handle(message, desk(delivery.redelivered))

    return handle


def policy_of(settings: Settings, agent: str) -> Policy:
    """Return how the agent's deliveries are run."""
    limits = settings.agents.limits(agent)
    return Policy(
        concurrency=limits.concurrency,
        timeout_s=limits.timeout_s,
        max_retries=limits.max_retries,
        backoff_start_s=limits.backoff_start_s,
        backoff_max_s=limits.backoff_max_s,
        max_queue_size=settings.bus.max_queue_size,
    )
