"""G1 twenty times over: clicks, an edit and the bot's death in seeded orders; each refund is paid exactly once."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace.posts import Post
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.bot_process import BotProcess, environment
from tests.scenario.cases import MORE, approval_of, cases_world, told
from tests.scenario.crowd import dead_letters
from tests.scenario.stage import APPROVE, OLIVIA, OMAR, SUPPORT, Buyer, Stage, Talk, ask_for_refund, buttons

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEED, ROUNDS, DEATHS = 20261130, 20, 6
ENDINGS = frozenset({"approved", "rejected", "expired", "cancelled"})

Act = Callable[[], Awaitable[object]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """The workspace, which lives on while the bot does not."""
    folder = tmp_path_factory.mktemp("racing")
    shutil.copytree(vectors, folder / "data" / "cache")
    async with WorkspaceServer(world=cases_world()) as server:
        yield Stage(server, folder / "data")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bot(stage: Stage) -> AsyncIterator[BotProcess]:
    """The bot's process."""
    async with BotProcess(environment(stage.server, stage.data, **MORE), stage.data.parent) as bot:
        yield bot
        await stage.quiet()
    dead = dead_letters(stage.data)
    assert dead == [], dead


async def press(stage: Stage, user: str, card: Post) -> None:
    """Press Approve, which may be gone by now."""
    try:
        await stage.click(user, card, APPROVE)
    except Refusal as refusal:
        assert refusal.error == "action_not_found"  # noqa: PT017 - any other is no race but a mistake


def groups(chance: random.Random, acts: Sequence[Act]) -> list[list[Act]]:
    """Return the acts in a seeded order, some of them at the same moment."""
    shuffled = chance.sample(acts, len(acts))
    found: list[list[Act]] = []
    while shuffled:
        size = chance.randint(1, len(shuffled))
        found.append(shuffled[:size])
        shuffled = shuffled[size:]
    return found


async def play(stage: Stage, bot: BotProcess, chance: random.Random, buyer: Buyer, *, dies: bool) -> tuple[Talk, Post]:
    """Let everybody act in the round's order; where the bot dies, it is while one of the groups acts."""
    talk, card = await ask_for_refund(stage, buyer)
    acts: list[Act] = [partial(press, stage, user, card) for user in (OMAR, OMAR, OLIVIA)]
    if chance.random() < 0.4:
        words = f"I want a refund for order {buyer.order.id}, it is too small"
        acts.append(partial(stage.workspace.edit, buyer.user, SUPPORT, talk.ts, words))
    order = groups(chance, acts)
    death = chance.randrange(len(order)) if dies else -1
    for place, together in enumerate(order):
        deadly = [bot.kill()] if place == death else []
        await asyncio.gather(*(act() for act in together), *deadly)
        if deadly:
            await bot.start()
    return talk, card


@pytest.mark.parametrize("number", range(ROUNDS))
async def test_g1_in_any_order_and_with_deaths_it_runs_once(stage: Stage, bot: BotProcess, number: int) -> None:
    chance, buyer = random.Random(f"{SEED}:{number}"), stage.next_buyer()
    talk, first = await play(stage, bot, chance, buyer, dies=number % (ROUNDS // DEATHS) == 0)
    await stage.quiet()
    for user in (OMAR, OLIVIA):  # whatever was lost with the bot is pressed again by people who see the buttons stand
        for card in stage.cards("approval", buyer.order.id):
            if buttons(stage.now(card)):
                await press(stage, user, card)
        await stage.quiet()

    await stage.until(lambda: any("has been refunded" in each.text for each in stage.replies(talk)))
    cards = stage.cards("approval", buyer.order.id)
    await stage.until(lambda: not any(buttons(stage.now(card)) for card in cards))
    await stage.quiet()
    endings = [[what for what, _ in told(stage.data, approval_of(card)) if what in ENDINGS] for card in cards]
    assert stage.refunds(buyer) == 1
    assert sum("has been refunded" in each.text for each in stage.replies(talk)) == 1
    assert [len(each) for each in endings] == [1] * len(cards)
    assert sum(each == ["approved"] for each in endings) == 1
    assert first.ts in {card.ts for card in cards}
