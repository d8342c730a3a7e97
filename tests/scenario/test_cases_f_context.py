"""Field case F3 and its relatives: the bot is called into a thread, and what stands there already is its context."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.faults import ApiError, RateLimited, ServerError
from hermes_bot.workspace.people import Channel
from hermes_bot.workspace.posts import Post
from tests.scenario.cases import playing
from tests.scenario.field import BOT, bot_posts, deliver, held, rows, texts_of, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import CORNER, OMAR, Buyer, Stage, Talk

pytestmark = pytest.mark.asyncio(loop_scope="module")

MENTIONS_ONLY = {
    "HERMES_SLACK__SUPPORT_CHANNELS": '["C0SUPPORT"]',
    "HERMES_AGENTS__CIRCUIT_BREAKER__FAILURE_THRESHOLD": "50",
}
PRIVATE = "C0PRIVATE"


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    """A bot that waits for mentions in the corner, and in a private channel."""
    folder, clock = tmp_path_factory.mktemp("cases"), SettableClock(1_700_000_000.0)
    async with playing(request.param, folder, vectors, more=MENTIONS_ONLY, clock=clock) as stage:
        corner = stage.workspace.roster.channel(CORNER)
        stage.workspace.roster.put_channel(Channel(id=PRIVATE, name="private", private=True, members=corner.members))
        yield stage


async def call(
    stage: Stage, buyer: Buyer, root: str, text: str, channel: str = CORNER, *, broadcast: bool = False
) -> Talk:
    ts = await stage.workspace.post(buyer.user, channel, f"<@{BOT}> {text}", root, raw=True, broadcast=broadcast)
    return Talk(user=buyer.user, channel=channel, ts=ts, root=root)


def kept(stage: Stage, talk: Talk) -> list[str]:
    """Return what the bot keeps of the thread."""
    (ticket,) = tickets_of(stage, talk)
    lines = rows(
        stage, "SELECT text FROM thread_lines WHERE ticket_number = ? ORDER BY root DESC, ts", ticket["number"]
    )
    return [line["text"] for line in lines]


async def card_of(stage: Stage, talk: Talk) -> Post:
    """Return the handoff card of the thread's one ticket."""
    await stage.until(lambda: tickets_of(stage, talk) and tickets_of(stage, talk)[0]["owner"] != "bot")
    (ticket,) = tickets_of(stage, talk)
    return await stage.card("handoff", f"Ticket T-{ticket['number']}:")


async def test_f3_of_250_replies_the_context_holds_the_last_ones_and_the_parent(stage: Stage) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    root = await stage.say(other.user, CORNER, "A long story & <more>")
    with held(stage):
        for number in range(1, 251):
            await stage.workspace.post(other.user, CORNER, f"Part {number}", root.ts)
    talk = await call(stage, buyer, root.ts, "can you help with this?")
    await stage.answer(talk)
    card = await card_of(stage, talk)
    await stage.quiet()

    assert kept(stage, talk) == ["A long story & <more>", *(f"Part {number}" for number in range(231, 251))]
    shown = stage.now(card).text
    assert f"{other.name}: A long story &amp; &lt;more&gt;" in shown
    assert f"{other.name}: Part 250" in shown
    assert "Part 240" not in shown
    assert any("Part 250" in text for text in texts_of(stage.now(card)))
    assert len(stage.replies(talk)) == 1


async def test_f3_what_the_customer_said_as_the_parent_is_what_a_mere_call_means(stage: Stage) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    root = await stage.say(buyer.user, CORNER, f"My order {buyer.order.id} is late")
    await stage.say(other.user, CORNER, f"Mine is {other.order.id}, refund me", root.ts)
    talk = await call(stage, buyer, root.ts, "can you help?")
    answer = await stage.answer(talk)
    await stage.quiet()

    (ticket,) = tickets_of(stage, talk)
    assert f"Order {buyer.order.id} was delivered" in answer
    assert (ticket["requester"], ticket["agent"]) == (buyer.user, "order")
    assert ticket["why"].startswith("said before in the thread")
    assert other.order.id not in answer
    assert stage.cards("approval", other.order.id) == []


async def test_f3_the_order_named_above_is_the_one_that_is_asked_after(stage: Stage) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    root = await stage.say(buyer.user, CORNER, f"我的订单{buyer.order.id}有点问题")
    await stage.say(other.user, CORNER, f"我的是{other.order.id}", root.ts)
    talk = await call(stage, buyer, root.ts, "到哪了？", broadcast=True)
    answer = await stage.answer(talk)
    await stage.quiet()

    assert buyer.order.id in answer
    assert other.order.id not in answer
    assert len(tickets_of(stage, talk)) == 1


@pytest.mark.parametrize("text", ["can you help?", "yes", "+1", "是的"])
async def test_f3_what_somebody_else_wants_is_not_done(stage: Stage, text: str) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    root = await stage.say(other.user, CORNER, f"Please refund order {buyer.order.id}, {buyer.name} wants it")
    await stage.say(other.user, CORNER, "Yes, do it", root.ts)
    talk = await call(stage, buyer, root.ts, text)
    await stage.answer(talk)
    await stage.quiet()

    assert stage.cards("approval", buyer.order.id) == []
    assert stage.refunds(buyer) == 0


@pytest.mark.parametrize("fault", [ApiError("missing_scope"), ApiError("thread_not_found"), ServerError(503)], ids=str)
async def test_f3_a_thread_that_cannot_be_read_keeps_no_answer_away(
    stage: Stage, fault: ApiError | ServerError
) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    root = await stage.say(other.user, CORNER, "Something")
    stage.server.faults.add(method="conversations.replies", fault=fault)
    talk = await call(stage, buyer, root.ts, f"where is my order {buyer.order.id}?")
    assert "was delivered" in await stage.answer(talk)
    await stage.quiet()
    stage.server.faults.clear()

    assert len(stage.replies(talk)) == 1
    assert kept(stage, talk) == []


async def test_f3_a_slack_that_asks_for_a_moment_gets_it_and_the_thread_is_read(stage: Stage) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    root = await stage.say(other.user, CORNER, "Something")
    stage.server.faults.add(method="conversations.replies", fault=RateLimited(1))
    talk = await call(stage, buyer, root.ts, f"where is my order {buyer.order.id}?")
    assert "was delivered" in await stage.answer(talk)
    await stage.quiet()

    assert kept(stage, talk) == ["Something"]
    assert stage.server.faults.waiting() == 0


async def test_f3_a_message_that_comes_again_reads_and_answers_once(stage: Stage) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    root = await stage.say(other.user, CORNER, "Something")
    with held(stage) as bodies:
        talk = await call(stage, buyer, root.ts, f"where is my order {buyer.order.id}?")
    deliver(stage, *bodies, *bodies)
    assert "was delivered" in await stage.answer(talk)
    await stage.quiet()

    assert kept(stage, talk) == ["Something"]
    assert len(stage.replies(talk)) == 1


async def test_f3_an_alert_of_a_program_is_what_a_ticket_is_opened_for(stage: Stage) -> None:
    buyer = stage.next_buyer()
    root = stage.workspace.odd.webhook(CORNER, "Alert: payment failed for <https://pay.example|checkout>")
    talk = await call(stage, buyer, root, "open a ticket for this")
    assert "colleague" in await stage.answer(talk)
    card = await card_of(stage, talk)
    await stage.quiet()

    assert "a program: Alert: payment failed for checkout (https://pay.example)" in stage.now(card).text
    assert kept(stage, talk) == ["Alert: payment failed for checkout (https://pay.example)"]


async def test_f3_a_deleted_parent_is_no_context_and_what_stays_is(stage: Stage) -> None:
    buyer = stage.next_buyer()
    root = await stage.say(buyer.user, CORNER, "Gone soon")
    await stage.say(buyer.user, CORNER, f"Where is my order {buyer.order.id}?", root.ts)
    await stage.workspace.delete(buyer.user, CORNER, root.ts)
    talk = await call(stage, buyer, root.ts, "please help")
    told = f"Order {buyer.order.id} was delivered"  # directly: Slack puts a reply to a deleted parent into the channel
    await stage.until(lambda: any(told in each.text for each in bot_posts(stage) if each.channel == buyer.dm))
    await stage.quiet()

    assert kept(stage, talk) == [f"Where is my order {buyer.order.id}?"]


async def test_f3_what_is_deleted_or_edited_later_is_no_longer_kept_or_shown(stage: Stage) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    root = await stage.say(other.user, CORNER, "The parent")
    secret = await stage.say(other.user, CORNER, "A slip of the tongue", root.ts)
    typo = await stage.say(other.user, CORNER, "A tpyo", root.ts)
    talk = await call(stage, buyer, root.ts, "can you help with this?")
    card = await card_of(stage, talk)
    await stage.until(lambda: "A slip of the tongue" in stage.now(card).text)
    await stage.workspace.delete(other.user, CORNER, secret.ts)
    await stage.workspace.edit(other.user, CORNER, typo.ts, "A typo")
    await stage.until(lambda: "A typo" in stage.now(card).text and "A slip" not in stage.now(card).text)
    await stage.quiet()

    assert kept(stage, talk) == ["The parent", "A typo"]


@pytest.mark.parametrize("where", ["private channel", "group message"])
async def test_f3_in_a_private_channel_and_in_a_group_message_the_thread_is_read_as_well(
    stage: Stage, where: str
) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    roster = stage.workspace.roster
    group = roster.open_group_dm([buyer.user, other.user, OMAR], roster.app)[0].id
    channel = PRIVATE if where == "private channel" else group
    root = (await stage.say(other.user, channel, "Who knows?")).ts
    with held(stage):
        await stage.workspace.post(buyer.user, channel, f"My order is {buyer.order.id}", root)
    talk = await call(stage, buyer, root, "where is it?", channel)
    assert buyer.order.id in await stage.answer(talk)
    await stage.quiet()

    assert "Who knows?" in kept(stage, talk)


async def test_f3_under_a_post_of_the_bots_own_its_words_are_context_and_nobodys_wish(stage: Stage) -> None:
    buyer = stage.next_buyer()
    first = await stage.say(buyer.user, buyer.dm, f"Where is my order {buyer.order.id}?")
    assert "was delivered" in await stage.answer(first)
    root = stage.replies(first)[0].ts
    talk = await stage.say(buyer.user, buyer.dm, "Can you help with this?", root)
    await stage.answer(talk)
    await stage.quiet()

    assert any("was delivered" in line for line in kept(stage, talk))
    assert stage.refunds(buyer) == 0
