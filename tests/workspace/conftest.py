"""Fixtures for the workspace's own tests."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import bot_client, running
from tests.workspace.clicks import Clicks


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest_asyncio.fixture
async def timed(clock: SettableClock) -> AsyncIterator[WorkspaceServer]:
    """A workspace whose time moves only when the test moves it."""
    async with WorkspaceServer(clock=clock) as server:
        yield server


@pytest.fixture
def client(workspace: WorkspaceServer) -> AsyncWebClient:
    """The bot's client."""
    return bot_client(workspace)


@pytest_asyncio.fixture
async def clicks(workspace: WorkspaceServer) -> AsyncIterator[Clicks]:
    async with running(workspace) as bot:
        yield Clicks(bot, workspace)
