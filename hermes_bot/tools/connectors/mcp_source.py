"""Keeps the connection to one MCP server: its tools come with it, and are told to be away while it is.

One task owns the connection, because what opened it must close it. A server that is down at the start, or goes away,
is tried again, less and less often.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, CallToolResult, Implementation
from mcp_types import Tool as ServerTool

from hermes_bot.errors import SettingsError, TransientError
from hermes_bot.settings.connectors import Connections, McpSpec
from hermes_bot.settings.problems import refuse
from hermes_bot.tools.connectors.mcp_tools import tools_of
from hermes_bot.tools.registry import Tool, ToolRefusal, ToolUnavailable

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
LOOK_EVERY_S = 60.0
MOST_PAGES = 50
CLOSE_LIMIT_S = 10.0
NOT_YET = "the MCP server is not connected"

OnTools = Callable[[str, Sequence[Tool]], None]
Connect = Callable[[], Client]

logger = logging.getLogger(__name__)


class McpSource:
    """One server. `connect` makes a client, not yet entered; `on_tools` is told whenever its tools are another set."""

    def __init__(
        self, name: str, spec: McpSpec, connections: Connections, connect: Connect, *, on_tools: OnTools
    ) -> None:
        self.name = name
        self.away = NOT_YET
        self._spec = spec
        self._connections = connections
        self._connect = connect
        self._on_tools = on_tools
        self._client: Client | None = None
        self._tried = asyncio.Event()
        self._look = asyncio.Event()
        self._wrong: SettingsError | None = None
        self._owner: asyncio.Task[None] | None = None
        self._leaving = False
        self._over = False

    async def open(self) -> None:
        """Return once the server answered or did not; raise SettingsError where what it offers does not fit."""
        self._owner = asyncio.create_task(self._keep(), name=f"mcp-{self.name}")
        await self._tried.wait()
        if self._wrong is not None:
            await self.close()
            raise self._wrong

    async def close(self) -> None:
        """End the connection, and a server that was started for it."""
        owner, self._owner = self._owner, None
        if owner is None:
            return
        self._over = True
        if not self._leaving:  # a cancelled farewell would leave the server's process behind
            owner.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await asyncio.wait([owner])

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Return the server's answer; raise TransientError, and ToolUnavailable where nothing was sent."""
        client = self._client
        if client is None:
            raise ToolUnavailable(f"MCP server {self.name}: {self.away}")
        try:
            return await client.call_tool(tool, dict(arguments), read_timeout_seconds=self._spec.timeout_s)
        except MCPError as error:
            if error.code in {INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND}:
                logger.warning("an MCP server refused a call", extra={"server": self.name, "code": error.code})
                raise ToolRefusal("refused_by_server") from error
            self._look.set()
            raise TransientError(f"MCP server {self.name}: the call was not answered") from error
        except Exception as error:  # the edge to a foreign library: whatever breaks there is the server being away
            self._look.set()
            raise TransientError(f"MCP server {self.name}: {type(error).__name__}") from error

    async def _keep(self) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                await self._connected()
            except Exception as error:  # noqa: BLE001 - as above; the reason is told
                cause = _cause(error)
                self._wrong = cause if isinstance(cause, SettingsError) else self._wrong
                reason = _reason(cause)
            self._leaving = False
            if self._over:
                return
            worked, self._client = self._client is not None, None
            self.away = f"it does not answer ({reason})"
            logger.warning("an MCP server is away", extra={"server": self.name, "reason": reason})
            self._tried.set()
            pause_s = FIRST_PAUSE_S if worked else min(pause_s * 2, LONGEST_PAUSE_S)
            await asyncio.sleep(pause_s)

    async def _connected(self) -> None:
        """Serve calls until the server does not answer any more."""
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self._spec.connect_timeout_s):
                client = await stack.enter_async_context(self._connect())
                stack.callback(self._leaves)
                offered = await _listed(client)
            self._offer(offered)
            self._client, self.away = client, ""
            self._tried.set()
            while True:
                self._look.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_EVERY_S):
                        await self._look.wait()
                async with asyncio.timeout(self._spec.connect_timeout_s):
                    found = await _listed(client)
                if found != offered:
                    self._offer(found)
                    offered = found

    def _leaves(self) -> None:
        self._leaving = True

    def _offer(self, offered: Sequence[ServerTool]) -> None:
        file, at = self._connections.file, ("mcp", self.name)
        place = f"{file.name}:{file.line(at)}"
        tools, faults = tools_of(self.name, self._spec, offered, self.call, place)
        for fault in faults:
            logger.warning("a tool of an MCP server", extra={"server": self.name, "reason": fault.text})
        wrong = [
            file.problem((*at, *fault.key.split(".")) if fault.key else at, f"mcp.{self.name}: {fault.text}")
            for fault in faults
            if fault.fatal
        ]
        if wrong:
            refuse(wrong)
        self._on_tools(self.name, tools)


def started(spec: McpSpec, connections: Connections) -> StdioServerParameters:
    """Return how a server is started: with no more of the environment than it needs, and what the file gives it."""
    given = {name: connections.secret(variable) for name, variable in spec.env_from.items()}
    command, *arguments = spec.command
    folder = connections.folder / spec.folder if spec.folder else None
    return StdioServerParameters(command=command, args=arguments, env=spec.env | given, cwd=folder)


def client_of(transport: Any) -> Client:
    """Return a client that offers the server nothing of ours: no model, no files, no questions to people."""
    return Client(transport, client_info=Implementation(name="hermes-bot", version="1"), cache=None)


async def _listed(client: Client) -> list[ServerTool]:
    found: list[ServerTool] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    return found


def _cause(error: BaseException) -> BaseException:
    """Return the one error that matters of a group."""
    while isinstance(error, BaseExceptionGroup):
        known = error.subgroup(SettingsError)
        error = (known or error).exceptions[0]
    return error


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, SettingsError):
        return str(error)
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else type(error).__name__
