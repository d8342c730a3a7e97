"""A message that may be for one of several agents is asked about once, with buttons; the click routes it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.desk import Desk
from hermes_bot.messages.payloads import HANDOFF_REQUESTED
from hermes_bot.tickets.ticket import TicketStatus
from routing.choice import RouteChoice
from tests.agents.harness import Pump

UNSURE = "the thing with my purchase"


@pytest.fixture
def unsure(pump: Pump, desk: Desk) -> Pump:
    """A desk whose router cannot tell an order from a refund, except by the words parcel and refund."""

    async def choose(text: str) -> RouteChoice:
        for word, route in (("parcel", "order"), ("refund", "refund")):
            if word in text:
                return RouteChoice(route=route, type=f"ticket.{route}", score=1.0, reason="keyword", matched=word)
        if "weather" in text:
            return RouteChoice(route=None, type="ticket.unknown", score=0.9, reason="other")
        return RouteChoice(
            route=None, type="ticket.unknown", score=0.5, reason="below threshold", candidates=("refund", "order")
        )

    pump.desk = replace(desk, choose=choose)
    return pump


async def test_it_asks_with_the_candidates_as_buttons_and_sends_nothing_on(unsure: Pump, desk: Desk) -> None:
    turn = await unsure.says("U0EMMA", UNSURE)

    assert [choice.label for choice in turn.answer.choices] == [
        "A refund",
        "An order or its delivery",
        "Something else",
    ]
    assert "What is it about" in turn.answer.text
    assert len(turn.messages) == 2
    assert (await desk.tickets.get(turn.answer.ticket_id)).status is TicketStatus.WAITING_CUSTOMER


async def test_it_asks_in_the_customers_language(unsure: Pump) -> None:
    turn = await unsure.says("U0LINA", "关于我买的那个东西")

    assert [choice.label for choice in turn.answer.choices] == ["退款", "订单或物流", "其他问题"]


async def test_the_click_routes_the_original_words(unsure: Pump) -> None:
    asked = await unsure.says("U0EMMA", f"{UNSURE} 10003")

    clicked = await unsure.clicks("U0EMMA", asked.answer, "to/ticket.refund")

    assert clicked.route == "refund"
    assert "10003" in clicked.answer.text
    assert clicked.answer.in_reply_to == asked.answer.in_reply_to


async def test_something_else_is_told_what_the_bot_can_do(unsure: Pump) -> None:
    asked = await unsure.says("U0EMMA", UNSURE)

    clicked = await unsure.clicks("U0EMMA", asked.answer, "to/ticket.unknown")

    assert "can't help with that" in clicked.answer.text


async def test_who_is_unclear_after_the_question_gets_a_person(unsure: Pump) -> None:
    asked = await unsure.says("U0EMMA", UNSURE)
    again = await unsure.says("U0EMMA", "I told you already, that thing", thread_ts=asked.answer.thread_ts)

    assert again.of(HANDOFF_REQUESTED)


async def test_a_clear_text_after_the_question_is_routed_and_ends_the_row(unsure: Pump) -> None:
    asked = await unsure.says("U0EMMA", UNSURE)
    clear = await unsure.says("U0EMMA", "I want a refund for order 10003", thread_ts=asked.answer.thread_ts)

    assert clear.route == "refund"


async def test_small_talk_does_not_end_the_row(unsure: Pump) -> None:
    asked = await unsure.says("U0EMMA", UNSURE)
    await unsure.says("U0EMMA", "hello", thread_ts=asked.answer.thread_ts)
    again = await unsure.says("U0EMMA", UNSURE, thread_ts=asked.answer.thread_ts)

    assert again.of(HANDOFF_REQUESTED)


async def test_a_follow_up_that_may_be_the_tickets_own_is_not_asked_about(unsure: Pump) -> None:
    told = await unsure.says("U0EMMA", "where is my parcel 10002")
    turn = await unsure.says("U0EMMA", "is the thing that I bought in it", thread_ts=told.answer.thread_ts)

    assert turn.route == "order"


async def test_a_button_whose_route_has_gone_brings_a_person(unsure: Pump) -> None:
    asked = await unsure.says("U0EMMA", UNSURE)
    unsure.desk = replace(unsure.desk, agent_of=lambda type_: "" if type_ == "ticket.refund" else type_[7:])

    assert (await unsure.clicks("U0EMMA", asked.answer, "to/ticket.refund")).of(HANDOFF_REQUESTED)
