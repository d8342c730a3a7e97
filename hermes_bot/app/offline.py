"""Opens the parts for one command, beside a bot that may be running."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property

from hermes_bot.app.build import Clock, Stores, build_backend, build_router, bus_file, opened
from hermes_bot.app.bus_view import BackendView, BusView, FileView
from hermes_bot.app.forgetting import Forgetting
from hermes_bot.app.replay import Replayed, replay
from hermes_bot.app.routes_bench import RoutesBench
from hermes_bot.app.tracing import trace
from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.audit_log import AuditLog
from hermes_bot.bus.inspect import BusFile
from hermes_bot.errors import StoreError
from hermes_bot.messages.message import utc_now
from hermes_bot.observe.trace import Trace
from hermes_bot.settings import Settings
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tools.order import Customer
from hermes_bot.tools.toolbox import Toolbox
from routing.router import Router
from routing.routes_file import load_table


class Offline:
    """The parts that a command works with. The router and the bus's file are opened when they are first used."""

    def __init__(self, settings: Settings, stores: Stores, closing: AsyncExitStack, clock: Clock) -> None:
        self._settings = settings
        self._stores = stores
        self._closing = closing
        self._clock = clock

    @property
    def tickets(self) -> Tickets:
        """Tickets in the store."""
        return self._stores.tickets

    @property
    def approvals(self) -> Approvals:
        """Approvals in the store."""
        return self._stores.approvals

    @property
    def audit(self) -> AuditLog:
        """Who decided what about approvals."""
        return AuditLog(self._stores.database)

    @property
    def toolbox(self) -> Toolbox:
        """Tools and who may use them; without those of MCP servers."""
        return self._stores.toolbox

    async def connected_tools(self) -> Toolbox:
        """Return all tools, once the MCP servers have answered or not."""
        await self._stores.sources.open()
        return self._stores.toolbox

    @property
    def servers_away(self) -> dict[str, str]:
        """Which MCP servers do not answer, and why."""
        return {server.name: server.away for server in self._stores.sources.servers if server.away}

    async def customer(self, email: str) -> Customer | None:
        """Return the customer of the shop with that e-mail address."""
        return await self._stores.book.customer_by_email(email)

    @cached_property
    def router(self) -> Router:
        """Text in, choice out. Loads the encoder."""
        router = build_router(self._settings, load_table(self._settings.routing.file))
        self._closing.callback(router.close)
        return router

    @cached_property
    def routes(self) -> RoutesBench:
        """The routes file, its routers and its corrections."""
        return RoutesBench(self._settings, self._stores, self._closing)

    @cached_property
    def memory(self) -> Forgetting:
        """What is known of a person: to show, to export, to forget."""
        settings = self._settings
        kept = settings.bus.backend == "redis" or (settings.bus.backend == "sqlite" and bus_file(settings).exists())
        return Forgetting(settings, self._stores, self.bus if kept else None, self._clock)

    @cached_property
    def bus(self) -> BusView:
        """The bus, for looking, replaying, dropping, pausing; raise StoreError where no other process can see it."""
        return bus_view(self._settings, self._closing)

    async def trace(self, wanted_id: str) -> Trace:
        """Return the trees of a message or a ticket; raise HermesError where nothing is known of it."""
        return await trace(wanted_id, self.bus, self._stores.watch.journal, self._stores.tickets)

    async def replay(self, message_id: str, *, chain: bool) -> Replayed:
        """Return what comes of the message today, handled apart from everything."""
        return await replay(
            message_id,
            chain=chain,
            settings=self._settings,
            bus=self.bus,
            store=self._stores.database,
            clock=self._clock,
        )


@asynccontextmanager
async def offline(settings: Settings, *, clock: Clock = utc_now) -> AsyncIterator[Offline]:
    """Open what commands need; nothing is started."""
    async with opened(settings, clock) as stores, AsyncExitStack() as closing:
        yield Offline(settings, stores, closing, clock)


def bus_view(settings: Settings, closing: AsyncExitStack) -> BusView:
    """Return the bus beside the bot that may be running, closed with `closing`."""
    if settings.bus.backend == "redis":
        view = BackendView(build_backend(settings, utc_now))
        closing.push_async_callback(view.close)
        return view
    if settings.bus.backend != "sqlite":
        raise StoreError("bus.backend memory keeps nothing that another process could read")
    file = BusFile(bus_file(settings))
    closing.callback(file.close)
    return FileView(file)
