from dataclasses import replace
from datetime import timedelta

import pytest

from agents.desk import Desk
from hermes_bot.edge.spoken import FORWARDED
from hermes_bot.messages.payloads import (
    APPROVAL_REQUESTED,
    HANDOFF_REQUESTED,
    Audience,
    Choice,
    HandoffRequested,
    Reply,
    read,
)
from hermes_bot.tickets.ticket import TicketStatus
from hermes_bot.tools.order_book import OrderBook
from tests.agents.harness import NOON, Clock, KnownPeople, Pump, pending

EMMA, LI_NA = "C0001", "C0002"


async def test_a_refund_waits_for_a_person_and_is_then_paid_once_and_told(
    pump: Pump, desk: Desk, book: OrderBook
) -> None:
    asked = await pump.says("U0EMMA", "I want a refund for order 10001, the lamp is broken")
    waiting = await desk.tickets.get(asked.answer.ticket_id)
    (request,) = await desk.approvals.listing()
    before = await book.refunds(EMMA, "10001")
    paid = await pump.decides("U0OMAR", asked, "approve")

    assert "€102.80" in asked.answer.text
    assert waiting.status is TicketStatus.WAITING_APPROVAL
    assert dict(request.shown)["Reason"] == "I want a refund for order 10001, the lamp is broken"
    assert before == ()
    assert paid.answer.text.startswith("Good news: €102.80 for order 10001 has been refunded.")
    assert paid.answer.thread_ts == asked.answer.thread_ts
    (refund,) = await book.refunds(EMMA, "10001")
    assert (refund.amount_cents, refund.approval_id) == (10280, request.id)
    assert (await desk.approvals.get(request.id)).result == "€102.80 refunded for order 10001"
    assert (await desk.tickets.get(waiting.id)).status is TicketStatus.SOLVED


@pytest.mark.parametrize("comment, requests", [("no", 0), ("Who wrote this?", 0), ("", 0), ("Refund me, please", 1)])
async def test_a_wish_that_is_only_quoted_is_asked_about_first(
    pump: Pump, desk: Desk, comment: str, requests: int
) -> None:
    quote = f"{comment}\n{FORWARDED}\n> I want a refund for order 10001".strip()
    asked = await pump.says("U0EMMA", quote)

    assert ("Shall I ask for it?" in asked.answer.text) is (requests == 0)
    assert len(await desk.approvals.listing()) == requests


async def test_the_same_in_chinese(pump: Pump, book: OrderBook) -> None:
    asked = await pump.says("U0LINA", "订单10007我要退款", channel="D0LINA")
    paid = await pump.decides("U0OMAR", asked, "approve")
    thanks = await pump.says("U0LINA", "谢谢", channel="D0LINA")

    assert "¥618.00" in asked.answer.text
    assert "正在等待同事审批" in asked.answer.text
    assert "¥618.00 已办理完成" in paid.answer.text
    assert thanks.answer.text == "不客气！"
    assert [refund.amount_cents for refund in await book.refunds(LI_NA, "10007")] == [61800]


async def test_a_second_request_while_the_first_waits_asks_nobody_again(pump: Pump, desk: Desk) -> None:
    await pump.says("U0EMMA", "I want a refund for order 10001", channel="D0EMMA")
    again = await pump.says("U0EMMA", "I want a refund for order 10001 now!", channel="D0EMMA")

    assert "still waiting" in again.answer.text
    assert not again.of(APPROVAL_REQUESTED)
    assert await pending(desk) == 1


@pytest.mark.parametrize("words", ["I want a refund for order 10001", "我要退款，订单10001"])
async def test_the_same_refund_asked_for_in_another_conversation_asks_nobody_again(
    pump: Pump, desk: Desk, words: str
) -> None:
    await pump.says("U0EMMA", "Please refund my order 10001")

    again = await pump.says("U0EMMA", words)

    assert "10001" in again.answer.text
    assert again.of(APPROVAL_REQUESTED) == []
    assert len(await desk.approvals.listing()) == 1


async def test_a_rejection_is_told_with_its_reason_and_not_asked_again(pump: Pump, book: OrderBook) -> None:
    asked = await pump.says("U0EMMA", "I want a refund for order 10001", channel="D0EMMA")
    rejected = await pump.decides("U0OMAR", asked, "reject", reason="The lamp came back without its cable.")
    again = await pump.says("U0EMMA", "refund order 10001 anyway please", channel="D0EMMA")
    human = await pump.clicks("U0EMMA", rejected.answer, "human")

    assert "not approved. The reason given: The lamp came back without its cable.\nIf you" in rejected.answer.text
    assert "can't ask again" in again.answer.text
    assert not again.of(APPROVAL_REQUESTED)
    assert human.of(HANDOFF_REQUESTED)
    assert await book.refunds(EMMA, "10001") == ()


async def test_a_request_that_nobody_decided_is_told_as_such(pump: Pump, book: OrderBook) -> None:
    asked = await pump.says("U0LINA", "订单10007我要退款")
    expired = await pump.lets_expire(asked)

    assert "未能在规定时间内得到审批" in expired.answer.text
    assert await book.refunds(LI_NA, "10007") == ()


async def test_a_refund_that_became_impossible_is_not_paid_and_goes_to_people(
    pump: Pump, book: OrderBook, desk: Desk
) -> None:
    asked = await pump.says("U0EMMA", "I want a refund for order 10001")
    await book.issue_refund(EMMA, "10001", 10280, "by phone", "APR-by-phone", NOON)
    refused = await pump.decides("U0OMAR", asked, "approve")

    assert "Nothing has been changed" in refused.answer.text
    assert "already_refunded" in read(refused.of(HANDOFF_REQUESTED)[0], HandoffRequested).summary
    assert len(await book.refunds(EMMA, "10001")) == 1
    (request,) = await desk.approvals.listing()
    assert request.result == "Not carried out: already_refunded"


async def test_a_slow_approval_costs_the_customer_nothing(
    pump: Pump, desk: Desk, clock: Clock, book: OrderBook
) -> None:
    order = await book.order(EMMA, "10001")
    assert order is not None
    assert order.delivered_at is not None
    clock.now = order.delivered_at + timedelta(days=30, seconds=-60)
    asked = await pump.says("U0EMMA", "I want a refund for order 10001")
    clock.now += timedelta(hours=2)
    paid = await pump.decides("U0OMAR", asked, "approve")

    assert "has been refunded" in paid.answer.text
    assert await pending(desk) == 0


@pytest.mark.parametrize(
    "user, text, words",
    [
        ("U0EMMA", "I want a refund for order 10002", "has not been delivered yet"),
        ("U0EMMA", "I want a refund for order 10003", "that time ended on September 1, 2026"),
        ("U0EMMA", "I want a refund for order 10004", "was cancelled"),
        ("U0EMMA", "I want a refund for order 10005", "already been refunded in full: €39.90"),
        ("U0EMMA", "I want a refund for order 10006", "€749.00 for order 10006 is more than I may refund"),
        ("U0LINA", "订单10008我要退款", "尚未送达"),
        ("U0LINA", "订单10009我要退款", "2026年9月1日截止"),
        ("U0LINA", "订单10010我要退款", "已取消"),
        ("U0LINA", "订单10011我要退款", "已经全额退款"),
        ("U0LINA", "订单10012我要退款", "超出了我可以办理的退款额度"),
    ],
)
async def test_what_the_policy_does_not_allow_is_said_with_its_reason_and_a_way_on(
    pump: Pump, desk: Desk, user: str, text: str, words: str
) -> None:
    turn = await pump.says(user, text)

    assert words in turn.answer.text
    assert [choice.id for choice in turn.answer.choices] == ["human"]
    assert await pending(desk) == 0


async def test_without_a_number_the_orders_are_offered_and_the_first_words_become_the_reason(
    pump: Pump, desk: Desk
) -> None:
    asked = await pump.says("U0EMMA", "I want my money back, it broke")
    (offer,) = asked.seen_by(Audience.EPHEMERAL)
    chosen = await pump.clicks("U0EMMA", offer, "refund/order:10001")

    assert "€102.80" in chosen.answer.text
    (request,) = await desk.approvals.listing()
    assert dict(request.shown)["Reason"] == "I want my money back, it broke"


@pytest.mark.parametrize("answer", ["yes", "Yes please!", "ok"])
async def test_a_question_about_a_refund_is_answered_and_the_request_waits_for_a_yes(
    pump: Pump, desk: Desk, answer: str
) -> None:
    asked = await pump.says("U0EMMA", "Is a refund possible for order 10001?", channel="D0EMMA")
    nobody_asked_yet = await pending(desk) == 0
    confirmed = await pump.says("U0EMMA", answer, channel="D0EMMA")

    assert "can be refunded: €102.80" in asked.answer.text
    assert nobody_asked_yet
    assert confirmed.of(APPROVAL_REQUESTED)


@pytest.mark.parametrize("answer", ["no", "不用了", "no thanks, never mind"])
async def test_a_no_leaves_the_order_as_it_is(pump: Pump, desk: Desk, answer: str) -> None:
    await pump.says("U0EMMA", "Is a refund possible for order 10001?", channel="D0EMMA")
    declined = await pump.says("U0EMMA", answer, channel="D0EMMA")

    assert "10001" in declined.answer.text
    assert await pending(desk) == 0


async def test_the_order_spoken_of_before_is_meant_but_asked_about_before_money_moves(pump: Pump, desk: Desk) -> None:
    await pump.says("U0LINA", "订单10007到哪了", channel="D0LINA")
    meant = await pump.says("U0LINA", "它我不想要了，要申请退款", channel="D0LINA")
    nobody_asked_yet = await pending(desk) == 0
    agreed = await pump.clicks("U0LINA", meant.answer, "refund/confirm:10007")

    assert "10007 可以退款" in meant.answer.text
    assert nobody_asked_yet
    assert agreed.of(APPROVAL_REQUESTED)


async def test_nobody_can_have_somebody_elses_order_refunded(pump: Pump, desk: Desk) -> None:
    named = await pump.says("U0EMMA", "I want a refund for order 10007")
    theirs = await pump.says("U0EMMA", "I want my money back", channel="D0EMMA")
    forged = Reply(
        ticket_id=theirs.answer.ticket_id,
        channel="D0EMMA",
        thread_ts="",
        text="",
        choices=(Choice(id="refund/order:10007", label="forged"),),
    )
    clicked = await pump.clicks("U0EMMA", forged, 0)

    assert "can't find an order with that number" in named.answer.text
    assert "can't find an order with that number" in clicked.answer.text
    assert not clicked.of(APPROVAL_REQUESTED)
    assert await pending(desk) == 0


async def test_who_is_no_customer_any_more_at_the_approval_is_paid_nothing(
    pump: Pump, people: KnownPeople, book: OrderBook
) -> None:
    asked = await pump.says("U0EMMA", "I want a refund for order 10001")
    people.people["U0EMMA"] = replace(people.people["U0EMMA"], email="")
    refused = await pump.decides("U0OMAR", asked, "approve")

    assert refused.of(HANDOFF_REQUESTED)
    assert await book.refunds(EMMA, "10001") == ()
