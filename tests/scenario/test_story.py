"""What customers, approvers and operators meet, with the whole bot running over Socket Mode."""

from __future__ import annotations

import asyncio

import pytest

from hermes_bot.messages.message import utc_now
from hermes_bot.tools.demo_shop import demo_shop
from hermes_bot.workspace.faults import ReplyLost
from tests.scenario.stage import ADA, CLAIM, GIVE_BACK, HANDOFF, OLIVIA, OMAR, SUPPORT, TAKE, Stage, handover

EMMA, LINA = "U0EMMA", "U0LINA"
ON_ITS_WAY = {EMMA: "10002", LINA: "10008"}

pytestmark = pytest.mark.asyncio(loop_scope="module")


STATES = [
    pytest.param(EMMA, "Where is my order 10002?", "Order 10002 is on its way to you.", id="en"),
    pytest.param(LINA, "我的订单 10008 到哪里了？", "订单 10008 正在运送途中。", id="zh"),
]


@pytest.mark.parametrize("user, question, state", STATES)
async def test_in_a_channel_the_state_is_told_and_what_is_private_goes_to_the_owner_alone(
    stage: Stage, user: str, question: str, state: str
) -> None:
    order = next(each for each in demo_shop(utc_now().date()).orders if each.id == ON_ITS_WAY[user])
    before = len(stage.workspace.messages(f"D{user[1:]}"))

    answer = await stage.ask(user, SUPPORT, question)

    assert state in answer
    await stage.until(lambda: len(stage.workspace.messages(f"D{user[1:]}")) == before + 1)
    told = stage.workspace.messages(f"D{user[1:]}")[-1]["text"]
    assert order.tracking in told
    assert order.address in told
    assert order.tracking not in answer
    assert order.address not in answer


@pytest.mark.parametrize("user, question, state", STATES)
async def test_in_a_direct_message_the_owner_is_told_everything_in_one_answer(
    stage: Stage, user: str, question: str, state: str
) -> None:
    order = next(each for each in demo_shop(utc_now().date()).orders if each.id == ON_ITS_WAY[user])

    talk = await stage.say(user, f"D{user[1:]}", question)
    answer = await stage.answer(talk)

    assert state in answer
    assert order.tracking in answer
    assert order.address in answer
    await stage.quiet()
    assert len(stage.replies(talk)) == 1


@pytest.mark.parametrize("place", [SUPPORT, "dm"])
async def test_somebody_else_s_order_and_one_that_does_not_exist_get_the_same_answer(stage: Stage, place: str) -> None:
    asker, other = stage.next_buyer(), stage.next_buyer()
    somebody_else = stage.next_buyer()
    channels = (SUPPORT, SUPPORT) if place == SUPPORT else (asker.dm, somebody_else.dm)

    foreign = await stage.ask(asker.user, channels[0], f"Where is my order {other.order.id}?")
    unknown = await stage.ask(somebody_else.user, channels[1], "Where is my order 99999?")

    assert foreign.replace(other.order.id, "N") == unknown.replace("99999", "N")
    assert "can't find an order with that number" in unknown


async def test_a_customer_without_a_number_chooses_among_orders_that_nobody_else_sees(stage: Stage) -> None:
    buyer = stage.next_buyer()

    talk = await stage.say(buyer.user, SUPPORT, "Where is my order?")
    await stage.until(lambda: stage.workspace.ephemerals(buyer.user))
    offer = stage.workspace.ephemerals(buyer.user)[-1]
    choices = next(block for block in offer["blocks"] if block["type"] == "actions")["elements"]
    mine = next(each for each in choices if buyer.order.id in each["text"]["text"])
    await stage.workspace.click(buyer.user, SUPPORT, offer["ts"], mine["action_id"])

    assert "was delivered" in await stage.answer(talk, 2)
    assert buyer.order.id not in stage.replies(talk)[0].text


async def test_a_person_takes_a_ticket_over_and_gives_it_back(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, "Can I talk to a person?")
    assert "asked a colleague to take over" in await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    assert (card.channel, handover(card)) == (HANDOFF, [CLAIM])
    assert "The customer asked for a person" in repr(card.blocks)

    await asyncio.gather(stage.click(OMAR, card, CLAIM), stage.click(OLIVIA, card, CLAIM))
    claimed = await stage.answer(talk, 2)
    loser = OLIVIA if "Omar" in claimed else OMAR
    await stage.until(lambda: stage.whispers(loser, "already taken"))
    await stage.until(lambda: handover(stage.now(card)) == [GIVE_BACK])
    await stage.say(OMAR, SUPPORT, "Hello, I am Omar. Which order is it?", talk.ts)
    await stage.say(buyer.user, SUPPORT, f"It is {buyer.order.id}, where is it?", talk.ts)
    await stage.until(lambda: len(stage.workspace.posts.replies(HANDOFF, card.ts)) == 2)
    await stage.quiet()

    assert "has taken over" in claimed
    assert len(stage.replies(talk)) == 2
    summary, noted = stage.workspace.posts.replies(HANDOFF, card.ts)
    assert "Can I talk to a person?" in summary.text
    assert noted.text.partition(": ")[2] == f"It is {buyer.order.id}, where is it?"
    await stage.give_back(OMAR if loser == OLIVIA else OLIVIA, card, "The customer wants to know where it is")
    assert "I'm back" in await stage.answer(talk, 3)
    await stage.until(lambda: handover(stage.now(card)) == [TAKE])
    assert "wants to know where it is" in repr(stage.now(card).blocks)
    again = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?", talk.ts)
    assert "was delivered" in await stage.answer(again)


async def test_a_customer_cannot_take_over_a_ticket(stage: Stage) -> None:
    buyer = stage.next_buyer()
    await stage.say(buyer.user, buyer.dm, "转人工")
    card = await stage.card("handoff", buyer.name)
    channel = stage.workspace.roster.channel(HANDOFF)
    stage.workspace.roster.join(channel, buyer.user)

    await stage.click(buyer.user, card, CLAIM)
    await stage.until(lambda: stage.whispers(buyer.user, "Only the support team"))
    stage.workspace.roster.put_channel(channel)

    assert handover(stage.now(card)) == [CLAIM]


SMALL_TALK = [
    ("Hello!", "I can look up an order or start a refund"),
    ("你好", "查询订单或申请退款"),
    ("Who are you?", "I'm Hermes"),
    ("Thanks!", "You're welcome"),
    ("What will the weather be tomorrow?", "bring in a colleague"),
]


@pytest.mark.parametrize("words, told", SMALL_TALK)
async def test_small_talk_gets_a_short_answer_and_no_person(stage: Stage, words: str, told: str) -> None:
    buyer = stage.next_buyer()

    answer = await stage.ask(buyer.user, SUPPORT, words)

    assert told in answer
    await stage.quiet()
    assert stage.cards("handoff", buyer.name) == []


async def test_who_calls_the_bot_by_its_name_gets_one_answer(stage: Stage) -> None:
    buyer = stage.next_buyer()

    talk = await stage.say(buyer.user, SUPPORT, f"@Hermes where is my order {buyer.order.id}?")
    answer = await stage.answer(talk)
    await stage.quiet()

    stored = stage.workspace.posts.get(SUPPORT, talk.ts)
    assert stored is not None
    assert "<@U0HERMES>" in stored.text
    assert "was delivered" in answer
    assert len(stage.replies(talk)) == 1


async def test_a_remark_of_the_staff_in_a_customer_s_thread_starts_nothing(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    await stage.quiet()
    before = stage.bot_posts()

    for user in (OMAR, OLIVIA, ADA):
        await stage.say(user, SUPPORT, "I want a refund for order 10001. Where is it?", talk.ts)
    await stage.quiet()

    assert stage.bot_posts() == before


async def test_another_customer_in_a_thread_is_answered_as_themselves(stage: Stage) -> None:
    first, second = stage.next_buyer(), stage.next_buyer()
    talk = await stage.say(first.user, SUPPORT, f"Where is my order {first.order.id}?")
    await stage.answer(talk)

    own = await stage.ask(second.user, SUPPORT, f"And where is mine, {second.order.id}?", talk.ts)
    foreign = await stage.ask(second.user, SUPPORT, f"I want a refund for order {first.order.id}", talk.ts)
    again = await stage.ask(first.user, SUPPORT, f"I want a refund for order {first.order.id}", talk.ts)

    assert second.order.id in own
    assert "was delivered" in own
    assert "can't find an order with that number" in foreign
    assert "asked a colleague to approve" in again


async def test_edits_deletions_and_other_bots_start_nothing(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    await stage.quiet()
    before = stage.bot_posts()

    await stage.workspace.edit(buyer.user, SUPPORT, talk.ts, f"Where is my order {buyer.order.id}??")
    await stage.workspace.delete(buyer.user, SUPPORT, talk.ts)
    words = {"type": "message", "channel": SUPPORT, "channel_type": "channel", "text": "Where is my order 10001?"}
    other = {"bot_id": "B0OTHER", "user": "U0OTHER", "ts": stage.workspace.posts.next_ts(), "team": "T0HERMES"}
    for more in ({}, {"subtype": "bot_message"}, {"bot_profile": {"id": "B0OTHER", "app_id": "A0OTHER"}}):
        stage.workspace.events.emit(words | other | more)
    await stage.quiet()

    assert stage.bot_posts() == before


async def test_an_answer_whose_receipt_is_lost_is_posted_once(stage: Stage) -> None:
    buyer = stage.next_buyer()
    stage.server.faults.add(method="chat.postMessage", fault=ReplyLost(), channel=SUPPORT)

    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    await stage.quiet()

    assert stage.server.faults.waiting() == 0
    assert len(stage.replies(talk)) == 1
