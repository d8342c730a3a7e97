"""Stop while a refund waits for people: it is off, wherever the customer wrote, and whoever presses later is told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from slack_sdk.web.async_client import AsyncWebClient

from tests.scenario.cases import approval_of, playing, small, told
from tests.scenario.stage import SUPPORT, Stage, Talk, ask_for_refund, buttons

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["socket", "http"])
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("stop"), vectors) as stage:
        yield stage


async def at_work(stage: Stage, talk: Talk) -> None:
    """Show the bot at work in the conversation, as it is while it answers something else there."""
    client = AsyncWebClient(token=stage.server.world.app.bot_token, base_url=stage.server.api_url)
    place = {"channel_id": talk.channel, "thread_ts": talk.ts, "status": "processing"}
    await client.api_call("agents.sessions.setStatus", json=place)


@pytest.mark.parametrize("place", ["channel", "direct"])
async def test_whoever_does_not_want_it_any_more_cancels_what_waits_and_people_hear_of_it(
    stage: Stage, place: str
) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer, SUPPORT if place == "channel" else buyer.dm)

    await stage.say(buyer.user, talk.channel, "Please don't refund it", talk.root)

    await stage.until(lambda: not buttons(stage.now(card)))
    await stage.until(lambda: any("withdrawn the request" in post.text for post in stage.replies(talk)))
    await stage.quiet()
    assert "Cancelled" in stage.now(card).text
    assert [action for action, _ in told(stage.data, approval_of(card))] == ["requested", "cancelled"]
    assert any("told a colleague" in post.text for post in stage.replies(talk))
    assert stage.refunds(buyer) == 0


@pytest.mark.parametrize("place", ["channel", "direct"])
async def test_stop_cancels_what_waits_for_approval(stage: Stage, place: str) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer, SUPPORT if place == "channel" else buyer.dm)
    await stage.quiet()
    await at_work(stage, talk)

    await stage.workspace.stop(buyer.user, talk.channel, talk.ts)

    await stage.until(lambda: not buttons(stage.now(card)))
    await stage.quiet()
    assert "Cancelled" in stage.now(card).text
    assert [action for action, _ in told(stage.data, approval_of(card))] == ["requested", "cancelled"]
    assert stage.refunds(buyer) == 0
