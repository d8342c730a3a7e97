"""A running bot for a scenario, reached over sockets or over signed HTTP."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from hermes_bot import settings
from hermes_bot.app import HermesApp
from hermes_bot.workspace.clock import Clock
from hermes_bot.workspace.people import World
from hermes_bot.workspace.server import WorkspaceServer
from tests.ports import free_port
from tests.scenario.bot_process import environment
from tests.scenario.crowd import dead_letters
from tests.scenario.stage import Stage, private_in_channels, story_world

MODES = ("socket", "http")


@asynccontextmanager
async def running(
    mode: str,
    world: World,
    vectors: Path,
    folder: Path,
    more: Mapping[str, str],
    *,
    clock: Clock | None = None,
    meant: str = "",
    prepared: Callable[[WorkspaceServer], None] | None = None,
) -> AsyncIterator[Stage]:
    """A stage with a bot of its own; at the end no letter is dead, but those that `meant` matches.

    The workspace goes by `clock`, the bot by the real time; `prepared` changes the workspace before the bot starts.
    """
    data, port = folder / "data", free_port()
    over_http, variables = mode == "http", dict(more)
    shutil.copytree(vectors, data / "cache")
    url = f"http://127.0.0.1:{port}/slack"
    async with WorkspaceServer(
        world=world,
        clock=clock,
        events_url=f"{url}/events" if over_http else "",
        interactions_url=f"{url}/interactions" if over_http else "",
    ) as server:
        if prepared is not None:
            prepared(server)
        if over_http:
            variables |= {"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": server.world.app.signing_secret}
            variables |= {"HERMES_HTTP__PORT": str(port)}
        bot = HermesApp(settings=settings.load(None, environment(server, data, **variables), folder=folder), edge=True)
        try:
            await bot.start()
            stage = Stage(server, data)
            yield stage
            await stage.quiet()
        finally:
            await bot.stop()
    dead = [letter for letter in dead_letters(data) if not (meant and re.search(meant, letter))]
    assert dead == [], dead


@asynccontextmanager
async def staged(mode: str, vectors: Path, folder: Path, clerk: str = "", **variables: str) -> AsyncIterator[Stage]:
    """The story's people with a bot of their own; at the end nothing private stands in a channel."""
    async with running(mode, story_world(clerk), vectors, folder, variables) as stage:
        yield stage
        await stage.quiet()
        assert private_in_channels(stage) == []
