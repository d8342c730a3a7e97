"""What people decide, the shop's rules without an order, invoices and lists, and the customer's own formats."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import update

from agents.desk import Desk
from hermes_bot.messages.payloads import HANDOFF_REQUESTED, Audience, HandoffRequested, read
from hermes_bot.store.database import Database
from hermes_bot.tickets.ticket import Priority
from hermes_bot.tools.order_tables import customers
from hermes_bot.tools.policies import read_policies
from hermes_bot.tools.shop import Shop
from hermes_bot.tools.toolbox import Toolbox
from tests.agents.conftest import ALLOWED, CONFIGS
from tests.agents.harness import Clock, Pump, Turn, pending


def handed(turn: Turn) -> HandoffRequested:
    """Return what people were asked."""
    return read(turn.of(HANDOFF_REQUESTED)[0], HandoffRequested)


@pytest.mark.parametrize(
    "user, text, order_id, alike",
    [
        ("U0EMMA", "I was charged twice for order 10592", "10592", "10593"),
        ("U0LINA", "订单10599扣了我两次款", "10599", "10600"),
    ],
)
async def test_a_charge_that_is_not_accepted_goes_to_people_with_all_facts(
    pump: Pump, desk: Desk, user: str, text: str, order_id: str, alike: str
) -> None:
    turn = await pump.says(user, text)

    assert turn.route == "refund"
    assert "does not accept a charge" in handed(turn).reason
    assert f"Order {order_id}: delivered, placed 2026-11-08" in handed(turn).summary
    assert f"Same total, order {alike}" in handed(turn).summary
    assert await pending(desk) == 0


async def test_a_charge_without_an_order_is_asked_about_once(pump: Pump) -> None:
    asked = await pump.says("U0EMMA", "I was charged twice", channel="D0EMMA")
    told = await pump.says("U0EMMA", "no idea which one", channel="D0EMMA")

    assert asked.answer.choices
    assert "does not accept a charge" in handed(told).reason


async def test_the_goods_that_were_named_narrow_the_orders_that_are_offered(pump: Pump) -> None:
    asked = await pump.says("U0EMMA", "I was charged twice for my rain coat", channel="D0EMMA")

    assert {choice.id for choice in asked.answer.choices} == {f"refund/order:{n}" for n in (10004, 10592, 10593)}


@pytest.mark.parametrize("text", ["I want to exchange order 10001 for a bigger size", "Can I swap order 10001?"])
async def test_an_exchange_goes_to_people_with_the_order(pump: Pump, text: str) -> None:
    turn = await pump.says("U0EMMA", text)

    assert "wants other goods instead" in handed(turn).reason
    assert "Order 10001: delivered" in handed(turn).summary


async def test_what_the_policy_does_not_leave_to_people_is_served(pump: Pump, clock: Clock) -> None:
    policies = replace(read_policies(CONFIGS / "policies.yaml"), to_people=frozenset())
    tools = pump.desk.toolbox.tools_for("order") + pump.desk.toolbox.tools_for("refund")
    shop = Shop(book=pump.desk.book, policies=policies, clock=clock)
    toolbox = Toolbox(tuple({tool.name: tool for tool in tools}.values()), allowed=ALLOWED, services={"shop": shop})
    pump.desk = replace(pump.desk, toolbox=toolbox)
    turn = await pump.says("U0EMMA", "I want to exchange order 10592")

    assert "The return for order 10592 is open" in turn.answer.text


@pytest.mark.parametrize(
    "text, words",
    [
        ("I want to add a lamp to my order 10587", "other goods or another payment"),
        ("I'd like to change the color of order 10587", "other goods or another payment"),
    ],
)
async def test_other_goods_in_an_order_are_for_people(pump: Pump, text: str, words: str) -> None:
    turn = await pump.says("U0EMMA", text)

    assert words in turn.answer.text.lower()
    assert "10587" in handed(turn).summary


async def test_what_counts_as_delivered_and_is_not_there_goes_to_people(pump: Pump) -> None:
    turn = await pump.says("U0EMMA", "order 10001 says delivered but I never received it")

    assert "does not have it" in handed(turn).reason
    assert "delivered 2026-11-24" in handed(turn).summary


@pytest.mark.parametrize("user", ["U0EMMA", "U0NOBODY"])
@pytest.mark.parametrize(
    "text, words",
    [
        ("How long do I have for returns?", "You can return goods for 30 days"),
        ("What is your refund policy?", "delivered, returned or lost"),
        ("how long does a refund take?", "within 7 days"),
        ("Can I cancel an order after it has shipped?", "as long as it is placed, paid or packed"),
        ("你们的退货政策是什么？", "送达后 30 天内可以退货"),
        ("退款一般多久到账", "通常在退款后 7 天内到账"),
    ],
)
async def test_a_rule_is_told_without_asking_which_order_and_to_everybody(
    pump: Pump, user: str, text: str, words: str
) -> None:
    turn = await pump.says(user, text, channel=f"D{user}")

    assert words in turn.answer.text
    assert turn.answer.choices == ()
    assert not turn.of(HANDOFF_REQUESTED)


@pytest.mark.parametrize(
    "user, text, words",
    [
        ("U0EMMA", "send me the invoice for order 10587", "2 × Steel water bottle, €18.50 each: €37.00"),
        ("U0LINA", "10594 开发票", "不锈钢保温杯 × 2，单价 ¥99.00，小计 ¥198.00"),
    ],
)
async def test_an_invoice_is_for_its_owner_alone(pump: Pump, user: str, text: str, words: str) -> None:
    turn = await pump.says(user, text)

    (private,) = turn.seen_by(Audience.OWNER)
    assert words in " ".join(value for _, value in private.fields)
    assert turn.answer.fields == ()
    assert "bottle" not in turn.answer.text


async def test_before_it_is_paid_an_order_has_no_invoice(pump: Pump) -> None:
    turn = await pump.says("U0EMMA", "invoice for order 10589 please")

    assert "There is no invoice" in turn.answer.text


async def test_the_list_of_orders_is_for_its_owner_alone(pump: Pump) -> None:
    turn = await pump.says("U0EMMA", "list my orders")

    (private,) = turn.seen_by(Audience.OWNER)
    assert "10587" not in turn.answer.text
    assert [label.split()[0] for label, _ in private.fields][:3] == ["10589", "10587", "10588"]


async def test_without_a_parcel_there_is_no_tracking_number_yet(pump: Pump) -> None:
    turn = await pump.says("U0EMMA", "what's the tracking number of 10588?")

    assert "no tracking number yet" in turn.answer.text


async def test_nobody_is_promised_more_speed_than_there_is(pump: Pump) -> None:
    turn = await pump.says("U0LINA", "订单10008能催一下吗")

    assert "正在运送途中" in turn.answer.text
    assert "无法加快" in turn.answer.text


async def test_money_and_days_are_written_as_where_the_customer_lives(pump: Pump, book_database: Database) -> None:
    statement = update(customers).where(customers.c.id == "C0001").values(locale="en-GB")
    await book_database.run(lambda connection: connection.execute(statement).close())
    turn = await pump.says("U0EMMA", "Where is my order 10001?", channel="D0EMMA")

    assert "24 November 2026" in turn.answer.text


@pytest.mark.parametrize(
    "text, priority, words",
    [
        ("My kettle is on fire! I want to talk to a human", Priority.URGENT, "danger"),
        ("I want to talk to a human or I call my lawyer", Priority.URGENT, "the law"),
        ("我要投诉！都等了8天了，我要找人工", Priority.HIGH, "has waited"),
        ("I want to talk to a human", Priority.NORMAL, ""),
    ],
)
async def test_people_read_how_urgent_it_is(pump: Pump, text: str, priority: Priority, words: str) -> None:
    turn = await pump.says("U0EMMA", text)

    ticket = await pump.desk.tickets.get(turn.answer.ticket_id)
    assert ticket.priority is priority
    assert words in handed(turn).summary
    assert ("Urgency: " in handed(turn).summary) is bool(words)


async def test_people_read_what_the_bot_said_and_what_is_open(pump: Pump) -> None:
    await pump.says("U0EMMA", "I want a refund for order 10592", channel="D0EMMA")
    turn = await pump.says("U0EMMA", "I want to talk to a human", channel="D0EMMA")

    assert "The bot said last: I've asked a colleague to approve the refund of €59.00" in handed(turn).summary
    assert "Waits for a decision: Refund €59.00 to Emma Fischer" in handed(turn).summary
