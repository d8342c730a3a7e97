"""A flood of one person: the last of it is taken up when the window has passed, though the bot was away meanwhile."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

from hermes_bot import settings
from hermes_bot.app import HermesApp
from hermes_bot.messages.message import utc_now
from hermes_bot.settings import Settings
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.bot_process import environment
from tests.scenario.cases import cases_world
from tests.scenario.crowd import dead_letters
from tests.scenario.stage import Stage

FLOOD = {"HERMES_SLACK__FLOOD__MESSAGES": "2", "HERMES_SLACK__FLOOD__WINDOW_S": "3600"}


@asynccontextmanager
async def running(loaded: Settings, clock: Callable[[], datetime]) -> AsyncIterator[None]:
    """Run the bot until the block ends."""
    bot = HermesApp(settings=loaded, edge=True, clock=clock)
    try:
        await bot.start()
        yield
    finally:
        await bot.stop()


async def test_the_last_of_a_flood_is_answered_once_when_the_window_has_passed_after_a_restart(
    vectors: Path, tmp_path: Path
) -> None:
    data, later = tmp_path / "data", timedelta()
    shutil.copytree(vectors, data / "cache")

    def clock() -> datetime:
        return utc_now() + later

    async with WorkspaceServer(world=cases_world()) as server:
        stage, loaded = Stage(server, data), settings.load(None, environment(server, data, **FLOOD), folder=tmp_path)
        buyer = stage.next_buyer()
        async with running(loaded, clock):
            for text in ("Hello", "Hello?", "Is anybody there?", f"Where is my order {buyer.order.id}?"):
                talk = await stage.say(buyer.user, buyer.dm, text)
                await stage.quiet()
            assert stage.replies(talk) == []
        later = timedelta(hours=2)
        async with running(loaded, clock):
            assert "was delivered" in await stage.answer(talk)
            await stage.quiet()

        assert len(stage.replies(talk)) == 1
    assert dead_letters(data) == []
