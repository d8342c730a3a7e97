"""Refunds from the request to the money, the whole bot running: approved, rejected, refused, where cards go."""

from __future__ import annotations

import asyncio

import pytest

from tests.scenario.stage import (
    ADA,
    APPROVE,
    CORNER,
    HANDOFF,
    OLIVIA,
    OMAR,
    REJECT,
    SUPPORT,
    Buyer,
    Stage,
    ask_for_refund,
    buttons,
    paid_once,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("approver", [OMAR, OLIVIA])
async def test_an_approved_refund_is_paid_once_and_the_customer_is_told_once(stage: Stage, approver: str) -> None:
    buyer = stage.next_buyer()
    talk, card = await ask_for_refund(stage, buyer)
    assert (card.channel, card.thread_ts) == (SUPPORT, talk.ts)

    assert (await stage.click(approver, card, APPROVE)).ok

    await paid_once(stage, buyer, talk, card)


async def test_an_approved_refund_is_told_in_the_language_in_which_it_was_asked_for(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"我要退款，订单号 {buyer.order.id}")
    assert "正在等待同事审批" in await stage.answer(talk)

    await stage.click(OMAR, await stage.card("approval", buyer.order.id), APPROVE)

    assert "已办理完成" in await stage.answer(talk, 2)
    await stage.quiet()
    assert stage.refunds(buyer) == 1


async def test_two_approvers_who_click_at_once_pay_once(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk, card = await ask_for_refund(stage, buyer)

    await asyncio.gather(*(stage.click(user, card, APPROVE) for user in (OMAR, OLIVIA, OMAR, OLIVIA)))

    await paid_once(stage, buyer, talk, card)


async def test_an_approval_and_a_rejection_at_once_end_as_the_one_or_the_other(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk, card = await ask_for_refund(stage, buyer)

    await asyncio.gather(stage.click(OMAR, card, APPROVE), stage.reject(OLIVIA, card, "No"))

    await stage.answer(talk, 2)
    await stage.quiet()
    paid = ["has been refunded" in post.text for post in stage.replies(talk)[1:]]
    assert paid == [stage.refunds(buyer) == 1]
    assert buttons(stage.now(card)) == []


REJECTIONS = [
    pytest.param("I want a refund for order {}", "was not approved. The reason given: Worn & washed", id="en"),
    pytest.param("我要退款，订单号 {}", "没有通过。原因：Worn & washed", id="zh"),
]


@pytest.mark.parametrize("words, told", REJECTIONS)
async def test_a_rejected_refund_is_told_with_its_reason_and_nothing_is_paid(
    stage: Stage, words: str, told: str
) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, words.format(buyer.order.id))
    card = await stage.card("approval", buyer.order.id)

    await stage.reject(OLIVIA, card, "Worn & washed")

    assert told.replace("&", "&amp;") in await stage.answer(talk, 2)
    await stage.until(lambda: not buttons(stage.now(card)))
    assert "Worn &amp; washed" in repr(stage.now(card).blocks)
    await stage.quiet()
    assert stage.refunds(buyer) == 0
    assert len(stage.replies(talk)) == 2


@pytest.mark.parametrize("action", [APPROVE, REJECT])
async def test_who_may_not_approve_is_told_alone_and_the_card_stays_as_it_is(stage: Stage, action: str) -> None:
    buyer = stage.next_buyer()
    talk, card = await ask_for_refund(stage, buyer)
    before = len(stage.whispers(ADA, "can be decided only by"))

    if action == APPROVE:
        await stage.click(ADA, card, APPROVE)
    else:
        await stage.reject(ADA, card, "I say so")

    await stage.until(lambda: len(stage.whispers(ADA, "can be decided only by")) == before + 1)
    await stage.quiet()
    assert stage.now(card) == card
    assert stage.refunds(buyer) == 0
    assert len(stage.replies(talk)) == 1


async def test_an_approver_does_not_approve_their_own_request(stage: Stage, clerk: Buyer) -> None:
    talk, card = await ask_for_refund(stage, clerk)

    await stage.click(clerk.user, card, APPROVE)

    await stage.until(lambda: stage.whispers(clerk.user, "You asked for this yourself"))
    await stage.quiet()
    assert stage.now(card) == card
    assert stage.refunds(clerk) == 0
    await stage.click(OMAR, card, APPROVE)
    await paid_once(stage, clerk, talk, card)


@pytest.mark.parametrize("place", ["dm", CORNER])
async def test_where_no_approver_is_the_card_stands_in_the_handoff_channel_and_the_customer_is_told(
    stage: Stage, place: str
) -> None:
    buyer = stage.next_buyer()

    talk, card = await ask_for_refund(stage, buyer, buyer.dm if place == "dm" else place)

    assert (card.channel, card.thread_ts) == (HANDOFF, "")
    await stage.click(OLIVIA, card, APPROVE)
    await paid_once(stage, buyer, talk, card)
