"""Fixtures of the scenarios: route vectors that are computed once, for every data folder that a test begins with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hermes_bot import settings
from hermes_bot.app.build import build_router
from routing.routes_file import load_routes


@pytest.fixture(scope="session")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder in which the shipped routes are encoded already, by the profile `light`."""
    folder = tmp_path_factory.mktemp("vectors")
    variables = {"HERMES_DATA__PATH": str(folder), "HERMES_ENCODER__PROFILE": "light"}
    loaded = settings.load(None, variables, folder=folder)
    build_router(loaded, load_routes(loaded.routing.file)).close()
    return folder / "cache"


@pytest.fixture
def data(vectors: Path, tmp_path: Path) -> Path:
    """An empty data folder but for the vectors, so that a bot starts in a second or two."""
    folder = tmp_path / "data"
    shutil.copytree(vectors, folder / "cache")
    return folder
