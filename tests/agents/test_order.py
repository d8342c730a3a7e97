import re
from dataclasses import replace

import pytest

from agents.desk import Desk
from hermes_bot.messages.payloads import HANDOFF_REQUESTED, Audience, HandoffRequested, read
from hermes_bot.people import Person
from hermes_bot.tickets.ticket import TicketStatus
from hermes_bot.tools.demo_shop import demo_customers, demo_shop
from hermes_bot.tools.order import Order, OrderStatus
from tests.agents.harness import NOON, TEAM, KnownPeople, Pump

ORDERS = demo_shop(NOON.date()).orders
ORDER = {order.id: order for order in ORDERS}
CUSTOMERS = {customer.id: customer for customer in demo_customers()}
ASKS = {"en": "Where is my order {}?", "zh": "我的订单{}到哪了？"}


def an_order(status: OrderStatus, language: str) -> Order:
    return next(order for order in ORDERS if order.status is status and CUSTOMERS[order.customer_id].locale == language)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("status", [status for status in OrderStatus if status is not OrderStatus.UNKNOWN])
async def test_every_state_of_an_order_is_told_in_the_customers_language(
    pump: Pump, people: KnownPeople, status: OrderStatus, language: str
) -> None:
    order = an_order(status, language)
    customer = CUSTOMERS[order.customer_id]
    people.people["U0BUYER"] = Person(team=TEAM, id="U0BUYER", name=customer.name, email=customer.email)

    turn = await pump.says("U0BUYER", ASKS[language].format(order.id), channel="D0BUYER")

    assert order.id in turn.answer.text
    assert bool(re.search("[\u4e00-\u9fff]", turn.answer.text)) is (language == "zh")
    assert len({turn.answer.text, *await _texts_of_other_states(pump, people, status, language)}) == 8


async def _texts_of_other_states(pump: Pump, people: KnownPeople, but: OrderStatus, language: str) -> list[str]:
    texts = []
    for status in set(OrderStatus) - {but, OrderStatus.UNKNOWN}:
        order = an_order(status, language)
        key = f"order.state.{status}"
        values = {"order_id": order.id, "placed_at": order.placed_at, "delivered_at": order.delivered_at}
        texts.append(pump.desk.texts.render(language, key, **values))
    return texts


async def test_in_a_channel_the_thread_holds_the_state_and_nothing_private(pump: Pump) -> None:
    turn = await pump.says("U0EMMA", "Where is my order 10002?")

    order = ORDER["10002"]
    shown = turn.answer.text + repr(turn.answer.fields)
    assert "on its way" in shown
    assert order.tracking not in shown
    assert order.address not in shown
    (private,) = turn.seen_by(Audience.OWNER)
    assert private.user == "U0EMMA"
    assert order.tracking in dict(private.fields).values()
    assert order.address in dict(private.fields).values()


async def test_in_a_direct_message_everything_is_shown_in_one_message(pump: Pump) -> None:
    turn = await pump.says("U0EMMA", "Where is my order 10002?", channel="D0EMMA")

    order = ORDER["10002"]
    assert len(turn.replies) == 1
    assert {order.tracking, order.address, "€64.80"} <= set(dict(turn.answer.fields).values())


@pytest.mark.parametrize("channel", ["C0SUPPORT", "D0EMMA"])
async def test_somebody_elses_order_reads_like_one_that_does_not_exist(pump: Pump, channel: str) -> None:
    theirs = await pump.says("U0EMMA", "where is order 10008?", channel=channel)
    nobodys = await pump.says("U0OMAR", "where is order 99999?", channel=channel.replace("EMMA", "OMAR"))

    assert len(theirs.replies) == 1
    assert theirs.answer.fields == ()
    assert theirs.answer.text == (await pump.says("U0EMMA", "where is order 99999?")).answer.text
    assert nobodys.of(HANDOFF_REQUESTED)


async def test_without_a_number_the_orders_are_offered_to_the_customer_alone(pump: Pump) -> None:
    asked = await pump.says("U0EMMA", "Where is my parcel?")
    (offer,) = asked.seen_by(Audience.EPHEMERAL)
    answered = await pump.clicks("U0EMMA", offer, "order/order:10002")

    assert not re.search(r"\d{5}", asked.answer.text)
    assert asked.answer.choices == ()
    assert offer.user == "U0EMMA"
    assert [choice.id for choice in offer.choices] == [f"order/order:{n}" for n in (10589, 10587, 10588, 10002, 10001)]
    assert "10002" in answered.answer.text


async def test_in_a_direct_message_the_question_carries_the_buttons(pump: Pump) -> None:
    asked = await pump.says("U0LINA", "我的快递到哪了", channel="D0LINA")

    assert len(asked.replies) == 1
    assert asked.answer.choices[0].id == "order/order:10596"


async def test_a_bare_number_answers_the_question_and_keeps_the_language(pump: Pump, desk: Desk) -> None:
    asked = await pump.says("U0LINA", "我的快递到哪了", channel="D0LINA")
    waiting = await desk.tickets.get(asked.answer.ticket_id)
    answered = await pump.says("U0LINA", "10008", channel="D0LINA")

    assert waiting.status is TicketStatus.WAITING_CUSTOMER
    assert answered.answer.text == "订单 10008 正在运送途中。"
    assert (await desk.tickets.get(asked.answer.ticket_id)).status is TicketStatus.SOLVED


async def test_any_news_is_about_the_order_spoken_of_before(pump: Pump) -> None:
    first = await pump.says("U0EMMA", "Where is my order 10002?", channel="D0EMMA")
    again = await pump.says("U0EMMA", "any news?", channel="D0EMMA")

    assert again.answer.ticket_id == first.answer.ticket_id
    assert again.answer.text == first.answer.text


async def test_two_numbers_get_one_answer_that_tells_of_both(pump: Pump) -> None:
    turn = await pump.says("U0EMMA", "Where are my orders 10002 and 10003?", channel="D0EMMA")

    assert "10002 is on its way" in turn.answer.text
    assert "10003 was delivered" in turn.answer.text


async def test_who_matches_no_customer_is_told_so_and_handed_over(pump: Pump) -> None:
    turn = await pump.says("U0NOBODY", "where is my order 10002?")

    request = read(turn.of(HANDOFF_REQUESTED)[0], HandoffRequested)
    assert "which customer account" in turn.answer.text
    assert "matches no customer" in request.reason
    assert "on its way" not in request.summary


EMMA = Person(team=TEAM, id="U0EMMA", name="Emma", email="emma.fischer@example.com")


@pytest.mark.parametrize(
    "person",
    [
        replace(EMMA, stranger=True),
        replace(EMMA, bot=True),
        replace(EMMA, deactivated=True),
        replace(EMMA, team="T0OTHER"),
        replace(EMMA, email=""),
    ],
)
async def test_a_profile_that_we_cannot_rely_on_opens_no_data(pump: Pump, people: KnownPeople, person: Person) -> None:
    people.people["U0EMMA"] = person

    turn = await pump.says("U0EMMA", "where is my order 10002?", channel="D0EMMA")

    assert turn.of(HANDOFF_REQUESTED)
    assert turn.answer.fields == ()


async def test_a_delivered_order_cannot_be_cancelled_but_a_refund_is_one_click_away(pump: Pump) -> None:
    told = await pump.says("U0EMMA", "please cancel order 10001")
    asked = await pump.clicks("U0EMMA", told.answer, "order/refund:10001")
    news = await pump.says("U0EMMA", "any news?", thread_ts=told.answer.thread_ts)

    assert "it is delivered" in told.answer.text
    assert "approve the refund of €102.80" in asked.answer.text
    assert "still waiting" in news.answer.text


async def test_a_second_number_that_is_not_theirs_goes_to_people(pump: Pump) -> None:
    first = await pump.says("U0EMMA", "where is order 99998?", channel="D0EMMA")
    second = await pump.says("U0EMMA", "99999", channel="D0EMMA")

    assert not first.of(HANDOFF_REQUESTED)
    assert "still can't find" in second.answer.text
    assert second.of(HANDOFF_REQUESTED)


async def test_after_two_questions_about_the_order_a_person_takes_over(pump: Pump) -> None:
    for text in ("where is my other parcel?", "where is my other parcel then?"):
        assert not (await pump.says("U0EMMA", text, channel="D0EMMA")).of(HANDOFF_REQUESTED)

    assert (await pump.says("U0EMMA", "where is my other parcel now?", channel="D0EMMA")).of(HANDOFF_REQUESTED)


async def test_every_number_and_date_of_an_answer_stands_in_the_order_book(pump: Pump) -> None:
    for number in (f"1000{n}" for n in range(1, 7)):
        order = ORDER[number]
        turn = await pump.says("U0EMMA", f"where is my order {number}?", channel="D0EMMA")
        day = pump.desk.texts.day
        known = " ".join([
            order.id, order.tracking, order.address, pump.desk.texts.money("en", order.total_cents, order.currency),
            day("en", order.placed_at), day("en", order.delivered_at), *(f"{i.quantity} {i.name}" for i in order.items),
        ])  # fmt: skip

        said = turn.answer.text + " ".join(value for _, value in turn.answer.fields)
        assert set(re.findall(r"\d+", said)) <= set(re.findall(r"\d+", known))
