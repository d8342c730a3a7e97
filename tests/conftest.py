"""Fixtures that every part's tests may use: the labelled data beside the checkout, and a running local workspace."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace.server import WorkspaceServer


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The developers' data folder; a user's clone has none, and the tests that read it are skipped there."""
    default = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("HERMES_SHARED") or default)
    if not folder.is_dir():
        reason = f"the labelled data is not there: {folder}"
        if os.environ.get("HERMES_REQUIRE_SHARED") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest_asyncio.fixture
async def workspace() -> AsyncIterator[WorkspaceServer]:
    """A local workspace with the demo's people, on a free port."""
    async with WorkspaceServer(port=0) as server:
        yield server
