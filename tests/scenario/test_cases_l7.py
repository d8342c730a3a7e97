"""Field case L7: the reaction on a message in work is decoration, and whatever Slack says of it the work is done."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace.faults import ApiError, Fault, RateLimited
from tests.llm.model_server import ModelServer, model_server
from tests.scenario.cases import playing
from tests.scenario.field import BOT, soon, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import SUPPORT, Stage, Talk, ask_for_refund
from tests.scenario.thinking import THINK, asking, slow

pytestmark = pytest.mark.asyncio(loop_scope="module")

MANY = 100


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[ModelServer]:
    async with model_server(slow) as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, model: ModelServer, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    more = asking(model) | {"HERMES_SLACK__SEEN_REACTION": "eyes"}
    async with playing(request.param, tmp_path_factory.mktemp("cases"), vectors, more=more) as stage:
        yield stage


def seen(stage: Stage, talk: Talk) -> bool:
    """Return whether the message has the bot's reaction."""
    post = stage.workspace.posts.get(talk.channel, talk.ts)
    assert post is not None
    return BOT in dict(post.reactions).get("eyes", ())


async def asked_slowly(stage: Stage, channel: str = "") -> Talk:
    """Return a question that is in work until the model speaks."""
    buyer = stage.next_buyer()
    return await stage.say(buyer.user, channel or buyer.dm, f"Where is my order {buyer.order.id}? {THINK}")


async def answered(stage: Stage, model: ModelServer, talk: Talk) -> None:
    """Let the model speak, and assert that there is one ticket with one answer and no reaction."""
    model.speaks.set()
    await stage.answer(talk)
    await stage.quiet()
    model.speaks.clear()

    assert len(stage.replies(talk)) == 1
    assert not seen(stage, talk)


@pytest.mark.parametrize("channel", [SUPPORT, ""], ids=["channel", "direct"])
async def test_l7_a_message_in_work_has_the_reaction_until_it_is_answered(
    stage: Stage, model: ModelServer, channel: str
) -> None:
    before = len(stage.workspace.posts.all())
    talk = await asked_slowly(stage, channel)
    await stage.until(lambda: seen(stage, talk))

    await answered(stage, model, talk)
    assert len(stage.workspace.posts.all()) - before < 5  # its own reaction comes back as an event, and starts nothing


async def test_l7_it_goes_away_when_people_take_over_and_when_an_approval_is_waited_for(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk, _card = await ask_for_refund(stage, stage.next_buyer())
    other = await stage.say(buyer.user, SUPPORT, "Can I talk to a person?")
    await stage.answer(other)
    await stage.quiet()

    assert not seen(stage, talk)
    assert not seen(stage, other)


@pytest.mark.parametrize(
    "method, fault",
    [
        ("reactions.add", ApiError("already_reacted")),
        ("reactions.add", ApiError("message_not_found")),
        ("reactions.remove", ApiError("no_reaction")),
        ("reactions.remove", ApiError("message_not_found")),
        ("reactions.add", RateLimited(1)),  # the last: from here on there are none for a minute
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value),
)
async def test_l7_whatever_slack_says_of_it_the_main_work_is_done(
    stage: Stage, model: ModelServer, method: str, fault: Fault
) -> None:
    stage.server.faults.add(method=method, fault=fault, times=MANY)
    talk = await asked_slowly(stage, SUPPORT)
    if method == "reactions.add":
        await soon(lambda: stage.server.faults.waiting() < MANY)
    else:
        await stage.until(lambda: seen(stage, talk))
    model.speaks.set()
    await stage.answer(talk)
    await stage.quiet()
    used = MANY - stage.server.faults.waiting()
    stage.server.faults.clear()
    model.speaks.clear()

    assert 1 <= used <= 2
    assert len(stage.replies(talk)) == 1
    assert len(tickets_of(stage, talk)) == 1
