"""A running bot for a scenario, reached over sockets or over signed HTTP."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hermes_bot import settings
from hermes_bot.app import HermesApp
from hermes_bot.workspace.server import WorkspaceServer
from tests.ports import free_port
from tests.scenario.bot_process import environment
from tests.scenario.crowd import dead_letters
from tests.scenario.stage import Stage, private_in_channels, story_world

MODES = ("socket", "http")


@asynccontextmanager
async def staged(mode: str, vectors: Path, folder: Path, **variables: str) -> AsyncIterator[Stage]:
    """A stage with a bot of its own; at the end nothing private stands in a channel and no letter is dead."""
    data = folder / "data"
    shutil.copytree(vectors, data / "cache")
    port = free_port()
    url = f"http://127.0.0.1:{port}/slack"
    over_http = mode == "http"
    async with WorkspaceServer(
        world=story_world(),
        events_url=f"{url}/events" if over_http else "",
        interactions_url=f"{url}/interactions" if over_http else "",
    ) as server:
        if mode == "http":
            secret = server.world.app.signing_secret
            variables |= {"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": secret}
        variables |= {"HERMES_HTTP__PORT": str(port)}
        bot = HermesApp(settings=settings.load(None, environment(server, data, **variables), folder=folder), edge=True)
        try:
            await bot.start()
            stage = Stage(server, data)
            yield stage
            await stage.quiet()
        finally:
            await bot.stop()
        assert private_in_channels(stage) == []
    assert dead_letters(data) == []
