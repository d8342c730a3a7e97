"""The scene of two whole bots on one PostgreSQL and one redis; tests/scenario/two_bots.py plays it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hermes_bot import settings
from hermes_bot.app.build import build_router
from routing.routes_file import load_table
from tests.fire.report import Report, Step, no_step
from tests.scenario.two_bots import play, servers_of
from tests.servers import NoServer, Redis, running_postgres


def refunds(folder: Path, server: Redis, *, tickets: int, kills: int, seed: int, step: Step = no_step) -> Report:
    """Many customers want their money back, people decide in any order, and one of the bots is killed now and then."""
    vectors = folder / "vectors"
    loaded = settings.load(None, {"HERMES_DATA__PATH": str(vectors), "HERMES_ENCODER__PROFILE": "light"}, folder=folder)
    build_router(loaded, load_table(loaded.routing.file)).close()
    try:
        with running_postgres() as postgres:
            servers = servers_of(postgres, server)
            playing = play(servers, folder, vectors / "cache", tickets=tickets, kills=kills, seed=seed, step=step)
            told = asyncio.run(playing)
    except (NoServer, AssertionError) as error:
        return Report(scene="two bots", problems=(str(error),))
    figures = {"tickets": told.tickets, "paid": told.paid, "rejected": told.rejected, "kills": told.kills}
    return Report(scene="two bots", figures={**figures, "seconds": told.took_s}, problems=told.problems)
