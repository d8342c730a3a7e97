"""What customers do not want, or not any more: it is not asked for, and a person hears of it where one was asked."""

from __future__ import annotations

import pytest

from agents.desk import Desk
from agents.rules.intents import OrderWish, RefundWish, order_wish, refund_wish, takes_back
from hermes_bot.messages.payloads import HANDOFF_REQUESTED, HandoffRequested, read
from hermes_bot.messages.ticket_payloads import AGENT_STOPPED
from tests.agents.harness import Pump, pending


@pytest.mark.parametrize(
    "text",
    [
        "do not cancel order 10588",
        "please don't cancel 10588, just tell me where it is",
        "I never asked to cancel 10588",
        "stop, don't cancel",
        "不要取消10595",
        "先别取消",
        "I don't want a refund for 10001",
        "never mind, I don't want the refund any more",
        "please don't refund it",
        "10007不用退款了",
        "不退了",
    ],
)
def test_what_is_not_wanted_is_no_wish(text: str) -> None:
    assert takes_back(text)
    assert (order_wish(text), refund_wish(text)) == (None, None)


@pytest.mark.parametrize(
    "text, wish",
    [
        ("I don't want it, refund me", RefundWish.REFUND),
        ("why don't you refund me", RefundWish.REFUND),
        ("if you do not refund me I'll sue", RefundWish.REFUND),
        ("不要退货，直接退款", RefundWish.REFUND),
        ("不退款我就投诉", RefundWish.REFUND),
        ("I no longer want the order, please cancel it", OrderWish.CANCEL),
        ("I do not need it any more, cancel order 10588", OrderWish.CANCEL),
        ("不想要了，取消订单", OrderWish.CANCEL),
    ],
)
def test_goods_that_are_not_wanted_are_a_wish(text: str, wish: OrderWish | RefundWish) -> None:
    assert not takes_back(text)
    assert wish in (order_wish(text), refund_wish(text))


@pytest.mark.parametrize(
    "user, text, number",
    [
        ("U0EMMA", "I don't want a refund for 10001", "10001"),
        ("U0EMMA", "Do not cancel order 10588", "10588"),
        ("U0LINA", "10007不用退款了", "10007"),
        ("U0LINA", "不要取消10595", "10595"),
    ],
)
async def test_nobody_is_asked_for_what_the_customer_does_not_want(
    pump: Pump, desk: Desk, user: str, text: str, number: str
) -> None:
    turn = await pump.says(user, text)

    assert number in turn.answer.text
    assert await pending(desk) == 0


@pytest.mark.parametrize(
    "user, wish, taken_back",
    [
        ("U0EMMA", "Refund order 10001", "please don't refund it"),
        ("U0EMMA", "Cancel order 10588", "stop, don't cancel"),
        ("U0LINA", "10007退款", "不用退款了"),
    ],
)
async def test_a_person_hears_of_what_is_taken_back_while_it_waits(
    pump: Pump, user: str, wish: str, taken_back: str
) -> None:
    asked = await pump.says(user, wish, channel="D0EMMA")
    after = await pump.says(user, taken_back, channel="D0EMMA")

    (request,) = [read(each, HandoffRequested) for each in after.messages if each.type == HANDOFF_REQUESTED]
    assert asked.answer.text != after.answer.text
    assert request.reason == "The customer takes back what waits for an approval"
    assert taken_back in request.summary


@pytest.mark.parametrize(
    "user, wish, words",
    [
        ("U0EMMA", "Refund order 10001", "make it 30 instead"),
        ("U0EMMA", "Refund order 10001", "only refund 5 euros instead"),
        ("U0EMMA", "Refund order 10001", "just half of it, please"),
        ("U0LINA", "10007退款", "改成5元吧"),
    ],
)
async def test_another_amount_than_the_one_that_waits_withdraws_it_and_a_person_hears_of_it(
    pump: Pump, user: str, wish: str, words: str
) -> None:
    await pump.says(user, wish, channel="D0EMMA")
    after = await pump.says(user, words, channel="D0EMMA")

    (request,) = [read(each, HandoffRequested) for each in after.messages if each.type == HANDOFF_REQUESTED]
    assert request.reason == "The customer wants another amount than the one that waits for an approval"
    assert words in request.summary
    assert [each.recipient for each in after.messages if each.type == AGENT_STOPPED] == ["approvals"]


@pytest.mark.parametrize("words", ["when will I get it?", "it was 30 euros more expensive elsewhere", "make it quick"])
async def test_what_names_no_other_amount_leaves_what_waits(pump: Pump, words: str) -> None:
    await pump.says("U0EMMA", "Refund order 10001", channel="D0EMMA")
    after = await pump.says("U0EMMA", words, channel="D0EMMA")

    assert [each for each in after.messages if each.type in (HANDOFF_REQUESTED, AGENT_STOPPED)] == []
