"""G1 twenty times over in both modes: one person twice within 50 ms, two people at once, in seeded interleavings."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace.posts import Post
from hermes_bot.workspace.refusal import Refusal
from tests.scenario.cases import approval_of, playing, small, told
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import APPROVE, OLIVIA, OMAR, Stage, ask_for_refund, paid_once

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEED, ROUNDS, WITHIN_S = 20261201, 20, 0.05
CLICKS: tuple[Sequence[str], ...] = ((OMAR, OMAR), (OMAR, OLIVIA), (OMAR, OLIVIA, OMAR), (OLIVIA, OLIVIA, OMAR, OMAR))


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("races"), vectors) as stage:
        yield stage


async def press(stage: Stage, user: str, card: Post, after_s: float) -> None:
    """Press Approve a moment later, where the button may be gone."""
    await asyncio.sleep(after_s)
    try:
        await stage.click(user, card, APPROVE)
    except Refusal as refusal:
        assert refusal.error == "action_not_found"  # noqa: PT017 - any other is no race but a mistake


@pytest.mark.parametrize("number", range(ROUNDS))
async def test_g1_clicks_within_50_ms_run_it_once_and_are_one_row_of_the_audit(stage: Stage, number: int) -> None:
    chance, buyer = random.Random(f"{SEED}:{number}"), small(stage)
    talk, card = await ask_for_refund(stage, buyer)

    clicks = CLICKS[number % len(CLICKS)]
    await asyncio.gather(*(press(stage, user, card, chance.uniform(0, WITHIN_S)) for user in clicks))

    await paid_once(stage, buyer, talk, card)
    assert [action for action, _ in told(stage.data, approval_of(card))] == ["requested", "approved", "ran"]
