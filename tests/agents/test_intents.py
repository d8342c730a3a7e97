"""What is read from words alone: wishes within an agent, rules that are asked about, and what entry hears besides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.leanings import complains, introduces, out_of_scope, quotes_staff, wants_people
from agents.rules.intents import OrderWish, RefundWish, Rule, leaning, only_asks, order_wish, refund_wish, rule_asked
from agents.urgency import REASONS, urgency_of
from hermes_bot.tickets.ticket import Priority


@pytest.mark.parametrize(
    "text, wish",
    [
        ("please cancel my order", OrderWish.CANCEL),
        ("why was my order cancelled?", None),
        ("帮我把那单取消掉", OrderWish.CANCEL),
        ("I need to update my delivery address", OrderWish.ADDRESS),
        ("收货地址填错了", OrderWish.ADDRESS),
        ("could I get a receipt?", OrderWish.INVOICE),
        ("帮我开个发票", OrderWish.INVOICE),
        ("show me all my orders", OrderWish.LIST),
        ("最近的订单有哪些", OrderWish.LIST),
        ("it says delivered but nothing came", OrderWish.MISSING),
        ("显示已签收，但是我没收到", OrderWish.MISSING),
        ("My order 10001 did not arrive", OrderWish.MISSING),
        ("I never received order 10001", OrderWish.MISSING),
        ("10007还没收到", OrderWish.MISSING),
        ("I haven't received the confirmation mail of my order", None),
        ("can you change the size in my order", OrderWish.MODIFY),
        ("what's the tracking number?", OrderWish.TRACKING),
        ("快递单号多少", OrderWish.TRACKING),
        ("能加急吗", OrderWish.HURRY),
        ("cancel it", OrderWish.CANCEL),
        ("没发的话就取消吧", OrderWish.CANCEL),
        ("订单为什么被取消了", None),
        ("改成公司地址", OrderWish.ADDRESS),
        ("where is my order", None),
        ("10002", None),
    ],
)
def test_a_wish_of_an_order_is_known_by_its_words(text: str, wish: OrderWish | None) -> None:
    assert order_wish(text) is wish


@pytest.mark.parametrize(
    "text, wish",
    [
        ("I want my money back", RefundWish.REFUND),
        ("I want to return it and get a refund", RefundWish.REFUND),
        ("I want to return this", RefundWish.RETURN),
        ("我要退货", RefundWish.RETURN),
        ("where is my refund?", RefundWish.STATUS),
        ("退款怎么还没到账", RefundWish.STATUS),
        ("I want a refund for order 10001, it arrived broken", RefundWish.REFUND),
        ("refund please, the parcel arrived late", RefundWish.REFUND),
        ("my refund has not arrived", RefundWish.STATUS),
        ("I asked for a refund and the money still has not arrived", RefundWish.STATUS),
        ("when will I get my refund", RefundWish.STATUS),
        ("did my money arrive?", RefundWish.STATUS),
        ("has my return arrived yet?", RefundWish.RETURN),
        ("you charged my card twice", RefundWish.DISPUTE),
        ("I don't recognize this charge", RefundWish.DISPUTE),
        ("重复扣款了", RefundWish.DISPUTE),
        ("can I exchange it", RefundWish.EXCHANGE),
        ("我想换货", RefundWish.EXCHANGE),
        ("10001", None),
    ],
)
def test_a_wish_of_a_refund_is_known_by_its_words(text: str, wish: RefundWish | None) -> None:
    assert refund_wish(text) is wish


@pytest.mark.parametrize(
    "text, agent, in_talk, rule",
    [
        ("How long do I have to return something?", "refund", False, Rule.RETURNS),
        ("what is your refund policy", "refund", True, Rule.REFUND),
        ("退款多久到账", "refund", False, Rule.PAYOUT),
        ("can I still return it?", "refund", False, None),
        ("这个能退吗", "refund", False, None),
        ("能退吗", "refund", True, None),
        ("until when can orders be cancelled?", "order", False, Rule.CANCEL),
        ("can I cancel my order?", "order", False, None),
        ("I want a refund", "refund", False, None),
    ],
)
def test_a_rule_is_told_from_a_question_about_ones_own_order(
    text: str, agent: str, in_talk: bool, rule: Rule | None
) -> None:
    assert rule_asked(text, in_talk=in_talk, agent=agent) is rule


@pytest.mark.parametrize(
    "text, agent",
    [
        ("I'd like to exchange a laptop", "refund"),
        ("cancel my order", "order"),
        ("I was charged twice and want to cancel my order", "refund"),
        ("cancel my order and refund me", ""),
        ("hello", ""),
    ],
)
def test_words_lean_to_one_agent_or_to_none(text: str, agent: str) -> None:
    assert leaning(text) == agent


@pytest.mark.parametrize("text, asks", [("Can I cancel it?", True), ("能取消吗", True), ("please cancel it", False)])
def test_a_question_is_no_request(text: str, asks: bool) -> None:
    assert only_asks(text) is asks


@pytest.mark.parametrize(
    "text",
    [
        "Sure! My name is Ada Example, and my zip code is 10115.",
        "ada.example@example.com",
        "Ada Example",
        "adaexample77",
        "My email address is ada@example.com",
        "我叫李小明",
    ],
)
def test_who_only_says_who_they_are_wants_nothing_yet(text: str) -> None:
    assert introduces(text)


@pytest.mark.parametrize(
    "text",
    ["My name is Ada and I want a refund", "10002", "yes", "where is it?", "我叫你们退款", "", "My order is 10002"],
)
def test_who_says_more_is_not_only_introduced(text: str) -> None:
    assert not introduces(text)


@pytest.mark.parametrize("text", ["这是骗人的", "I call my lawyer", "找了三次都没人管", "this is the third time I ask"])
def test_anger_is_heard(text: str) -> None:
    assert complains(text)


@pytest.mark.parametrize("text", ["谢谢", "where is my order?", "I want a refund"])
def test_calm_words_are_no_complaint(text: str) -> None:
    assert not complains(text)


def test_the_bots_business_is_told_from_other_matters() -> None:
    assert out_of_scope("你们提供维修吗")
    assert out_of_scope("do you have a promo code?")
    assert not out_of_scope("维修还不如退货，我要退货")
    assert not out_of_scope("where is my order?")


def test_people_are_asked_for_by_their_place_and_quoted_otherwise() -> None:
    assert wants_people("I want to speak to your manager")
    assert wants_people("叫你们经理来跟我说")
    assert not wants_people("the manager of my building took the parcel")
    assert quotes_staff("客服上次说三天到账")


def test_urgency_has_reasons_and_normal_has_none() -> None:
    assert urgency_of("where is my order?").priority is Priority.NORMAL
    assert urgency_of("插座冒烟了").reasons == ("safety",)
    assert urgency_of("I am a VIP customer and need it ASAP").reasons == ("deadline", "vip")
    assert set(urgency_of("fire lawyer fraud scam asap for 3 weeks vip").reasons) == set(REASONS)


@given(text=st.text(max_size=3_000))
def test_any_text_is_read_without_an_error(text: str) -> None:
    order_wish(text), refund_wish(text), leaning(text), only_asks(text), urgency_of(text)
    assert rule_asked(text, in_talk=False, agent="order") in (None, *Rule)
    assert isinstance(introduces(text) or complains(text) or wants_people(text) or out_of_scope(text), bool)
