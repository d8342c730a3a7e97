from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.edge.edge import Doors
from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.server import WorkspaceServer
from tests.edge.rig import Rig, connected
from tests.ports import free_port


@pytest.fixture
def clock() -> SettableClock:
    """The workspace's clock: it stands still until a test moves it."""
    return SettableClock()


@pytest_asyncio.fixture
async def socket_rig(tmp_path: Path, clock: SettableClock) -> AsyncIterator[Rig]:
    """An edge in Socket Mode."""
    async with WorkspaceServer(clock=clock) as server, connected(server, tmp_path) as rig:
        yield rig


@pytest_asyncio.fixture
async def http_rig(tmp_path: Path, clock: SettableClock) -> AsyncIterator[Rig]:
    """An edge that Slack reaches over signed HTTP."""
    port = free_port()
    base = f"http://127.0.0.1:{port}/slack"
    server = WorkspaceServer(clock=clock, events_url=f"{base}/events", interactions_url=f"{base}/interactions")
    doors = Doors(signing_secret=server.world.app.signing_secret, port=port)
    async with server, connected(server, tmp_path, doors=doors) as rig:
        yield rig


@pytest.fixture(params=["socket", "http"])
def rig(request: pytest.FixtureRequest) -> Rig:
    """An edge in each of the two modes."""
    found: Rig = request.getfixturevalue(f"{request.param}_rig")
    return found
