"""Cancelling before shipping: asked for, approved, done once, told; and what cannot be cancelled any more."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import update

from agents.desk import Desk
from hermes_bot.messages.payloads import APPROVAL_REQUESTED, HANDOFF_REQUESTED, HandoffRequested, read
from hermes_bot.store.database import Database
from hermes_bot.tickets.ticket import TicketStatus
from hermes_bot.tools.order import Order, OrderStatus
from hermes_bot.tools.order_book import OrderBook
from hermes_bot.tools.order_tables import orders
from tests.agents.harness import Pump, pending

EMMA, LI_NA = "C0001", "C0002"


async def order_of(book: OrderBook, customer: str, order_id: str) -> Order:
    order = await book.order(customer, order_id)
    assert order is not None
    return order


@pytest.mark.parametrize(
    "user, customer, order_id, text, asked_words, told_words",
    [
        ("U0EMMA", EMMA, "10587", "Please cancel order 10587", "€71.50", "Order 10587 is cancelled. €71.50 go back"),
        ("U0LINA", LI_NA, "10594", "请帮我取消订单10594", "¥357.00", "订单 10594 已取消。¥357.00 将原路退回"),
    ],
)
async def test_a_cancellation_waits_for_a_person_and_is_then_done_once_and_told(
    pump: Pump,
    book: OrderBook,
    user: str,
    customer: str,
    order_id: str,
    text: str,
    asked_words: str,
    told_words: str,
) -> None:
    asked = await pump.says(user, text)
    before = (await order_of(book, customer, order_id)).status
    told = await pump.decides("U0OMAR", asked, "approve")

    assert asked.route == "order"
    assert asked_words in asked.answer.text
    assert before is OrderStatus.PAID
    assert told_words in told.answer.text
    assert (await order_of(book, customer, order_id)).status is OrderStatus.CANCELLED
    assert len(await book.refunds(customer, order_id)) == 1
    (request,) = await pump.desk.approvals.listing()
    assert request.result.startswith(f"Order {order_id} cancelled, ")
    assert (await pump.desk.tickets.get(asked.answer.ticket_id)).status is TicketStatus.SOLVED


async def test_what_was_not_paid_is_cancelled_without_a_word_of_money(pump: Pump, book: OrderBook) -> None:
    asked = await pump.says("U0EMMA", "cancel order 10589 please")
    told = await pump.decides("U0OMAR", asked, "approve")

    assert told.answer.text == "Order 10589 is cancelled."
    assert await book.refunds(EMMA, "10589") == ()


@pytest.mark.parametrize("answer", ["yes please", "click"])
async def test_a_question_or_a_guess_is_confirmed_before_anybody_is_asked(pump: Pump, desk: Desk, answer: str) -> None:
    asked = await pump.says("U0EMMA", "Can I cancel my speaker order?", channel="D0EMMA")
    nobody_asked_yet = await pending(desk) == 0
    agreed = await (
        pump.clicks("U0EMMA", asked.answer, 0) if answer == "click" else pump.says("U0EMMA", answer, channel="D0EMMA")
    )

    assert "Order 10588 can still be cancelled: €45.50" in asked.answer.text
    assert nobody_asked_yet
    assert agreed.of(APPROVAL_REQUESTED)


async def test_a_no_leaves_the_order(pump: Pump, desk: Desk) -> None:
    await pump.says("U0EMMA", "Can I cancel order 10588?", channel="D0EMMA")
    left = await pump.says("U0EMMA", "no thanks", channel="D0EMMA")

    assert "I leave order 10588 as it is" in left.answer.text
    assert await pending(desk) == 0


async def test_without_a_number_the_orders_that_can_be_cancelled_are_offered(pump: Pump) -> None:
    asked = await pump.says("U0EMMA", "please cancel my order", channel="D0EMMA")
    chosen = await pump.says("U0EMMA", "10587", channel="D0EMMA")

    assert [choice.id for choice in asked.answer.choices] == [f"order/order:{n}" for n in (10589, 10587, 10588)]
    assert chosen.of(APPROVAL_REQUESTED)


@pytest.mark.parametrize(
    "user, text, words",
    [
        ("U0EMMA", "please cancel order 10002", "can't be cancelled any more: it is on its way"),
        ("U0LINA", "帮我取消订单10008", "已经不能取消了"),
    ],
)
async def test_what_is_on_its_way_cannot_be_cancelled_and_a_person_is_one_click_away(
    pump: Pump, desk: Desk, user: str, text: str, words: str
) -> None:
    turn = await pump.says(user, text)

    assert words in turn.answer.text
    assert [choice.id for choice in turn.answer.choices] == ["human"]
    assert await pending(desk) == 0


async def test_an_order_that_is_cancelled_already_is_told_as_such(pump: Pump, desk: Desk) -> None:
    turn = await pump.says("U0EMMA", "cancel order 10004")

    assert "Order 10004 was cancelled" in turn.answer.text
    assert await pending(desk) == 0


async def test_an_order_that_was_shipped_before_the_approval_goes_to_people_and_stays(
    pump: Pump, book: OrderBook, book_database: Database
) -> None:
    asked = await pump.says("U0EMMA", "Please cancel order 10587")
    statement: Any = update(orders).where(orders.c.id == "10587").values(status="shipped")
    await book_database.run(lambda connection: connection.execute(statement).close())
    refused = await pump.decides("U0OMAR", asked, "approve")

    assert "state_not_covered" in read(refused.of(HANDOFF_REQUESTED)[0], HandoffRequested).summary
    assert (await order_of(book, EMMA, "10587")).status is OrderStatus.SHIPPED
    assert await book.refunds(EMMA, "10587") == ()


async def test_a_rejection_is_told_with_its_reason_and_not_asked_again(pump: Pump) -> None:
    asked = await pump.says("U0EMMA", "cancel order 10587", channel="D0EMMA")
    told = await pump.decides("U0OMAR", asked, "reject", reason="It is being packed right now.")
    again = await pump.says("U0EMMA", "cancel order 10587 please", channel="D0EMMA")

    assert "was not approved. The reason given: It is being packed right now." in told.answer.text
    assert [choice.id for choice in told.answer.choices] == ["human"]
    assert "can't ask again" in again.answer.text
    assert not again.of(APPROVAL_REQUESTED)


async def test_what_nobody_decided_is_told_as_such(pump: Pump, book: OrderBook) -> None:
    asked = await pump.says("U0LINA", "取消订单10594")
    told = await pump.lets_expire(asked)

    assert "未能在规定时间内得到审批" in told.answer.text
    assert (await order_of(book, LI_NA, "10594")).status is OrderStatus.PAID


async def test_the_same_is_asked_for_once(pump: Pump, desk: Desk) -> None:
    await pump.says("U0EMMA", "cancel order 10587", channel="D0EMMA")
    again = await pump.says("U0EMMA", "cancel order 10587 now", channel="D0EMMA")
    elsewhere = await pump.says("U0EMMA", "cancel order 10587")

    assert "still waiting" in again.answer.text
    assert "asked to cancel order 10587 before" in elsewhere.answer.text
    assert await pending(desk) == 1


async def test_nobody_cancels_somebody_elses_order(pump: Pump, desk: Desk) -> None:
    turn = await pump.says("U0EMMA", "cancel order 10594")

    assert "can't find an order with that number" in turn.answer.text
    assert await pending(desk) == 0
