from dataclasses import replace

import msgspec
import pytest

from agents.desk import Desk
from agents.entry import EntryAgent
from hermes_bot.errors import TransientError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import (
    APPROVAL_REQUESTED,
    HANDOFF_NOTED,
    HANDOFF_REQUESTED,
    TICKET_CLICKED,
    TICKET_CREATED,
    Audience,
    Choice,
    Clicked,
    HandoffNoted,
    Inbound,
    Reply,
    fields_of,
    read,
)
from hermes_bot.people import Person
from hermes_bot.tickets.ticket import Owner
from routing.choice import RouteChoice
from tests.agents.harness import NOON, TEAM, KnownPeople, Pump


async def test_a_message_opens_a_ticket_and_says_why_it_went_where_it_went(pump: Pump, desk: Desk) -> None:
    turn = await pump.says("U0EMMA", "Where is my order 10002?")

    ticket = await desk.tickets.get(turn.answer.ticket_id)
    assert (ticket.requester, ticket.agent, ticket.language) == ("U0EMMA", "order", "en")
    assert ticket.why


async def test_a_button_of_a_ticket_that_the_store_does_not_know_is_answered_to_whoever_pressed_it(pump: Pump) -> None:
    pressed = Clicked(ticket_id="T-4711", choice="refund/confirm:10001", label="Yes", user="U0EMMA", team=TEAM)
    turn = await pump.run(
        Message(type=TICKET_CLICKED, sender="slack", context_id="c", id="MSG-old", data=fields_of(pressed))
    )

    (told,) = turn.seen_by(Audience.EPHEMERAL)
    assert (told.user, told.channel) == ("U0EMMA", "")
    assert "don't know this request" in told.text


async def test_staff_who_write_in_a_customers_thread_are_asked_alone_what_they_meant(pump: Pump, desk: Desk) -> None:
    asked = await pump.says("U0EMMA", "Where is my order 10002?")
    operator = await pump.says("U0OMAR", "I'll look into order 10002", thread_ts=asked.answer.thread_ts)
    admin = await pump.says("U0ADA", "thanks", thread_ts=asked.answer.thread_ts)

    (asks,) = operator.replies
    assert (asks.audience, asks.user) == (Audience.EPHEMERAL, "U0OMAR")
    assert [choice.label for choice in asks.choices] == ["Take over", "Only this message"]
    assert len(admin.messages) == 1  # one is asked at a time
    (ticket,) = await desk.tickets.listing()
    assert (ticket.requester, ticket.held_by) == ("U0EMMA", "U0OMAR")


async def test_staff_who_write_for_themselves_get_a_ticket_like_a_customer(pump: Pump) -> None:
    asked = await pump.says("U0OMAR", "Hello!")
    again = await pump.says("U0OMAR", "thanks", thread_ts=asked.answer.thread_ts)

    assert "Hello!" in asked.answer.text
    assert again.answer.ticket_id == asked.answer.ticket_id


async def test_when_slack_cannot_say_who_is_staff_the_message_is_tried_again(pump: Pump, people: KnownPeople) -> None:
    asked = await pump.says("U0EMMA", "Where is my order 10002?")
    people.failure = TransientError("slack: away")

    with pytest.raises(TransientError):
        await pump.says("U0OMAR", "on it", thread_ts=asked.answer.thread_ts)


async def test_another_customer_in_the_thread_gets_a_ticket_of_their_own(pump: Pump) -> None:
    emma = await pump.says("U0EMMA", "Where is my order 10002?")
    li_na = await pump.says("U0LINA", "我的订单10008到哪了", thread_ts=emma.answer.thread_ts)
    stolen = await pump.says("U0LINA", "10002呢？10002", thread_ts=emma.answer.thread_ts)

    assert li_na.answer.ticket_id != emma.answer.ticket_id
    assert li_na.answer.text.startswith("订单 10008 正在运送途中")
    assert "没有找到这个订单号" in stolen.answer.text


async def test_on_a_ticket_of_people_the_bot_is_quiet_and_passes_the_words_on(pump: Pump, desk: Desk) -> None:
    handed = await pump.says("U0EMMA", "I want to talk to a human")
    ticket_id = handed.answer.ticket_id
    waiting = await pump.says("U0EMMA", "hello??", thread_ts=handed.answer.thread_ts)
    await pump.takes("U0OMAR", ticket_id, "claim")
    claimed = await pump.says("U0EMMA", "where is my order 10002?", thread_ts=handed.answer.thread_ts)

    for turn, text in ((waiting, "hello??"), (claimed, "where is my order 10002?")):
        assert turn.replies == []
        assert read(turn.of(HANDOFF_NOTED)[0], HandoffNoted) == HandoffNoted(
            ticket_id=ticket_id, text=text, user="U0EMMA"
        )


async def test_after_give_back_the_bot_answers_again_and_can_hand_over_again(pump: Pump, desk: Desk) -> None:
    handed = await pump.says("U0EMMA", "I want to talk to a human")
    await pump.takes("U0OMAR", handed.answer.ticket_id, "claim")
    await pump.takes("U0OMAR", handed.answer.ticket_id, "return")
    answered = await pump.says("U0EMMA", "where is my order 10002?", thread_ts=handed.answer.thread_ts)
    again = await pump.says("U0EMMA", "human", thread_ts=handed.answer.thread_ts)

    assert "on its way" in answered.answer.text
    assert again.of(HANDOFF_REQUESTED)
    assert (await desk.tickets.get(handed.answer.ticket_id)).owner is Owner.PENDING_HUMAN


async def test_only_the_requester_may_press_the_buttons(pump: Pump) -> None:
    told = await pump.says("U0EMMA", "I want a refund for order 10003")
    pressed = await pump.clicks("U0LINA", told.answer, "human")

    assert not pressed.of(HANDOFF_REQUESTED)
    (refusal,) = pressed.replies
    assert (refusal.audience, refusal.user) == (Audience.EPHEMERAL, "U0LINA")


async def test_a_file_without_words_asks_for_words_and_the_second_goes_to_people(pump: Pump) -> None:
    first = await pump.says("U0EMMA", "", files=("broken.png",), channel="D0EMMA")
    second = await pump.says("U0EMMA", "", files=("broken-2.png",), channel="D0EMMA")

    assert "can't open files" in first.answer.text
    assert second.of(HANDOFF_REQUESTED)


async def test_a_mention_without_words_is_greeted(pump: Pump) -> None:
    assert "Hello!" in (await pump.says("U0EMMA", "")).answer.text


async def test_a_second_message_in_a_row_that_nobody_takes_goes_to_people(pump: Pump) -> None:
    first = await pump.says("U0EMMA", "What's the weather in Paris tomorrow?", channel="D0EMMA")
    second = await pump.says("U0EMMA", "Who won the football match yesterday?", channel="D0EMMA")

    assert "can't help with that" in first.answer.text
    assert "keep guessing" in second.answer.text
    assert second.of(HANDOFF_REQUESTED)


async def test_an_answer_in_between_ends_the_row(pump: Pump) -> None:
    for text in ("What's the weather in Paris tomorrow?", "where is my order 10002?", "Who won the football match?"):
        turn = await pump.says("U0EMMA", text, channel="D0EMMA")

    assert "can't help with that" in turn.answer.text


async def test_a_clear_new_subject_leaves_an_open_question(pump: Pump) -> None:
    await pump.says("U0EMMA", "where is my parcel?", channel="D0EMMA")
    turn = await pump.says("U0EMMA", "I want a refund for order 10001", channel="D0EMMA")

    assert turn.route == "refund"


@pytest.mark.parametrize("text", ["human", "Human, please", "转人工", "人工客服", "I want a real person"])
async def test_the_word_that_the_bot_offers_brings_a_person(pump: Pump, text: str) -> None:
    assert (await pump.says("U0EMMA", text)).of(HANDOFF_REQUESTED)


async def test_an_unclear_follow_up_stays_with_the_agent_that_asked(desk: Desk, pump: Pump) -> None:
    asked = await pump.says("U0EMMA", "where is my parcel?", channel="D0EMMA")

    async def below(text: str) -> RouteChoice:
        return RouteChoice(route=None, type="ticket.unknown", score=0.4, reason="below threshold")

    pump.desk = replace(desk, choose=below)
    turn = await pump.says("U0EMMA", "the one with the bag in it", channel="D0EMMA")

    assert turn.answer.ticket_id == asked.answer.ticket_id
    assert turn.route == "order"


async def test_a_slow_encoder_is_a_reason_to_try_again(desk: Desk) -> None:
    async def slow(text: str) -> RouteChoice:
        raise TimeoutError

    inbound = Inbound(team=TEAM, channel="C0SUPPORT", channel_type="channel", ts="1.1", user="U0EMMA", text="boots?")
    message = Message(type=TICKET_CREATED, sender="slack", context_id="c", data=fields_of(inbound), created_at=NOON)

    with pytest.raises(TransientError):
        await EntryAgent().handle(message, replace(desk, choose=slow))


async def test_an_unknown_slack_user_is_served_without_data(pump: Pump, people: KnownPeople) -> None:
    turn = await pump.says("U0GONE", "where is my order 10002?")
    people.people["U0GONE"] = Person(team=TEAM, id="U0GONE", name="Back")

    assert turn.of(HANDOFF_REQUESTED)


@pytest.mark.parametrize(
    "text, language",
    [
        ("Where is my order 10002?", "en"),
        ("我的 iPhone 15 Pro Max 到了吗", "zh"),
        ("注文10002をすぐ返金してください", "en"),
        ("주문 10002 어디 있어요", "en"),
        ("¿Dónde está mi pedido 10002?", "en"),
    ],
)
async def test_a_ticket_speaks_the_language_of_the_message(pump: Pump, desk: Desk, text: str, language: str) -> None:
    turn = await pump.says("U0EMMA", text)

    assert (await desk.tickets.get(turn.answer.ticket_id)).language == language


async def test_a_customer_who_changes_the_language_is_answered_in_it(pump: Pump) -> None:
    await pump.says("U0LINA", "我的订单10008到哪了", channel="D0LINA")
    turn = await pump.says("U0LINA", "Where is my order 10009?", channel="D0LINA")

    assert "was delivered" in turn.answer.text


@pytest.mark.parametrize("text", ["The order number is 10001.", "10001", "it's order number 10001"])
async def test_an_order_number_answers_the_agent_that_asked_for_it(pump: Pump, text: str) -> None:
    await pump.says("U0EMMA", "I want my money back", channel="D0EMMA")
    turn = await pump.says("U0EMMA", text, channel="D0EMMA")

    assert turn.route == "refund"
    assert turn.of(APPROVAL_REQUESTED)


async def test_an_open_question_about_a_refund_does_not_hold_a_question_about_delivery(pump: Pump) -> None:
    await pump.says("U0EMMA", "I want my money back", channel="D0EMMA")
    turn = await pump.says("U0EMMA", "where is my order 10002?", channel="D0EMMA")

    assert turn.route == "order"


async def test_nobody_reads_the_same_answer_three_times(pump: Pump) -> None:
    for text in ("where is my order 10002?", "any news?"):
        told = await pump.says("U0EMMA", text, channel="D0EMMA")
    third = await pump.says("U0EMMA", "any update?", channel="D0EMMA")

    assert "on its way" in told.answer.text
    assert "all I can see" in third.answer.text
    assert third.of(HANDOFF_REQUESTED)


async def test_an_old_button_does_what_it_was_offered_for(pump: Pump) -> None:
    offered = await pump.says("U0EMMA", "where is my parcel?", channel="D0EMMA")
    await pump.says("U0EMMA", "I want my money back", channel="D0EMMA")
    pressed = await pump.clicks("U0EMMA", offered.answer, "order/order:10001")

    assert "was delivered" in pressed.answer.text
    assert not pressed.of(APPROVAL_REQUESTED)


async def test_a_button_that_no_agent_offers_brings_a_person(pump: Pump) -> None:
    opened = await pump.says("U0EMMA", "hi", channel="D0EMMA")
    forged = replace_choices(opened.answer, "billing/pay:1")

    assert (await pump.clicks("U0EMMA", forged, 0)).of(HANDOFF_REQUESTED)


def replace_choices(reply: Reply, choice: str) -> Reply:
    return msgspec.structs.replace(reply, choices=(Choice(id=choice, label="Pay"),))


async def test_a_customer_of_another_organisation_may_press_their_own_buttons(pump: Pump) -> None:
    inbound = Inbound(
        team=TEAM, channel="C0SUPPORT", channel_type="channel", ts="1.1", user="U0GUEST", user_team="T0OTHER", text="hi"
    )
    opened = await pump.run(
        Message(type=TICKET_CREATED, sender="slack", context_id="c", data=fields_of(inbound), created_at=NOON)
    )
    offered = replace_choices(opened.answer, "human")
    theirs = await pump.clicks("U0GUEST", offered, 0, team="T0OTHER")

    assert theirs.of(HANDOFF_REQUESTED)
    (refused,) = (await pump.clicks("U0GUEST", offered, 0)).replies
    assert refused.audience is Audience.EPHEMERAL


async def test_a_reply_that_nobody_addressed_to_the_bot_counts_only_where_a_ticket_is(pump: Pump) -> None:
    stray = await pump.says("U0EMMA", "Where is my order 10002?", thread_ts="1700000000.000001", known_only=True)
    opened = await pump.says("U0EMMA", "Where is my order 10002?")
    thread = opened.answer.thread_ts
    reply = await pump.says("U0EMMA", "and my order 10001?", thread_ts=thread, known_only=True)
    others = await pump.says("U0LINA", "Where is my order?", thread_ts=thread, known_only=True)

    assert stray.replies == []
    assert others.replies == []
    assert "10001" in reply.answer.text
