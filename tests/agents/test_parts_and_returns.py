"""A part of an order's money, goods that come back, and what became of earlier refunds."""

from __future__ import annotations

import pytest

from agents.desk import Desk
from hermes_bot.messages.payloads import APPROVAL_REQUESTED, HANDOFF_REQUESTED, Audience, HandoffRequested, read
from hermes_bot.store.database import Database
from hermes_bot.tools.order import ChangeKind
from hermes_bot.tools.order_book import OrderBook
from hermes_bot.tools.order_tables import order_changes
from tests.agents.harness import Pump, pending

EMMA, LI_NA = "C0001", "C0002"


@pytest.mark.parametrize(
    "user, text, cents, items, words",
    [
        ("U0EMMA", "I want a refund for the charger of order 10001", 2_290, ["CH-064 x1"], "€22.90 for order 10001 (1"),
        ("U0EMMA", "Please refund 20 euros of order 10592", 2_000, [], "€20.00 for order 10592."),
        ("U0LINA", "订单10007的充电器坏了，请退款", 11_900, ["CH-064 x1"], "¥119.00"),
        ("U0LINA", "订单10007请退款50元", 5_000, [], "¥50.00"),
        ("U0EMMA", "Refund order 10001, do not refund the headphones", 2_290, ["CH-064 x1"], "€22.90"),
        ("U0LINA", "我要退10007里的耳机，退款，充电器留着", 49_900, ["HD-210 x1"], "¥499.00"),
        ("U0EMMA", "I paid 102.80 EUR but the charger is broken, refund 10001", 2_290, ["CH-064 x1"], "€22.90"),
        ("U0EMMA", "refund EUR 20 of order 10001", 2_000, [], "€20.00"),
        ("U0LINA", "订单10007退款一百五十块", 15_000, [], "¥150.00"),
        ("U0EMMA", "I want half my money back for order 10001", 5_140, [], "€51.40"),
        ("U0LINA", "10007充电器和耳机都退", 61_800, [], "¥618.00"),
        ("U0LINA", "退款10007", 61_800, [], "¥618.00"),
        ("U0LINA", "订单10007请退一半的钱", 30_900, [], "¥309.00"),
        ("U0EMMA", "I want a refund for order 10001, it arrived broken", 10_280, [], "€102.80"),
    ],
)  # fmt: skip
async def test_goods_or_an_amount_are_refunded_alone(
    pump: Pump, desk: Desk, user: str, text: str, cents: int, items: list[str], words: str
) -> None:
    asked = await pump.says(user, text)

    (request,) = await desk.approvals.listing()
    assert words in asked.answer.text
    assert (request.arguments["amount_cents"], request.arguments["items"]) == (cents, items)


async def test_what_is_paid_is_what_was_asked_for(pump: Pump, book: OrderBook) -> None:
    asked = await pump.says("U0EMMA", "I want a refund for the charger of order 10001")
    paid = await pump.decides("U0OMAR", asked, "approve")

    assert "€22.90 for order 10001 has been refunded" in paid.answer.text
    assert [refund.amount_cents for refund in await book.refunds(EMMA, "10001")] == [2_290]


@pytest.mark.parametrize(
    "user, text, words",
    [
        ("U0EMMA", "I want a refund for the charger of order 10001", "has been refunded before"),
        ("U0LINA", "订单10007的充电器坏了，请退款", "之前已经退过款"),
    ],
)
async def test_goods_that_were_paid_back_are_not_asked_for_again(
    pump: Pump, desk: Desk, user: str, text: str, words: str
) -> None:
    await pump.decides("U0OMAR", await pump.says(user, text), "approve")
    again = await pump.says(user, text)

    assert words in again.answer.text
    assert await pending(desk) == 0


@pytest.mark.parametrize("answer", ["20 euros", "€20"])
async def test_a_part_without_a_size_is_asked_about_and_confirmed(pump: Pump, desk: Desk, answer: str) -> None:
    asked = await pump.says("U0EMMA", "I'd like a partial refund for order 10592", channel="D0EMMA")
    named = await pump.says("U0EMMA", answer, channel="D0EMMA")
    nobody_asked_yet = await pending(desk) == 0
    await pump.clicks("U0EMMA", named.answer, "refund/confirm:10592")

    (request,) = await desk.approvals.listing()
    assert "Which part of order 10592" in asked.answer.text
    assert "€20.00 would go back" in named.answer.text
    assert nobody_asked_yet
    assert request.arguments["amount_cents"] == 2_000


@pytest.mark.parametrize(
    "user, text",
    [
        ("U0EMMA", "Refund me 30% of order 10592"),
        ("U0EMMA", "I want half of the goods of order 10592 refunded"),
        ("U0EMMA", "订单10592请退款三分之一"),
        ("U0EMMA", "refund 1/3 of order 10592"),
        ("U0EMMA", "refund €20 and €30 of order 10592"),
        ("U0EMMA", "refund -50 EUR of order 10592"),
        ("U0EMMA", "refund 1,000 EUR of order 10592"),
        ("U0EMMA", "refund twenty euros of order 10592"),
        ("U0EMMA", "refund 1e2 EUR of order 10592"),
        ("U0EMMA", "refund me 50, order 10592"),
        ("U0LINA", "10007退款一百"),
        ("U0LINA", "给我退100吧，10007"),
        ("U0EMMA", "refund 0 euro of order 10592"),
        ("U0EMMA", "refund the shipping costs of order 10592"),
        ("U0EMMA", "refund two rain coats of order 10592"),
        ("U0EMMA", "refund order 10592 but keep the rain coat"),
        ("U0LINA", "订单10007退款两成"),
        ("U0LINA", "订单10007退款，两个充电器"),
        ("U0LINA", "订单10007退款运费"),
    ],
)
async def test_a_share_that_names_no_sum_is_asked_about_and_never_taken_for_the_whole(
    pump: Pump, desk: Desk, user: str, text: str
) -> None:
    asked = await pump.says(user, text, channel="D0EMMA")

    assert await pending(desk) == 0
    assert "10592" in asked.answer.text or "10007" in asked.answer.text


@pytest.mark.parametrize(
    "answer, cents",
    [("yes but only the charger", [2_290]), ("yes, 20 euros", [2_000]), ("yes please", [10_280]), ("yes, 30%", [])],
)
async def test_a_yes_to_a_part_is_no_yes_to_the_whole(pump: Pump, desk: Desk, answer: str, cents: list[int]) -> None:
    await pump.says("U0EMMA", "Is a refund possible for order 10001?", channel="D0EMMA")
    await pump.says("U0EMMA", answer, channel="D0EMMA")

    assert [request.arguments["amount_cents"] for request in await desk.approvals.listing()] == cents


async def test_who_is_asked_for_the_part_may_say_all_of_it(pump: Pump, desk: Desk) -> None:
    await pump.says("U0EMMA", "refund order 10592, twenty euros or so", channel="D0EMMA")
    whole = await pump.says("U0EMMA", "the whole order please", channel="D0EMMA")

    assert "€59.00 would go back" in whole.answer.text


async def test_a_button_that_is_pressed_late_means_what_it_showed(pump: Pump, desk: Desk) -> None:
    offered = await pump.says("U0EMMA", "Is a refund possible for the charger of order 10001?", channel="D0EMMA")
    await pump.says("U0EMMA", "where is order 10002?", channel="D0EMMA")
    await pump.clicks("U0EMMA", offered.answer, "refund/confirm:10001")

    (request,) = await desk.approvals.listing()
    assert request.arguments["amount_cents"] == 2_290


@pytest.mark.parametrize(
    "user, text, words",
    [
        ("U0EMMA", "Refund 500 euros of order 10592", "more than is left to refund on order 10592: €59.00"),
        ("U0EMMA", "Refund $20 of order 10592", "was paid in EUR"),
        ("U0EMMA", "Refund 50 euros of order 10590", "more than is left to refund on order 10590: €47.00"),
        ("U0LINA", "订单10597请退款400元", "还能退的金额 ¥339.00"),
    ],
)
async def test_an_amount_that_cannot_be_is_said_with_what_can(
    pump: Pump, desk: Desk, user: str, text: str, words: str
) -> None:
    turn = await pump.says(user, text)

    assert words in turn.answer.text
    assert await pending(desk) == 0


async def test_after_a_part_the_rest_can_still_go_back(pump: Pump, desk: Desk) -> None:
    await pump.says("U0LINA", "订单10597我要退款")

    (request,) = await desk.approvals.listing()
    assert request.arguments["amount_cents"] == 33_900
    assert "CN¥188.00 paid back" in dict(request.internal)["History"]


@pytest.mark.parametrize(
    "user, customer, order_id, text, words",
    [
        ("U0EMMA", EMMA, "10592", "I want to return order 10592", "Please send it by December 14, 2026"),
        ("U0LINA", LI_NA, "10599", "订单10599我要退货", "请在2026年12月14日之前寄出"),
    ],
)
async def test_a_return_is_opened_with_what_to_do(
    pump: Pump, desk: Desk, book: OrderBook, user: str, customer: str, order_id: str, text: str, words: str
) -> None:
    turn = await pump.says(user, text)

    (change,) = await book.changes(customer, order_id)
    assert words in turn.answer.text
    assert (change.kind, change.after) == (ChangeKind.RETURN, "RC-500 x1")
    assert await pending(desk) == 0


async def test_some_goods_come_back_after_a_yes(pump: Pump, book: OrderBook) -> None:
    asked = await pump.says("U0EMMA", "can I return my headphones?")
    before = await book.changes(EMMA, "10001")
    opened = await pump.says("U0EMMA", "yes", thread_ts=asked.answer.thread_ts)

    (change,) = await book.changes(EMMA, "10001")
    assert "until December 24, 2026" in asked.answer.text
    assert before == ()
    assert change.after == "HD-210 x1"
    assert "1 × Wireless headphones" in opened.answer.text


async def test_an_open_return_is_told_and_not_opened_again(pump: Pump, book: OrderBook) -> None:
    turn = await pump.says("U0EMMA", "I want to return order 10591")

    assert "is open since November 27, 2026" in turn.answer.text
    assert len(await book.changes(EMMA, "10591")) == 1


@pytest.mark.parametrize(
    "user, text, words",
    [
        ("U0EMMA", "I want to return order 10002", "has not arrived yet"),
        ("U0EMMA", "I want to return order 10003", "that time ended on September 1, 2026"),
        ("U0EMMA", "I want to return order 10004", "was cancelled"),
        ("U0LINA", "订单10008我要退货", "尚未送达"),
        ("U0LINA", "订单10009我要退货", "2026年9月1日截止"),
    ],
)
async def test_what_cannot_come_back_is_said_with_its_reason(
    pump: Pump, book: OrderBook, user: str, text: str, words: str
) -> None:
    turn = await pump.says(user, text)

    assert words in turn.answer.text
    assert [choice.id for choice in turn.answer.choices] == ["human"]


async def test_a_shop_that_keeps_no_returns_has_people_do_it_with_the_facts(
    pump: Pump, book_database: Database
) -> None:
    await book_database.run(order_changes.drop)
    turn = await pump.says("U0EMMA", "I want to return the headphones of order 10001")

    request = read(turn.of(HANDOFF_REQUESTED)[0], HandoffRequested)
    assert "keeps no returns" in request.reason
    assert "HD-210 x1" in request.summary


async def test_what_became_of_the_refund_of_an_order_is_told(pump: Pump) -> None:
    paid = await pump.says("U0EMMA", "where is my refund for order 10590?")
    none = await pump.says("U0LINA", "订单10007的退款怎么还没到账")

    assert "€27.90 for order 10590 went back to you on November 18, 2026" in paid.answer.text
    assert "within 7 days" in paid.answer.text
    assert "订单 10007 没有退款记录" in none.answer.text
    assert [choice.id for choice in none.answer.choices] == ["refund/order:10007"]


async def test_the_refunds_of_all_orders_are_the_customers_alone(pump: Pump) -> None:
    turn = await pump.says("U0EMMA", "where is my refund?")
    direct = await pump.says("U0EMMA", "where is my refund?", channel="D0EMMA")

    (private,) = turn.seen_by(Audience.OWNER)
    assert "10590" not in turn.answer.text
    assert "10590" in private.text
    assert "10005" in direct.answer.text


async def test_a_refund_that_waits_is_told_as_waiting(pump: Pump) -> None:
    await pump.says("U0EMMA", "I want a refund for order 10592", channel="D0EMMA")
    turn = await pump.says("U0EMMA", "where is my refund?", channel="D0EMMA")

    assert "order 10592 is still waiting" in turn.answer.text
    assert not turn.of(APPROVAL_REQUESTED)
