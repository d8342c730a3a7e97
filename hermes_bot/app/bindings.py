"""Binds message types to their handlers: services, agents of the route table, and their limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from agents.desk import Agent, Desk
from agents.entry import EntryAgent
from agents.handoff import HandoffAgent
from agents.model.agent import ModelAgent
from agents.order import OrderAgent
from agents.refund import RefundAgent
from agents.rules.order import OrderPlanner
from agents.rules.refund import RefundPlanner
from agents.spec import NO_FILE, AgentsFile
from agents.spec_file import BUILT_IN, RULED
from agents.texts import Texts
from agents.unknown import UnknownAgent
from hermes_bot import observe
from hermes_bot.app.approving import approval_handlers
from hermes_bot.app.binding import Binding
from hermes_bot.app.build import Stores, staff_of
from hermes_bot.app.limits import policy_of
from hermes_bot.app.planners import Planners
from hermes_bot.app.revising import Revising
from hermes_bot.app.saying_sources import SayingSources
from hermes_bot.app.ticket_handlers import ticket_handlers
from hermes_bot.approvals.clicks import AGENT as APPROVALS
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Delivery, Handler, Policy
from hermes_bot.messages import payloads, ticket_payloads
from hermes_bot.messages.message import Message
from hermes_bot.messages.task_payloads import TASK_RESULT
from hermes_bot.people import Directory, Roles
from hermes_bot.settings import Settings
from hermes_bot.tasks.requests import AGENT as REQUESTS
from hermes_bot.tasks.requests import Requests, marked
from hermes_bot.tasks.tasks import AGENT as TASKS
from hermes_bot.tasks.tasks import Tasks
from hermes_bot.tickets.changes import changes
from hermes_bot.triage.corrections import Corrections
from hermes_bot.triage.desk import AGENT as TRIAGE
from hermes_bot.triage.desk import TriageDesk

ENTRY_ALSO = (ticket_payloads.TICKET_EDITED, ticket_payloads.TICKET_DELETED, ticket_payloads.TICKET_GATHERED)


def subscribe_services(
    bus: Bus,
    settings: Settings,
    stores: Stores,
    roles: Roles,
    directory: Directory,
    texts: Texts,
    outlets: Mapping[str, Mapping[str, Handler]],
) -> None:
    """Bind what is not an agent of the route table: ownership and the ways out, by agent and type."""
    handlers = ticket_handlers(settings, stores, roles, directory, texts, bus.cancel)
    bindings: Mapping[str, Mapping[str, Handler]] = {"tickets": handlers, **outlets}
    subscribe_all(bus, settings, bindings)


def subscribe_approvals(
    bus: Bus, settings: Settings, stores: Stores, roles: Roles, desk: Callable[[bool], Desk]
) -> None:
    """Bind what decides about approvals."""
    handlers = approval_handlers(settings, stores.approvals, roles, desk, Revising(desk), SayingSources(stores.tickets))
    subscribe_all(bus, settings, {APPROVALS: handlers})


def subscribe_triage(bus: Bus, settings: Settings, corrections: Corrections, roles: Roles) -> None:
    """Bind what staff say of a route, and what admins decide about it."""
    desk = TriageDesk(corrections, roles, staff=staff_of(settings), admins=settings.people.admins)
    handlers = {payloads.ROUTE_CORRECTED: desk.on_corrected, payloads.PROPOSAL_CLICKED: desk.on_clicked}
    subscribe_all(bus, settings, {TRIAGE: handlers})


def subscribe_tasks(bus: Bus, settings: Settings, tasks: Tasks, requests: Requests) -> None:
    """Bind what carries tasks on, and what takes the answers to requests from outside."""
    subscribe_all(bus, settings, {TASKS: tasks.handlers, REQUESTS: requests.handlers})


def subscribe_all(bus: Bus, settings: Settings, bindings: Mapping[str, Mapping[str, Handler]]) -> None:
    """Bind handlers by agent and type."""
    for agent, handlers in bindings.items():
        for pattern, handler in handlers.items():
            bus.subscribe(pattern, agent, marked(agent, handler), policy_of(settings, agent))


class AgentBindings:
    """Which agent gets which type: entry's own, and those of the route table, which may change while the bus runs.

    A type in `routed` goes to the agent there and to no other, whatever the rest says.
    """

    def __init__(
        self,
        bus: Bus,
        settings: Settings,
        desk: Callable[[bool], Desk],
        agents: Mapping[str, Agent],
        routed: Mapping[str, Agent] | None = None,
        specs: AgentsFile = NO_FILE,
    ) -> None:
        self._specs = specs
        self._bus = bus
        self._settings = settings
        self._desk = desk
        self._agents = agents
        self._routed = {} if routed is None else routed
        self._fixed: dict[str, str] = {}
        self._bound: dict[str, Binding] = {}

    def bind_fixed(self) -> None:
        """Bind what no route decides."""
        entry, refund = EntryAgent(), self._agents["refund"]
        fixed = dict.fromkeys((payloads.TICKET_CREATED, payloads.TICKET_REPLIED, payloads.TICKET_CLICKED), entry)
        fixed |= dict.fromkeys(ENTRY_ALSO, entry)
        for pattern, agent in {**fixed, payloads.APPROVAL_SETTLED: refund}.items():
            if pattern not in self._routed:
                self._subscribe(pattern, agent)
                self._fixed[pattern] = agent.name
        for pattern, agent in self._routed.items():
            self._subscribe(pattern, agent)
        for agent in self._agents.values():
            self._await_results(agent)
            self._carry_on(agent)

    def route(self, type_: str, agent: Agent) -> None:
        """Bind a type that has just been put into `routed`."""
        binding = self._bound.pop(type_, None)
        holders = {*(binding.agents if binding else ()), self._fixed.pop(type_, agent.name)} - {agent.name}
        for holder in holders:
            self._bus.unsubscribe(holder, type_)
        self._subscribe(type_, agent)
        self._await_results(agent)

    def bind(self, wanted: Mapping[str, Binding]) -> None:
        """Bind each type to its agents, and no other type; what is queued for a binding that goes is still handled."""
        wanted = {type_: binding for type_, binding in wanted.items() if type_ not in self._routed}
        for type_, binding in self._bound.items():
            if wanted.get(type_) != binding:
                for agent in binding.agents:
                    self._bus.unsubscribe(agent, type_)
        for type_, binding in wanted.items():
            if self._bound.get(type_) != binding:
                for agent in binding.agents:
                    self._subscribe(type_, self._agents[agent], binding)
        self._bound = dict(wanted)

    def _carry_on(self, agent: Agent) -> None:
        """Let the agent hear of its own next step, and what became of the approvals that it asked for."""
        if self._specs.of(agent.name).planner == "model" or agent.name in RULED:
            self._subscribe(payloads.AGENT_STEP, agent)
        bound = payloads.APPROVAL_SETTLED in self._routed or self._fixed.get(payloads.APPROVAL_SETTLED) == agent.name
        if not bound and (agent.name in RULED or isinstance(agent, ModelAgent)):
            self._subscribe(payloads.APPROVAL_SETTLED, agent)

    def _await_results(self, agent: Agent) -> None:
        """Let the agent hear what came of what it delegates, if it may delegate anything."""
        if delegates_of(agent):
            self._subscribe(TASK_RESULT, agent)

    def _policy(self, agent: str) -> Policy:
        return policy_of(self._settings, agent, self._specs.of(agent))

    def _subscribe(self, pattern: str, agent: Agent, binding: Binding | None = None) -> None:
        handler, policy = handler_of(agent, self._desk), self._policy(agent.name)
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


def agents_of(texts: Texts, planners: Planners) -> dict[str, Agent]:
    """Return the agents that routes may name: those with rules, and those that stand in the agents' file alone."""
    alone = {name: spec for name, spec in planners.specs.agents.items() if name not in BUILT_IN}
    return {
        "order": OrderAgent(planners.of("order", OrderPlanner(texts))),
        "refund": RefundAgent(planners.of("refund", RefundPlanner(texts))),
        "handoff": HandoffAgent(),
        "unknown": UnknownAgent(),
        **{
            name: ModelAgent(name, planners.alone(name), delegates=spec.delegates, capabilities=spec.capabilities)
            for name, spec in alone.items()
        },
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


def delegates_of(agent: Agent) -> Sequence[str]:
    """Return the message types that the agent may delegate; its class says so in `delegates`."""
    types: Sequence[str] = getattr(agent, "delegates", ())
    return types


def handler_of(agent: Agent, desk: Callable[[bool], Desk]) -> Handler:
    """Return the agent as the bus calls it: with a desk made for this delivery, and what it changes in tickets told."""

    async def handle(message: Message, delivery: Delivery) -> Sequence[Message]:
        with observe.bound(
            message_id=message.id, trace_id=message.trace_id, agent=agent.name, attempt=delivery.attempt
        ):
            mine = desk(delivery.redelivered)
            tickets = mine.tickets.on_behalf(message.id, agent.name)
            outputs = await agent.handle(message, replace(mine, tickets=tickets))
            again = delivery.redelivered or delivery.attempt > 1
            return [*outputs, *await changes(tickets, message, redelivered=again)]

    return marked(agent.name, handle)
