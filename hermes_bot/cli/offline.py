"""Opens the stores for one command, without starting the bot; works while the bot runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from hermes_bot import settings

if TYPE_CHECKING:  # heavy; a command that only prints help must not wait for them
    from hermes_bot.app.bus_view import BusView
    from hermes_bot.app.forgetting import Forgetting
    from hermes_bot.app.replay import Replayed
    from hermes_bot.app.routes_bench import RoutesBench
    from hermes_bot.approvals.approvals import Approvals
    from hermes_bot.approvals.audit_log import AuditLog
    from hermes_bot.observe.trace import Trace
    from hermes_bot.tickets.tickets import Tickets
    from hermes_bot.tools.order import Customer
    from hermes_bot.tools.toolbox import Toolbox
    from routing.router import Router

Result = TypeVar("Result")


class Offline(Protocol):
    """What commands work with: the stores and the router, opened without starting the bot."""

    @property
    def router(self) -> Router:
        """Text in, choice out."""
        ...

    @property
    def routes(self) -> RoutesBench:
        """The routes file, its routers and its corrections."""
        ...

    @property
    def tickets(self) -> Tickets:
        """Tickets in the store."""
        ...

    @property
    def approvals(self) -> Approvals:
        """Approvals in the store."""
        ...

    @property
    def audit(self) -> AuditLog:
        """Who decided what about approvals."""
        ...

    @property
    def bus(self) -> BusView:
        """The bus, for looking, replaying, dropping and pausing."""
        ...

    @property
    def memory(self) -> Forgetting:
        """What is known of a person: to show, to export, to forget."""
        ...

    async def trace(self, wanted_id: str) -> Trace:
        """Return the trees of a message or a ticket; raise HermesError where nothing is known of it."""
        ...

    @property
    def toolbox(self) -> Toolbox:
        """Tools and who may use them; without those of MCP servers."""
        ...

    async def connected_tools(self) -> Toolbox:
        """Return all tools, once the MCP servers have answered or not."""
        ...

    @property
    def servers_away(self) -> dict[str, str]:
        """Which MCP servers do not answer, and why."""
        ...

    async def customer(self, email: str) -> Customer | None:
        """Return the customer of the shop with that e-mail address."""
        ...

    async def replay(self, message_id: str, *, chain: bool) -> Replayed:
        """Return what comes of the message today, handled apart from everything."""
        ...


def with_offline(config: Path | None, work: Callable[[Offline], Awaitable[Result]]) -> Result:
    """Return what `work` returns, run against the parts that the settings describe."""
    loaded = settings.load(config, os.environ)

    async def run() -> Result:
        from hermes_bot.app import offline

        async with offline(loaded) as parts:
            return await work(parts)

    return asyncio.run(run())
