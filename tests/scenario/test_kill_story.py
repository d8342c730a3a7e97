"""A bot that is stopped or killed between a click and its result: one refund, one message, one card."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace.faults import Fault, ReplyLost, ServerError
from hermes_bot.workspace.posts import Post
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.bot_process import BotProcess, environment
from tests.scenario.crowd import dead_letters
from tests.scenario.stage import (
    APPROVE,
    LIMIT_S,
    OMAR,
    SUPPORT,
    Buyer,
    Stage,
    Talk,
    ask_for_refund,
    buttons,
    paid_once,
    story_world,
)

ALWAYS = 1000
LOOK_EVERY_S = 0.01

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bot(stage: Stage, variables: dict[str, str], folder: Path) -> AsyncIterator[BotProcess]:
    """The bot's process."""
    async with BotProcess(variables, folder) as bot:
        yield bot
        await stage.quiet()
    assert dead_letters(folder / "data") == []


@pytest.fixture(scope="module")
def folder(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the bot runs; its data folder has the vectors."""
    folder = tmp_path_factory.mktemp("kill")
    shutil.copytree(vectors, folder / "data" / "cache")
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(folder: Path) -> AsyncIterator[Stage]:
    """The workspace, which lives on while the bot does not."""
    async with WorkspaceServer(world=story_world()) as server:
        yield Stage(server, folder / "data")


@pytest.fixture(scope="module")
def variables(stage: Stage, folder: Path) -> dict[str, str]:
    """What connects the bot to the workspace."""
    return environment(stage.server, folder / "data")


@pytest_asyncio.fixture(loop_scope="module")
async def buyer(stage: Stage, bot: BotProcess) -> Buyer:
    """A customer of one test; whatever the last test did, Slack works and the bot runs."""
    stage.server.faults.clear()
    if not bot.running:
        await bot.start()
    return stage.next_buyer()


async def eventually(true: Callable[[], object]) -> None:
    """Wait for a state of the other process's files."""
    async with asyncio.timeout(LIMIT_S):
        while not true():  # noqa: ASYNC110 - the state is another process's, in a file
            await asyncio.sleep(LOOK_EVERY_S)


async def test_an_approval_that_waits_outlives_a_restart(stage: Stage, bot: BotProcess, buyer: Buyer) -> None:
    talk, card = await ask_for_refund(stage, buyer)
    code = await bot.stop()
    while_away = await stage.click(OMAR, card, APPROVE)
    await bot.start()

    outcome = await stage.click(OMAR, card, APPROVE)

    assert code == 0
    assert (while_away.ok, while_away.error) == (False, "no_connection")
    assert outcome.ok
    await paid_once(stage, buyer, talk, card)


Moment = tuple[str, str, Fault | None, int, Callable[[Stage, Buyer, Talk, Post], object]]
MOMENTS: list[Moment] = [
    ("the click was taken", "", None, 0, lambda stage, buyer, talk, card: True),
    ("paid, nobody told", "chat.postMessage", ServerError(), ALWAYS, lambda stage, buyer, _, __: stage.refunds(buyer)),
    ("told, receipt lost", "chat.postMessage", ReplyLost(), 1, lambda stage, _, talk, __: len(stage.replies(talk)) > 1),
    ("redrawn, receipt lost", "chat.update", ReplyLost(), 1, lambda stage, _, __, card: not buttons(stage.now(card))),
]


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment[0])
async def test_a_kill_between_the_click_and_its_result_pays_once_and_tells_once(
    stage: Stage, bot: BotProcess, buyer: Buyer, moment: Moment
) -> None:
    _, method, fault, times, reached = moment
    talk, card = await ask_for_refund(stage, buyer)
    if fault is not None:
        stage.server.faults.add(method=method, fault=fault, times=times, channel=SUPPORT)
    assert (await stage.click(OMAR, card, APPROVE)).ok
    await eventually(lambda: reached(stage, buyer, talk, card))
    await bot.kill()
    stage.server.faults.clear()

    await bot.start()

    await paid_once(stage, buyer, talk, card)
