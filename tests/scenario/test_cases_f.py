"""Field cases of kind F, threads and channels: F1, F3 and their relatives, over sockets and over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.faults import ReplyLost
from hermes_bot.workspace.posts import Post
from tests.scenario.cases import playing
from tests.scenario.field import BOT, bot_posts, deliver, held, talk_at, tickets_at, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import CORNER, SUPPORT, Buyer, Stage, Talk, key_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

MENTIONS_ONLY = {"HERMES_SLACK__SUPPORT_CHANNELS": '["C0SUPPORT"]'}
ROUND_TS = "1700000000.000100"  # as a number it would lose its zeros


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    """A workspace at a time whose message ids end with zeros, and a bot that waits for mentions in the corner."""
    folder, clock = tmp_path_factory.mktemp("cases"), SettableClock(1_700_000_000.0)
    async with playing(request.param, folder, vectors, more=MENTIONS_ONLY, clock=clock) as stage:
        yield stage


async def test_f1_a_mention_in_the_third_reply_is_answered_under_the_parent_and_a_ts_stays_a_string(
    stage: Stage,
) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    parent = Post(channel=CORNER, ts=ROUND_TS, user=other.user, text="Does anybody know?")
    stage.workspace.conversations.post(parent)
    for number in (1, 2):
        await stage.workspace.post(other.user, CORNER, f"Remark {number}", ROUND_TS)
    ts = await stage.workspace.post(
        buyer.user, CORNER, f"<@{BOT}> where is my order {buyer.order.id}?", ROUND_TS, raw=True
    )
    talk = Talk(user=buyer.user, channel=CORNER, ts=ts, root=ROUND_TS)
    assert "was delivered" in await stage.answer(talk)
    await stage.quiet()

    assert len(stage.replies(talk)) == 1
    assert [each["thread_ts"] for each in tickets_of(stage, talk)] == [ROUND_TS]
    assert stage.workspace.posts.replies(CORNER, ts) == []  # a reply's own ts is nobody's parent
    assert all(key_of(post) == "" for post in stage.workspace.posts.roots(CORNER))


async def test_f1_the_whole_ids_come_back_in_what_is_posted(stage: Stage) -> None:
    buyer = stage.next_buyer()
    ts = "1700000000.001000"
    stage.workspace.conversations.post(
        Post(channel=SUPPORT, ts=ts, user=buyer.user, text=f"Where is my order {buyer.order.id}?")
    )
    talk = talk_at(stage, buyer.user, SUPPORT, ts)
    assert "was delivered" in await stage.answer(talk)

    payload = (stage.replies(talk)[0].metadata or {})["event_payload"]
    assert payload["in_reply_to"] == ts
    assert tickets_at(stage, SUPPORT, ts)[0]["context_id"].endswith(f":{ts}")


async def test_f1_a_thread_with_the_bot_goes_on_without_mentions_and_others_are_left_alone(stage: Stage) -> None:
    buyer = stage.next_buyer()
    ts = await stage.workspace.post(buyer.user, CORNER, f"<@{BOT}> where is my order?", raw=True)
    talk = talk_at(stage, buyer.user, CORNER, ts)
    await stage.answer(talk)
    more = await stage.say(buyer.user, CORNER, f"{buyer.order.id}", ts)
    assert "was delivered" in await stage.answer(more)
    alone = await stage.say(buyer.user, CORNER, "Lunch?")
    await stage.say(buyer.user, CORNER, "Where is my order?", alone.ts)
    await stage.quiet()

    assert len(tickets_of(stage, talk)) == 1
    assert stage.replies(alone) == []
    assert tickets_of(stage, alone) == []


async def test_f1_a_thread_in_a_direct_message_is_answered_in_the_thread(stage: Stage) -> None:
    buyer = stage.next_buyer()
    first = await stage.say(buyer.user, buyer.dm, "Hello")
    await stage.answer(first)
    talk = await stage.say(buyer.user, buyer.dm, f"Where is my order {buyer.order.id}?", first.ts)
    assert "was delivered" in await stage.answer(talk)
    await stage.quiet()

    assert len(stage.replies(talk)) == 1


async def test_f1_where_the_parent_is_gone_the_answer_still_reaches_its_customer_once_and_alone(stage: Stage) -> None:
    buyer = stage.next_buyer()
    root = await stage.say(buyer.user, CORNER, "Something")
    with held(stage) as bodies:
        ts = await stage.workspace.post(
            buyer.user, CORNER, f"<@{BOT}> where is my order {buyer.order.id}?", root.ts, raw=True
        )
        await stage.workspace.delete(buyer.user, CORNER, ts)
        await stage.workspace.delete(buyer.user, CORNER, root.ts)
    deliver(stage, *[body for body in bodies if "subtype" not in body["event"]])
    await stage.until(lambda: _told(stage, buyer, buyer.dm))
    await stage.quiet()

    assert len(_told(stage, buyer, buyer.dm)) == 1
    assert _told(stage, buyer, CORNER) == []


def _told(stage: Stage, buyer: Buyer, channel: str) -> list[Post]:
    told = f"Order {buyer.order.id} was delivered"
    return [each for each in bot_posts(stage) if each.channel == channel and each.text.startswith(told)]


async def test_f3_in_a_thread_of_250_replies_an_answer_that_got_lost_is_found_and_not_repeated(stage: Stage) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    root = await stage.say(other.user, CORNER, "A long story")
    for number in range(250):
        with held(stage):
            await stage.workspace.post(other.user, CORNER, f"Part {number}", root.ts)
    stage.server.faults.add(method="chat.postMessage", fault=ReplyLost(), channel=CORNER)
    ts = await stage.workspace.post(
        buyer.user, CORNER, f"<@{BOT}> where is my order {buyer.order.id}?", root.ts, raw=True
    )
    talk = Talk(user=buyer.user, channel=CORNER, ts=ts, root=root.ts)
    assert "was delivered" in await stage.answer(talk)
    await stage.quiet()

    assert len(stage.replies(talk)) == 1
    assert stage.server.faults.waiting() == 0
