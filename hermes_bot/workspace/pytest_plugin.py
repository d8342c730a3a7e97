"""A pytest fixture for other people's bots.

`pytest_plugins = ["hermes_bot.workspace.pytest_plugin"]` in conftest.py brings it; see docs/workspace.md.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hermes_bot.workspace.in_thread import WorkspaceInThread
from hermes_bot.workspace.people import World, demo_world
from hermes_bot.workspace.server import WorkspaceServer


@pytest.fixture
def slack_world() -> World:
    """Who and what is there; a test, or a conftest, gives a fixture of the same name to have others."""
    return demo_world()


@pytest.fixture
def slack_workspace(slack_world: World) -> Iterator[WorkspaceInThread]:
    """A running workspace on a free port, new for each test."""
    with WorkspaceInThread(lambda: WorkspaceServer(world=slack_world)) as workspace:
        yield workspace
