"""The bot as a whole: what is started, in which order, and how it stops."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from pydantic import SecretStr

from agents.texts import load_texts
from hermes_bot.app.bindings import AgentBindings, agents_of, capabilities_of, subscribe_services
from hermes_bot.app.build import Clock, build_backend, build_bus, build_edge, desk_of, opened, secret
from hermes_bot.app.live_routing import LiveRouting
from hermes_bot.app.staff_notice import tell_staff
from hermes_bot.bus.bus import Bus
from hermes_bot.edge.directory import SlackDirectory
from hermes_bot.edge.slack_api import SlackApi, web_client
from hermes_bot.messages.message import utc_now
from hermes_bot.people import Roles
from hermes_bot.settings import Mode, Settings, SlackAccess
from hermes_bot.settings.files import beside
from hermes_bot.workspace.server import WorkspaceServer

STOP_LIMIT_S = 10.0


class HermesApp:
    """The bot. `start` returns once it listens; `stop` is graceful, and safe after a start that failed."""

    def __init__(self, settings: Settings, *, clock: Clock = utc_now) -> None:
        self._settings = settings
        self._clock = clock
        self._parts = AsyncExitStack()
        self._ended = asyncio.Event()
        self.bus: Bus | None = None
        self.workspace: WorkspaceServer | None = None

    async def start(self) -> None:
        """Open, build and connect everything; raise HermesError where that cannot be."""
        settings = self._settings
        if settings.mode is Mode.WORKSPACE:
            self.workspace = await self._parts.enter_async_context(
                WorkspaceServer(port=settings.workspace.port, state_path=settings.data.path / "workspace.json")
            )
            settings = in_workspace(settings, self.workspace)
        stores = await self._parts.enter_async_context(opened(settings, self._clock))
        texts = load_texts(beside(settings.routing.file.parent, Path("texts")))
        agents = agents_of(texts)
        routing = LiveRouting(settings, agents, capabilities_of(agents))
        self._parts.push_async_callback(routing.close)
        await routing.open()
        backend, watch = build_backend(settings, self._clock), stores.watch
        self.bus = bus = build_bus(settings, backend, watch, self._clock)
        api = SlackApi(web_client(secret(settings.access.bot_token), settings.access.api_url))
        directory = SlackDirectory(api, clock=self._clock)
        probes = watch.health(bus, backend, stores.approvals).probes()
        edge = build_edge(settings, stores, api, directory, bus, self._clock, probes=probes)
        self._parts.push_async_callback(edge.stop)
        team = (await edge.connect()).team
        roles = Roles(directory, team=team)
        subscribe_services(bus, settings, stores, roles, directory, texts, edge)
        desk = desk_of(settings, stores, roles, directory, texts, routing)
        bindings = AgentBindings(bus, settings, desk, agents)
        bindings.bind_fixed()
        routing.bind(bindings)
        self._parts.push_async_callback(watch.stop)
        await watch.start(bus.publish)
        await bus.start()
        self._parts.push_async_callback(bus.stop, STOP_LIMIT_S)
        self._parts.push_async_callback(edge.stop_listening)
        await edge.listen()
        routing.follow(partial(tell_staff, bus, team, edge.handoff_channel), self._clock)

    async def stop(self) -> None:
        """Take nothing more in, let what runs finish within a limit, keep the rest for the next start."""
        self._ended.set()
        await self._parts.aclose()

    async def run_until_stopped(self) -> None:
        """Return once `stop` was called."""
        await self._ended.wait()


def in_workspace(settings: Settings, server: WorkspaceServer) -> Settings:
    """Return the settings with the local workspace's tokens, and its people where the settings name none."""
    app = server.world.app
    access = SlackAccess(bot_token=SecretStr(app.bot_token), app_token=SecretStr(app.app_token), api_url=server.api_url)
    people = settings.people
    approvers = settings.approvals.approvers or ("S0APPROVERS",)
    return settings.model_copy(
        update={
            "access": access,
            "people": people.model_copy(
                update={"operators": people.operators or ("S0OPERATORS",), "admins": people.admins or ("U0ADA",)}
            ),
            "approvals": settings.approvals.model_copy(update={"approvers": approvers}),
            "slack": settings.slack.model_copy(
                update={"handoff_channel": settings.slack.handoff_channel or "C0HANDOFF"}
            ),
        }
    )
