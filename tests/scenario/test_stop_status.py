"""Stop, whatever is in work: it ends, and the bot itself moves the status that Slack shows beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from slack_sdk.web.async_client import AsyncWebClient

from tests.llm.model_server import ModelServer, model_server
from tests.scenario.cases import playing, small
from tests.scenario.field import held, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import CORNER, SUPPORT, Stage, Talk, ask_for_refund, buttons
from tests.scenario.thinking import THINK, asking, slow

pytestmark = pytest.mark.asyncio(loop_scope="module")

STOPPED = "I've stopped"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[ModelServer]:
    async with model_server(slow) as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, model: ModelServer, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("stop"), vectors, more=asking(model)) as stage:
        yield stage


def status(stage: Stage, talk: Talk) -> str:
    """Return what Slack shows beside the work."""
    session = stage.workspace.sessions.of(talk.channel, talk.root or talk.ts)
    return "" if session is None else session.status


async def at_work(stage: Stage, channel: str, ts: str) -> None:
    """Show the bot at work, as it is while it answers something else there: Slack offers Stop only then."""
    client = AsyncWebClient(token=stage.server.world.app.bot_token, base_url=stage.server.api_url)
    place = {"channel_id": channel, "thread_ts": ts, "status": "processing"}
    await client.api_call("agents.sessions.setStatus", json=place)


def stops(stage: Stage, talk: Talk) -> int:
    """Return how often the person was told that the bot has stopped."""
    return sum(STOPPED in post.text for post in stage.replies(talk))


@pytest.mark.parametrize("place", ["channel", "direct"])
async def test_while_a_model_thinks_its_step_ends_and_nothing_is_in_work(
    stage: Stage, model: ModelServer, place: str
) -> None:
    buyer = stage.next_buyer()
    channel = SUPPORT if place == "channel" else buyer.dm
    talk = await stage.say(buyer.user, channel, f"Where is my order {buyer.order.id}? {THINK}")
    async with asyncio.timeout(60):
        while not any(THINK in asked.text and buyer.order.id in asked.text for asked in model.asked):
            model.arrived.clear()
            await model.arrived.wait()
    await stage.until(lambda: status(stage, talk) == "processing")

    await stage.workspace.stop(buyer.user, talk.channel, talk.root or talk.ts)

    await stage.until(lambda: status(stage, talk) == "active")
    await stage.until(lambda: stops(stage, talk))
    await stage.quiet()
    assert status(stage, talk) == "active"
    assert len(stage.replies(talk)) == 1


@pytest.mark.parametrize("place", ["channel", "direct"])
async def test_while_an_approval_waits_it_is_cancelled_and_nothing_is_suspended(stage: Stage, place: str) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer, SUPPORT if place == "channel" else buyer.dm)
    await stage.until(lambda: status(stage, talk) == "suspended")
    await stage.quiet()
    await at_work(stage, talk.channel, talk.ts)

    await stage.workspace.stop(buyer.user, talk.channel, talk.ts)

    await stage.until(lambda: not buttons(stage.now(card)))
    await stage.until(lambda: status(stage, talk) == "active")
    await stage.quiet()
    assert status(stage, talk) == "active"
    assert "Cancelled" in stage.now(card).text
    assert stage.refunds(buyer) == 0


async def test_a_second_stop_moves_the_status_again_and_is_not_told_again(stage: Stage) -> None:
    buyer = small(stage)
    talk, _card = await ask_for_refund(stage, buyer)
    await stage.quiet()
    for _ in range(2):
        await at_work(stage, talk.channel, talk.ts)
        await stage.workspace.stop(buyer.user, talk.channel, talk.ts)
        await stage.until(lambda: status(stage, talk) == "active")
        await stage.quiet()

    assert status(stage, talk) == "active"
    assert stops(stage, talk) == 1


async def test_in_a_thread_of_which_the_bot_knows_nothing_the_status_is_moved_and_nothing_is_said(stage: Stage) -> None:
    user = stage.next_buyer().user
    with held(stage):
        talk = await stage.say(user, CORNER, "Nobody hears of this")
    await at_work(stage, CORNER, talk.ts)

    await stage.workspace.stop(user, CORNER, talk.ts)

    await stage.until(lambda: status(stage, talk) == "active")
    await stage.quiet()
    assert stage.replies(talk) == []
    assert tickets_of(stage, talk) == []


async def test_somebody_elses_work_is_not_stopped_and_still_shown(stage: Stage) -> None:
    buyer, other = small(stage), stage.next_buyer()
    talk, card = await ask_for_refund(stage, buyer)
    await stage.quiet()
    await at_work(stage, talk.channel, talk.ts)

    await stage.workspace.stop(other.user, talk.channel, talk.ts)

    await stage.quiet()
    assert status(stage, talk) == "processing"
    assert buttons(stage.now(card))
    assert stops(stage, talk) == 0
