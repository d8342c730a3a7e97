"""Ordinary wordings that were once misread, each with what it must lead to."""

from __future__ import annotations

import pytest

from agents.desk import Desk
from agents.rules.intents import OrderWish, RefundWish, leaning, order_wish, refund_wish, rule_asked
from hermes_bot.messages.payloads import HANDOFF_REQUESTED, HandoffRequested, read
from hermes_bot.tools.order_book import OrderBook
from hermes_bot.tools.order_number import order_numbers_in
from tests.agents.harness import Pump, pending


@pytest.mark.parametrize(
    "text, order, refund",
    [
        ("which orders do I have open", OrderWish.LIST, None),
        ("I typed the wrong house number on 10587", OrderWish.ADDRESS, None),
        ("我搬家了，10594寄到上海市浦东新区世纪大道100号", OrderWish.ADDRESS, None),
        ("你们把我的东西寄到哪去了", None, None),
        ("I received the wrong item in 10001", OrderWish.WRONG_GOODS, None),
        ("you sent me the wrong headphones", OrderWish.WRONG_GOODS, None),
        ("one item is missing from 10001", OrderWish.WRONG_GOODS, None),
        ("10007发错货了", OrderWish.WRONG_GOODS, None),
        ("10007少了一件", OrderWish.WRONG_GOODS, None),
        ("Order 10001: only the charger arrived", OrderWish.WRONG_GOODS, None),
        ("please add a mat to order 10589", OrderWish.MODIFY, None),
        ("I ordered two bottles instead of one in 10587", OrderWish.MODIFY, None),
        ("I wrote the wrong order number, it is 10002", None, None),
        ("there's a charge on my card I do not recognise", None, RefundWish.DISPUTE),
        ("退10009", None, RefundWish.REFUND),
        ("10594退一个保温杯", None, RefundWish.REFUND),
        ("10007只退耳机", None, RefundWish.REFUND),
        ("退一百块，订单10007", None, RefundWish.REFUND),
        ("10007退货，只退充电器", None, RefundWish.RETURN),
        ("锅具10598我寄回去了，退款呢", None, RefundWish.STATUS),
    ],
)
def test_what_is_wanted_is_known(text: str, order: OrderWish | None, refund: RefundWish | None) -> None:
    assert (order_wish(text), refund_wish(text)) == (order, refund)


@pytest.mark.parametrize("text", ["10007开发票", "send me the invoice of my espresso machine"])
def test_an_invoice_is_the_order_agents_alone(text: str) -> None:
    assert leaning(text) == "order"


@pytest.mark.parametrize("text", ["羊毛毯能换个颜色吗", "can an item be exchanged for a different colour?"])
def test_other_goods_are_no_question_about_refunds(text: str) -> None:
    assert rule_asked(text, in_talk=False, agent="refund") is None


@pytest.mark.parametrize(
    "text, numbers",
    [
        ("my parcel 10002 does not move", ("10002",)),
        ("快递10008到哪了", ("10008",)),
        ("parcel 123456789012", ()),
        ("where is 1\u200b0002?", ("10002",)),
        ("\u202eorder 10002\u202c", ("10002",)),
    ],
)
def test_a_parcel_goes_by_the_orders_number_as_well(text: str, numbers: tuple[str, ...]) -> None:
    assert order_numbers_in(text) == numbers


@pytest.mark.parametrize(
    "user, text", [("U0EMMA", "I received the wrong item in order 10001"), ("U0LINA", "订单10007发错货了")]
)
async def test_people_hear_of_wrong_goods_with_the_order(pump: Pump, user: str, text: str) -> None:
    turn = await pump.says(user, text)

    (request,) = [read(each, HandoffRequested) for each in turn.messages if each.type == HANDOFF_REQUESTED]
    assert request.reason == "The customer received the wrong goods, or not all of them"
    assert "delivered" in request.summary


async def test_the_order_that_follows_a_new_address_is_read(pump: Pump) -> None:
    turn = await pump.says(
        "U0EMMA", "I moved, new address is 7 Elm Park, Cork T12 AB34. Order 10587.", channel="D0EMMA"
    )

    assert "10587" in turn.answer.text
    assert [value for _, value in turn.answer.fields] == ["7 Elm Park, Cork T12 AB34"]


async def test_who_changes_their_mind_about_an_address_is_not_asked_again(pump: Pump) -> None:
    await pump.says("U0LINA", "改10595地址", channel="D0LINA")
    left = await pump.says("U0LINA", "不改了", channel="D0LINA")

    assert left.answer.text == "好的，订单 10595 保持不变。"


async def test_the_money_of_goods_on_their_way_back_is_told_with_the_return(pump: Pump, desk: Desk) -> None:
    turn = await pump.says("U0EMMA", "My return of order 10591 was sent last week, where is my money?")

    assert "return for order 10591 is open" in turn.answer.text
    assert await pending(desk) == 0


async def test_asking_after_the_money_opens_no_return(pump: Pump, book: OrderBook) -> None:
    turn = await pump.says("U0EMMA", "I returned order 10001, where is my refund?")

    assert "I don't see a refund for order 10001" in turn.answer.text
    assert await book.changes("C0001", "10001") == ()


async def test_an_order_that_arrived_is_not_waited_for(pump: Pump) -> None:
    turn = await pump.says("U0EMMA", "Cancel my order 10001")

    assert "Once you have it" not in turn.answer.text


@pytest.mark.parametrize(
    "user, text, asked, told",
    [
        ("U0EMMA", "Where is 10587? And cancel 10588", "10588", "Order 10587 is paid"),
        ("U0LINA", "10594到哪了？另外帮我取消10595", "10595", "订单 10594 已付款"),
    ],
)
async def test_an_order_that_is_only_asked_about_is_not_cancelled_with_the_other(
    pump: Pump, desk: Desk, user: str, text: str, asked: str, told: str
) -> None:
    turn = await pump.says(user, text)

    (request,) = await desk.approvals.listing()
    assert request.arguments["order_id"] == asked
    assert told in turn.answer.text


async def test_goods_that_are_looked_for_are_an_order(pump: Pump) -> None:
    turn = await pump.says("U0EMMA", "where are my headphones?", channel="D0EMMA")

    assert "Order 10001 was delivered" in turn.answer.text


@pytest.mark.parametrize("text", ["how much did I pay for 10001", "why was 10004 cancelled?"])
async def test_whoever_names_an_order_is_not_sent_away(pump: Pump, text: str) -> None:
    turn = await pump.says("U0EMMA", text, channel="D0EMMA")

    assert text.strip("?").split()[-1] in turn.answer.text or "10004" in turn.answer.text


@pytest.mark.parametrize(
    "user, asks, answer, orders",
    [
        ("U0EMMA", "can I cancel 10588?", "yes, and 10587 too", {"10588", "10587"}),
        ("U0LINA", "10595能取消吗", "好的，10594也取消", {"10595", "10594"}),
        ("U0EMMA", "can I cancel 10588?", "yes please", {"10588"}),
    ],
)
async def test_a_yes_counts_for_what_was_offered_and_what_is_added(
    pump: Pump, desk: Desk, user: str, asks: str, answer: str, orders: set[str]
) -> None:
    await pump.says(user, asks, channel="D0EMMA")
    await pump.says(user, answer, channel="D0EMMA")

    assert {request.arguments["order_id"] for request in await desk.approvals.listing()} == orders
