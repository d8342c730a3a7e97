"""`doctor`'s look at the tools: whether the systems outside answer, and calls that began and never ended."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

from hermes_bot.app.build import Clock
from hermes_bot.app.finding import Finding, note, ok, problem
from hermes_bot.app.tool_sources import ToolSources
from hermes_bot.errors import HermesError
from hermes_bot.settings import Settings
from hermes_bot.store.database import Database
from hermes_bot.store.schema import revisions
from hermes_bot.tools.call_log import CallLog

UNFINISHED_AFTER = timedelta(minutes=10)
MOST_CALLS = 20


async def connectors(settings: Settings, clock: Clock) -> AsyncIterator[Finding]:
    """Say of each database and MCP server whether it answers."""
    sources = ToolSources(settings.connections, clock=clock)
    try:
        for name, fault in (await sources.faults()).items():
            remedy = "check that it runs, and its part of the file that tools.connectors names"
            yield problem(name, fault, remedy) if fault else ok(name, "answers")
    finally:
        await sources.close()


async def calls(settings: Settings, clock: Clock) -> AsyncIterator[Finding]:
    """Name the calls of which nobody knows what came of them; that the store is broken is told by the look at it."""
    with suppress(HermesError):
        async for finding in _unfinished(settings, clock):
            yield finding


async def _unfinished(settings: Settings, clock: Clock) -> AsyncIterator[Finding]:
    database = Database(settings.store_url)
    if database.missing:
        return
    await database.open()
    try:
        current, newest = await revisions(database)
        if current != newest:
            return
        log = CallLog(database, clock=clock)
        for call in await log.unfinished(before=clock() - UNFINISHED_AFTER, limit=MOST_CALLS):
            began = f"{call.started_at.astimezone():%Y-%m-%d %H:%M}"
            text = f"{call.tool} for {call.ticket_id or 'no ticket'} began {began} and never ended"
            yield note("tool call", text, "look whether it had its effect; it is not made again")
    finally:
        await database.close()
