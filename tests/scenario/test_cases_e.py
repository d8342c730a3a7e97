"""Field cases of kind E, mentions: E1, E3 and their relatives, over sockets and over HTTP."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.scenario.cases import playing
from tests.scenario.crowd import crowd
from tests.scenario.field import BOT, acknowledged, deliver, held, noted, talk_at, ticket_count, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import CORNER, OMAR, SUPPORT, Stage, Talk

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEED, ROUNDS = 20261202, 20
MENTIONS_ONLY = {"HERMES_SLACK__SUPPORT_CHANNELS": '["C0SUPPORT"]'}


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    """A bot that takes everything in one channel, and mentions alone in the others."""
    folder = tmp_path_factory.mktemp("cases")
    async with playing(request.param, folder, vectors, more=MENTIONS_ONLY) as stage:
        yield stage


async def one_answer(stage: Stage, talk: Talk) -> None:
    """Wait until all is done, and assert that the message became one ticket with one reply."""
    await stage.answer(talk)
    await stage.quiet()
    assert len(tickets_of(stage, talk)) == 1
    assert len(stage.replies(talk)) == 1


@pytest.mark.parametrize("number", range(ROUNDS))
async def test_e1_both_events_in_any_order_and_at_any_distance_are_one_ticket(stage: Stage, number: int) -> None:
    chance = random.Random(f"{SEED}:{number}")
    channel = chance.choice((SUPPORT, CORNER))
    user = crowd(2 + ROUNDS)[2 + number]
    with held(stage) as bodies:
        ts = await stage.workspace.post(user, channel, f"<@{BOT}> where is my order?", raw=True)
    talk = talk_at(stage, user, channel, ts)
    assert sorted(body["event"]["type"] for body in bodies) == ["app_mention", "message"]
    order = chance.sample(bodies, 2) + chance.choices(bodies, k=chance.randint(0, 2))  # some come once more
    for body in order:
        deliver(stage, body)
        if chance.random() < 0.3:
            await acknowledged(stage)
        elif chance.random() < 0.3:
            await stage.quiet()

    await one_answer(stage, talk)


async def test_e1_the_pair_of_a_reply_in_a_thread_is_said_once(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, "Can I talk to a person?")
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    await stage.workspace.post(buyer.user, SUPPORT, f"<@{BOT}> are you there?", talk.root, raw=True)
    await stage.quiet()

    assert len(tickets_of(stage, talk)) == 1
    assert len(noted(stage, card)) == 1


async def test_e1_a_direct_message_with_a_mention_is_one_ticket(stage: Stage) -> None:
    buyer = stage.next_buyer()
    text = f"<@{BOT}> where is my order {buyer.order.id}?"
    ts = await stage.workspace.post(buyer.user, buyer.dm, text, raw=True)
    talk = talk_at(stage, buyer.user, buyer.dm, ts)
    assert "was delivered" in await stage.answer(talk)
    await stage.quiet()
    assert len(stage.replies(talk)) == 1


async def test_e1_a_mention_that_stands_in_the_blocks_alone_is_heard(stage: Stage) -> None:
    buyer = stage.next_buyer()
    words = [{"type": "user", "user_id": BOT}, {"type": "text", "text": f" where is my order {buyer.order.id}?"}]
    rich = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": words}]}
    ts = await stage.workspace.post(buyer.user, CORNER, "", blocks=[rich])

    await one_answer(stage, talk_at(stage, buyer.user, CORNER, ts))


async def test_e1_several_mentions_and_a_named_one_are_one_ticket(stage: Stage) -> None:
    buyer = stage.next_buyer()
    text = f"<@{BOT}|hermes> <@{OMAR}> <@{BOT}>, where is my order {buyer.order.id}?"
    ts = await stage.workspace.post(buyer.user, SUPPORT, text, raw=True)
    talk = talk_at(stage, buyer.user, SUPPORT, ts)

    await one_answer(stage, talk)
    assert BOT not in tickets_of(stage, talk)[0]["subject"]


@pytest.mark.parametrize("fence", ["```{}```", "`{}`", "```\n{}\n```", "see ```{}``` there"])
async def test_e3_a_mention_inside_code_executes_no_command(stage: Stage, fence: str) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, "Can I talk to a person?")
    await stage.answer(talk)
    await stage.card("handoff", buyer.name)
    for command in ("suggest", "wrong team: refund", "approve", "status", "forget me"):
        ts = await stage.workspace.post(OMAR, SUPPORT, fence.format(f"<@{BOT}> {command}"), talk.root, raw=True)
        assert ts
    await stage.quiet()

    whispers = [each["text"] for each in stage.workspace.ephemerals(OMAR) if each.get("thread_ts") == talk.root]
    assert whispers == []
    (ticket,) = tickets_of(stage, talk)
    assert ticket["route"] != "refund"
    assert ticket["suggest_to"] == ""


async def test_e3_a_mention_inside_code_is_no_call_where_the_bot_waits_for_one(stage: Stage) -> None:
    tickets = ticket_count(stage)
    for text in (f"```<@{BOT}> help```", f"type `<@{BOT}> where is my order?` to ask"):
        await stage.workspace.post(crowd(3)[2], CORNER, text, raw=True)
    await stage.quiet()

    assert ticket_count(stage) == tickets


@pytest.mark.parametrize("kind", ["rich_text_preformatted", "rich_text_section"])
async def test_e3_a_mention_inside_code_is_no_call_though_it_stands_in_the_blocks_alone(
    stage: Stage, kind: str
) -> None:
    tickets = ticket_count(stage)
    style = {"style": {"code": True}} if kind == "rich_text_section" else {}
    words = [{"type": "user", "user_id": BOT} | style, {"type": "text", "text": " where is my order?"} | style]
    rich = {"type": "rich_text", "elements": [{"type": kind, "elements": words}]}
    with held(stage) as bodies:
        await stage.workspace.post(crowd(3)[2], CORNER, "", blocks=[rich])
    assert sorted(body["event"]["type"] for body in bodies) == ["app_mention", "message"]
    deliver(stage, *bodies)
    await stage.quiet()

    assert ticket_count(stage) == tickets


@pytest.mark.parametrize(
    "text",
    [f"&lt;@{BOT}&gt; where is my order?", f"@{BOT} where is my order?", f"<@{OMAR}> hi", "<!subteam^S0APPROVERS>"],
)
async def test_e_what_only_looks_like_a_mention_of_the_bot_calls_nobody(stage: Stage, text: str) -> None:
    tickets = ticket_count(stage)
    await stage.workspace.post(crowd(3)[2], CORNER, text, raw=True)
    await stage.quiet()

    assert ticket_count(stage) == tickets


async def test_e_where_the_bot_waits_for_a_call_others_may_talk_in_the_thread_of_somebodys_ticket(stage: Stage) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    ts = await stage.workspace.post(buyer.user, CORNER, f"<@{BOT}> where is my order {buyer.order.id}?", raw=True)
    talk = talk_at(stage, buyer.user, CORNER, ts)
    await one_answer(stage, talk)
    await stage.say(other.user, CORNER, f"Where is my order {other.order.id}?", ts)
    await stage.quiet()
    assert len(tickets_of(stage, talk)) == 1
    await stage.say(buyer.user, CORNER, "And when did it come?", ts)  # who has the ticket need not call again
    await stage.answer(talk, 2)
    await stage.workspace.post(other.user, CORNER, f"<@{BOT}> where is my order {other.order.id}?", ts, raw=True)
    await stage.answer(talk, 3)
    await stage.quiet()

    assert sorted(each["requester"] for each in tickets_of(stage, talk)) == sorted([buyer.user, other.user])
