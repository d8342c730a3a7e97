"""Opens the parts for one command, beside a bot that may be running."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from functools import cached_property

from hermes_bot.app.build import Clock, Stores, build_router, bus_file, opened
from hermes_bot.approvals.approvals import Approvals
from hermes_bot.bus.inspect import BusFile
from hermes_bot.errors import StoreError
from hermes_bot.messages.message import utc_now
from hermes_bot.settings import Settings
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tools.toolbox import Toolbox
from routing.router import Router
from routing.routes_file import load_table


class Offline:
    """The parts that a command works with. The router and the bus's file are opened when they are first used."""

    def __init__(self, settings: Settings, stores: Stores, closing: ExitStack) -> None:
        self._settings = settings
        self._stores = stores
        self._closing = closing

    @property
    def tickets(self) -> Tickets:
        """Tickets in the store."""
        return self._stores.tickets

    @property
    def approvals(self) -> Approvals:
        """Approvals in the store."""
        return self._stores.approvals

    @property
    def toolbox(self) -> Toolbox:
        """Tools and who may use them."""
        return self._stores.toolbox

    @cached_property
    def router(self) -> Router:
        """Text in, choice out. Loads the encoder."""
        router = build_router(self._settings, load_table(self._settings.routing.file))
        self._closing.callback(router.close)
        return router

    @cached_property
    def bus(self) -> BusFile:
        """The bus's file; raise StoreError for a bus that keeps nothing in a file."""
        if self._settings.bus.backend != "sqlite":
            raise StoreError("bus.backend memory keeps nothing that another process could read")
        file = BusFile(bus_file(self._settings))
        self._closing.callback(file.close)
        return file


@asynccontextmanager
async def offline(settings: Settings, *, clock: Clock = utc_now) -> AsyncIterator[Offline]:
    """Open what commands need; nothing is started."""
    async with opened(settings, clock) as stores:
        with ExitStack() as closing:
            yield Offline(settings, stores, closing)
