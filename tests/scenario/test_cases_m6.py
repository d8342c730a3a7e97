"""Field case M6: after ten idle minutes and a new connection the next message is handled, and ages are told."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from hermes_bot import settings
from hermes_bot.app import HermesApp
from hermes_bot.messages.message import utc_now
from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.server import WorkspaceServer
from tests.ports import free_port
from tests.scenario.bot_process import environment
from tests.scenario.cases import cases_world
from tests.scenario.crowd import dead_letters
from tests.scenario.field import tickets_of
from tests.scenario.stage import SUPPORT, Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

IDLE_S = 600.0


class Idling:
    """A bot and a workspace, whose clocks a test moves together."""

    def __init__(self, server: WorkspaceServer, clock: SettableClock, data: Path, port: int) -> None:
        self.server = server
        self.stage = Stage(server, data)
        self.port = port
        self._clock = clock
        self._later = timedelta()

    def now(self) -> datetime:
        """Return the time as the bot sees it."""
        return utc_now() + self._later

    def idle(self, seconds: float) -> None:
        """Let time pass in which nobody writes."""
        self._later += timedelta(seconds=seconds)
        self._clock.advance(seconds)

    async def handled_once(self) -> None:
        """Say something, and assert that it becomes one ticket with one answer."""
        buyer = self.stage.next_buyer()
        talk = await self.stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
        assert "was delivered" in await self.stage.answer(talk)
        await self.stage.quiet()
        assert len(tickets_of(self.stage, talk)) == 1
        assert len(self.stage.replies(talk)) == 1

    async def readyz(self) -> tuple[int, dict[str, Any]]:
        """Return what the bot says of itself."""
        address = f"http://127.0.0.1:{self.port}/readyz"
        async with aiohttp.ClientSession() as session, session.get(address) as response:
            return response.status, await response.json()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def idling(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Idling]:
    folder = tmp_path_factory.mktemp("idle")
    shutil.copytree(vectors, folder / "data" / "cache")
    port, clock = free_port(), SettableClock(utc_now().timestamp())
    async with WorkspaceServer(world=cases_world(), clock=clock) as server:
        variables = environment(server, folder / "data", HERMES_HTTP__PORT=str(port))
        idling = Idling(server, clock, folder / "data", port)
        loaded = settings.load(None, variables, folder=folder)
        bot = HermesApp(settings=loaded, edge=True, clock=idling.now)
        try:
            await bot.start()
            yield idling
        finally:
            await bot.stop()
    assert dead_letters(folder / "data") == []


async def test_m6_after_ten_idle_minutes_and_a_new_connection_the_next_message_is_handled_once(idling: Idling) -> None:
    sockets = idling.server.sockets
    await idling.handled_once()
    idling.idle(IDLE_S)
    status, quiet = await idling.readyz()
    assert status == 200
    assert quiet["last_event_s"] >= IDLE_S
    sockets.disconnect("refresh_requested")
    await idling.stage.until(lambda: sockets.connected)

    await idling.handled_once()

    status, told = await idling.readyz()
    assert status == 200
    assert 0 <= told["last_event_s"] < IDLE_S
    assert told["last_pong_s"] >= 0
