"""A real redis, and route vectors that are computed once for every data folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_bot import settings
from hermes_bot.app.build import build_router
from routing.routes_file import load_table
from tests.servers import Redis, running_redis


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Redis]:
    """A real redis on a free port."""
    with running_redis() as server:
        yield server


@pytest.fixture(scope="session")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder in which the shipped routes are encoded already, by the profile `light`."""
    folder = tmp_path_factory.mktemp("vectors")
    loaded = settings.load(None, {"HERMES_DATA__PATH": str(folder), "HERMES_ENCODER__PROFILE": "light"}, folder=folder)
    build_router(loaded, load_table(loaded.routing.file)).close()
    return folder / "cache"
