"""Fixtures of the scenarios: a data folder in which nothing is left to encode, and a stage with a running bot."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.scenario.in_both_modes import staged
from tests.scenario.stage import Buyer, Stage, buyers


@pytest.fixture
def data(vectors: Path, tmp_path: Path) -> Path:
    """An empty data folder but for the vectors, so that a bot starts in a second or two."""
    folder = tmp_path / "data"
    shutil.copytree(vectors, folder / "cache")
    return folder


@pytest.fixture(scope="module")
def clerk() -> Buyer:
    """A customer who is an approver as well, the first of all."""
    return next(buyers())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(clerk: Buyer, vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A bot that runs for all tests; at the end nothing private may stand in a channel, and no letter may be dead."""
    async with staged("socket", vectors, tmp_path_factory.mktemp("story"), clerk.user) as stage:
        assert stage.next_buyer() == clerk
        yield stage
