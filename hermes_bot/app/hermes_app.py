"""The bot as a whole: what is started, in which order, and how it stops."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path

from agents.desk import Agent
from agents.texts import Texts, load_texts
from hermes_bot.app.bindings import (
    AgentBindings,
    agents_of,
    capabilities_of,
    delegates_of,
    subscribe_approvals,
    subscribe_services,
    subscribe_tasks,
    subscribe_triage,
)
from hermes_bot.app.build import Clock, Stores, build_backend, build_bus, desk_of, opened
from hermes_bot.app.front import Front, LibraryFront, SlackFront
from hermes_bot.app.live_routing import LiveRouting
from hermes_bot.app.local_workspace import in_workspace, own_world
from hermes_bot.app.planners import Planners, build_chat, build_models
from hermes_bot.app.remembering import Remembering
from hermes_bot.app.route_effect import corrections_of
from hermes_bot.app.sharing import check_shared, check_staffed, listens, warn_of_store
from hermes_bot.app.surface import surface_of
from hermes_bot.app.tool_sources import kept_for
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Backend
from hermes_bot.errors import BusStopped
from hermes_bot.messages.message import Message, utc_now
from hermes_bot.messages.task_payloads import TaskResult
from hermes_bot.people import Directory, Roles
from hermes_bot.settings import Mode, Settings, load
from hermes_bot.settings.files import beside
from hermes_bot.tasks.requests import Requests
from hermes_bot.tasks.store import TaskStore
from hermes_bot.tasks.tasks import Tasks
from hermes_bot.triage.change_log import ChangeLog
from hermes_bot.workspace.server import WorkspaceServer
from routing.vectors import Progress, unheard

STOP_LIMIT_S = 10.0
DRAIN_LIMIT_S = 30.0
NOT_STARTED = "the app is not started; await app.start() first"


class HermesApp:
    """The bot, or the whole of it but Slack as a library. docs/library.md shows the second.

    `config` names the settings file, `environ` is the process's own where none is given; or `settings` are handed
    over. With an `edge` it speaks to Slack, and without a token to a local workspace of its own. Without one, the
    caller publishes what customers write and takes the replies; `directory` then says who people are, and where none
    is given the caller vouches for each customer.

    With `agents` it runs these alone; other processes that share its bus run the others. It listens to Slack only
    where the edge's agent, `slack`, is one of them.

    `start` returns once it works; `stop` is graceful, and safe after a start that failed.
    """

    def __init__(
        self,
        config: str | Path | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        settings: Settings | None = None,
        edge: bool = False,
        directory: Directory | None = None,
        agents: Collection[str] | None = None,
        progress: Progress = unheard,
        clock: Clock = utc_now,
    ) -> None:
        path = None if config is None else Path(config)
        self._settings = load(path, environ) if settings is None else settings
        self._edge = edge
        self._directory = directory
        self._staffed = None if agents is None else frozenset(agents)
        self._progress = progress
        self._clock = clock
        self._parts = AsyncExitStack()
        self._ended = asyncio.Event()
        self._routed: dict[str, Agent] = {}
        self._allowed: dict[str, tuple[str, ...]] = {}
        self._bindings: AgentBindings | None = None
        self._front: Front | None = None
        self._requests: Requests | None = None
        self.bus: Bus | None = None
        self.workspace: WorkspaceServer | None = None

    def route(self, message_type: str, agent: Agent) -> None:
        """Give the type to this agent alone, whatever the routes say; before the start or while it runs."""
        self._routed[message_type] = agent
        self._allowed[agent.name] = tuple(delegates_of(agent))
        if self._bindings is not None:
            self._bindings.route(message_type, agent)

    async def start(self) -> None:
        """Open, build and connect everything; raise HermesError where that cannot be."""
        check_shared(self._settings, self._staffed, edge=self._edge)
        warn_of_store(self._settings)
        settings = await self._reachable()
        stores = await self._parts.enter_async_context(self._opened(settings))
        await stores.calls.prune(before=self._clock() - kept_for(settings))
        await stores.sources.open()
        texts = load_texts(beside(settings.routing.file.parent, Path("texts")))
        planners = await self._planners(settings, stores, texts)
        agents = agents_of(texts, planners) | {agent.name: agent for agent in self._routed.values()}
        routing = LiveRouting(settings, agents, capabilities_of(agents), progress=self._progress)
        self._parts.push_async_callback(routing.close)
        await routing.open()
        backend, watch = build_backend(settings, self._clock), stores.watch
        self.bus = bus = build_bus(settings, backend, watch, self._clock, self._staffed)
        self._front = front = self._build_front(settings, stores, bus, backend, texts, routing)
        self._parts.push_async_callback(front.close)
        await front.open()
        roles = Roles(front.directory, team=front.team)
        subscribe_services(bus, settings, stores, roles, front.directory, texts, front.handlers())
        subscribe_triage(bus, settings, corrections_of(settings, stores, front.directory, routing), roles)
        tasks = self._bind_tasks(settings, stores, bus, agents)
        remembering = Remembering(settings, stores, routing.encoder, self._clock)
        desk = desk_of(settings, stores, roles, front, texts, routing, tasks, remembering.memories)
        subscribe_approvals(bus, settings, stores, roles, desk)
        self._bindings = AgentBindings(bus, settings, desk, agents, self._routed, stores.specs)
        self._bindings.bind_fixed()
        routing.bind(self._bindings)
        self._parts.push_async_callback(watch.stop)
        check_staffed(settings, bus.agents, self._staffed)
        await self._parts.enter_async_context(remembering)
        await watch.start(bus.publish)
        await bus.start()
        self._parts.push_async_callback(bus.stop, STOP_LIMIT_S)
        self._parts.push_async_callback(front.stop_listening)
        if listens(self._staffed):
            await front.listen()
        log = ChangeLog(stores.proposals, settings.routing.file)
        routing.follow(front.tell_staff, log.record, self._clock)

    async def publish(self, message: Message) -> None:
        """Return once the message is kept; raise Unroutable, BusFull, BusStopped, StoreError or PermanentError.

        Without an edge a customer's message (`ticket.created`, `ticket.replied`) needs `user` and `text` in its data;
        `customer_email` vouches that this user is that customer of the shop.
        """
        front, bus = self._started()
        await bus.publish(await front.admitted(message))

    async def request(self, message: Message, *, timeout_s: float) -> TaskResult:
        """Return the answer to a request; see `Requests.request`."""
        if self._requests is None:
            raise BusStopped(NOT_STARTED)
        return await self._requests.request(message, timeout_s=timeout_s)

    async def drain(self, limit_s: float = DRAIN_LIMIT_S) -> list[Message]:
        """Wait until all is handled that can be; return the `reply.ready` messages that came out since the last time.

        With an edge there are none: it posts them. Raise TimeoutError when the limit passes first.
        """
        front, bus = self._started()
        await bus.drain(limit_s)
        return front.replies()

    async def stop(self) -> None:
        """Take nothing more in, let what runs finish within a limit, keep the rest for the next start."""
        self._ended.set()
        self._bindings = None
        await self._parts.aclose()

    async def run_until_stopped(self) -> None:
        """Return once `stop` was called."""
        await self._ended.wait()

    def _opened(self, settings: Settings) -> AbstractAsyncContextManager[Stores]:
        return opened(settings, self._clock)

    async def _reachable(self) -> Settings:
        """Return the settings, those of a local workspace where Slack is wanted and no token is there."""
        settings = self._settings
        if not self._edge or settings.mode is not Mode.WORKSPACE:
            return settings
        self.workspace = await self._parts.enter_async_context(
            WorkspaceServer(
                world=own_world(), port=settings.workspace.port, state_path=settings.data.path / "workspace.json"
            )
        )
        return in_workspace(settings, self.workspace)

    def _build_front(
        self, settings: Settings, stores: Stores, bus: Bus, backend: Backend, texts: Texts, routing: LiveRouting
    ) -> Front:
        if not self._edge:
            return LibraryFront(stores.database, self._directory, self._clock)
        probes = stores.watch.health(bus, backend, stores.approvals, stores.tickets).probes()
        surface = surface_of(settings, stores, routing.explain, probes.trouble)
        return SlackFront(settings, stores, bus, probes, self._clock, texts, surface)

    async def _planners(self, settings: Settings, stores: Stores, texts: Texts) -> Planners:
        """Return what makes planners, with a model where the settings name one."""
        if not settings.model.name:
            return Planners(stores.specs, stores.toolbox)
        chat = await asyncio.to_thread(build_chat, settings)  # imports the client, which takes a second
        self._parts.push_async_callback(chat.close)
        return Planners(stores.specs, stores.toolbox, build_models(settings, stores, texts, chat))

    def _bind_tasks(self, settings: Settings, stores: Stores, bus: Bus, agents: Mapping[str, Agent]) -> Tasks:
        store = TaskStore(stores.database, clock=self._clock)
        self._allowed |= {agent.name: tuple(delegates_of(agent)) for agent in agents.values()}
        self._allowed |= {name: spec.delegates for name, spec in stores.specs.agents.items() if spec.delegates}
        tasks = Tasks(store, allowed=self._allowed, clock=self._clock)
        self._requests = Requests(bus.publish, store)
        subscribe_tasks(bus, settings, tasks, self._requests)
        return tasks

    def _started(self) -> tuple[Front, Bus]:
        if self._front is None or self.bus is None:
            raise BusStopped(NOT_STARTED)
        return self._front, self.bus
