"""Builds the toolbox, and connects what `configs/connectors.yaml` names: databases, and MCP servers when wanted."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from hermes_bot.app.agents_file import AgentSetup
from hermes_bot.errors import SettingsError
from hermes_bot.settings import Settings
from hermes_bot.settings.connectors import Connections, McpSpec
from hermes_bot.tools.call_log import CallLog
from hermes_bot.tools.connectors.sql import sql_sources, tools_of
from hermes_bot.tools.registry import Tool
from hermes_bot.tools.toolbox import OnCall, Source, Toolbox

if TYPE_CHECKING:  # heavy; imported where a server is configured
    from mcp.client.client import Client

    from hermes_bot.tools.connectors.mcp_source import McpSource

Levelled = Callable[[Tool], Tool]


class ToolSources:
    """The systems outside. `tools` are those of databases; the MCP servers' own come once `open` has run."""

    def __init__(self, connections: Connections, *, clock: Callable[[], datetime]) -> None:
        self._connections = connections
        self._databases = sql_sources(connections, clock=clock)
        self._servers = self._mcp_servers()
        self._toolbox: Toolbox | None = None
        self._levelled: Levelled = lambda tool: tool
        self.tools = tools_of(self._databases, connections)

    @property
    def servers(self) -> tuple[Source, ...]:
        """The MCP servers."""
        return self._servers

    @property
    def prefixes(self) -> tuple[str, ...]:
        """What the names of the servers' tools begin with."""
        return tuple(f"{server.name}__" for server in self._servers)

    def bind(self, toolbox: Toolbox, levelled: Levelled) -> None:
        """Say who gets the servers' tools, each with the level that an admin gave it."""
        self._toolbox, self._levelled = toolbox, levelled

    async def open(self) -> None:
        """Connect the MCP servers; one that does not answer is tried again later. Raise SettingsError for a misfit."""
        if not self._servers:
            return
        async with asyncio.TaskGroup() as opening:
            tasks = [opening.create_task(self._opened(server), name=f"open-{server.name}") for server in self._servers]
        for wrong in (task.result() for task in tasks):
            if wrong is not None:
                raise wrong

    @staticmethod
    async def _opened(server: McpSource) -> Exception | None:
        """Return what is wrong, so that the others are not cancelled half-way."""
        try:
            await server.open()
        except SettingsError as error:
            return error
        return None

    async def faults(self) -> dict[str, str]:
        """Return every database and server by name, with why it cannot be used; empty where it can. Opens them."""
        await self.open()
        told = {f"sql.{database.name}": await database.fault() for database in self._databases}
        return told | {f"mcp.{server.name}": server.away for server in self._servers}

    async def close(self) -> None:
        """Let go of everything."""
        for server in self._servers:
            await server.close()
        for database in self._databases:
            await database.close()

    def _put(self, source: str, tools: Sequence[Tool]) -> None:
        if self._toolbox is not None:
            self._toolbox.put(source, [self._levelled(tool) for tool in tools])

    def _mcp_servers(self) -> tuple[McpSource, ...]:
        specs = self._connections.specs.mcp
        if not specs:
            return ()
        from hermes_bot.tools.connectors.mcp_source import McpSource

        return tuple(
            McpSource(name, spec, self._connections, _connect(spec, self._connections), on_tools=self._put)
            for name, spec in specs.items()
        )


def kept_for(settings: Settings) -> timedelta:
    """Return how long a call that ended stays recorded: no shorter than anything could still repeat it."""
    repeatable = timedelta(seconds=settings.bus.keep_s + settings.approvals.expires_after_s)
    return max(timedelta(days=settings.journal.keep_days), repeatable)


def build_toolbox(
    settings: Settings,
    setup: AgentSetup,
    sources: ToolSources,
    services: Mapping[str, object],
    *,
    calls: CallLog,
    on_call: OnCall,
    effects: bool,
) -> Toolbox:
    """Return the toolbox, to which the MCP servers' tools come later."""
    toolbox = Toolbox(
        setup.tools,
        allowed=setup.specs.allowed,
        services=services,
        timeout_s=settings.tools.timeout_s,
        result_limit=settings.tools.result_limit,
        on_call=on_call,
        calls=calls,
        sources=sources.servers,
        effects=effects,
    )
    sources.bind(toolbox, setup.levelled)
    return toolbox


def _connect(spec: McpSpec, connections: Connections) -> Callable[[], Client]:
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client

    from hermes_bot.tools.connectors.mcp_source import client_of, started

    if spec.command:
        return lambda: client_of(stdio_client(started(spec, connections), errlog=sys.__stderr__ or sys.stderr))
    headers = {name: connections.secret(variable) for name, variable in spec.headers_from.items()}

    @asynccontextmanager
    async def transport() -> AsyncIterator[object]:
        import httpx2

        timeout = httpx2.Timeout(spec.timeout_s, connect=spec.connect_timeout_s)
        async with (
            httpx2.AsyncClient(headers=headers, timeout=timeout) as http,
            streamable_http_client(spec.url, http_client=http) as streams,
        ):
            yield streams

    return lambda: client_of(transport())
