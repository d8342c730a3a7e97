"""A new delivery address before shipping: asked for, confirmed, changed once, and never shown in a channel."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.rules.address import MOST_CHARACTERS, address_given, address_in, may_be_address
from hermes_bot.messages.payloads import HANDOFF_REQUESTED, Audience
from hermes_bot.tools.order import ChangeKind, Order
from hermes_bot.tools.order_book import OrderBook
from tests.agents.harness import Pump, Turn

EMMA, LI_NA = "C0001", "C0002"
NEW, NEW_ZH = "12 Example Street, Springfield, IL 62704", "北京市海淀区中山路8号3栋201室"


async def order_of(book: OrderBook, order_id: str, customer: str = EMMA) -> Order:
    order = await book.order(customer, order_id)
    assert order is not None
    return order


def in_public(*turns: Turn) -> str:
    """Return everything that a channel's readers can read."""
    public = [reply for turn in turns for reply in turn.seen_by(Audience.THREAD)]
    return " ".join(f"{reply.text} {reply.fields} {reply.choices}" for reply in public)


@pytest.mark.parametrize(
    "user, customer, order_id, text, yes, address",
    [
        ("U0EMMA", EMMA, "10587", f"Please change the address of order 10587 to {NEW}", "yes", NEW),
        ("U0LINA", LI_NA, "10594", f"订单10594的地址改到{NEW_ZH}，谢谢", "是的", NEW_ZH),
    ],
)
async def test_an_address_is_repeated_confirmed_and_changed_with_the_old_one_kept(
    pump: Pump, book: OrderBook, user: str, customer: str, order_id: str, text: str, yes: str, address: str
) -> None:
    old = (await order_of(book, order_id, customer)).address
    asked = await pump.says(user, text, channel="D0X")
    unchanged = (await order_of(book, order_id, customer)).address
    changed = await pump.says(user, yes, channel="D0X")

    assert address in dict(asked.answer.fields).values()
    assert unchanged == old
    assert order_id in changed.answer.text
    assert (await order_of(book, order_id, customer)).address == address
    (change,) = await book.changes(customer, order_id)
    assert (change.kind, change.before, change.after) == (ChangeKind.ADDRESS, old, address)


async def test_the_address_is_asked_for_and_may_be_confirmed_by_a_click(pump: Pump, book: OrderBook) -> None:
    await pump.says("U0EMMA", "I need to change the address of order 10588", channel="D0EMMA")
    asked = await pump.says("U0EMMA", "It's 5 Oak Avenue, 10115 Berlin", channel="D0EMMA")
    await pump.clicks("U0EMMA", asked.answer, "order/address:10588")

    assert (await order_of(book, "10588")).address == "5 Oak Avenue, 10115 Berlin"


async def test_a_no_leaves_the_address(pump: Pump, book: OrderBook) -> None:
    await pump.says("U0EMMA", f"Change the address of order 10587 to {NEW}", channel="D0EMMA")
    await pump.says("U0EMMA", "no", channel="D0EMMA")

    assert await book.changes(EMMA, "10587") == ()


async def test_what_is_no_address_is_asked_about_once_more_and_then_a_person_takes_over(pump: Pump) -> None:
    turns = [
        await pump.says("U0LINA", text, channel="D0LINA")
        for text in ("订单10594的地址填错了，能改吗", "改成公司地址", "改成13800138000")
    ]

    assert "完整的新地址" in turns[0].answer.text
    assert "没有看出其中的地址" in turns[1].answer.text
    assert turns[2].of(HANDOFF_REQUESTED)


async def test_in_a_channel_no_address_is_asked_for_or_shown(pump: Pump, book: OrderBook) -> None:
    asked = await pump.says("U0EMMA", "I need to change the address of order 10588")
    told = await pump.says("U0EMMA", "5 Oak Avenue, 10115 Berlin", thread_ts=asked.answer.thread_ts)
    changed = await pump.says("U0EMMA", "yes", thread_ts=asked.answer.thread_ts)

    assert "direct message" in asked.answer.text
    assert asked.seen_by(Audience.OWNER)[0].text.startswith("Please write here")
    assert (await order_of(book, "10588")).address == "5 Oak Avenue, 10115 Berlin"
    assert "Oak Avenue" not in in_public(asked, told, changed)
    assert "5 Oak Avenue, 10115 Berlin" in dict(told.seen_by(Audience.OWNER)[0].fields).values()


async def test_the_words_that_the_bot_suggests_work_in_a_direct_message(pump: Pump) -> None:
    turn = await pump.says("U0EMMA", f"change the address of order 10588 to {NEW}", channel="D0EMMA")

    assert NEW in dict(turn.answer.fields).values()


@pytest.mark.parametrize(
    "user, text, words",
    [
        ("U0EMMA", "I need to change the delivery address of order 10002", "can't be changed any more"),
        ("U0LINA", "订单10008的收货地址填错了，能改吗", "已经无法修改地址"),
    ],
)
async def test_what_is_on_its_way_keeps_its_address_and_a_person_is_one_click_away(
    pump: Pump, user: str, text: str, words: str
) -> None:
    turn = await pump.says(user, text)

    assert words in turn.answer.text
    assert [choice.id for choice in turn.answer.choices] == ["human"]


async def test_nobody_changes_the_address_of_somebody_elses_order(pump: Pump, book: OrderBook) -> None:
    turn = await pump.says("U0EMMA", f"change the address of order 10594 to {NEW}", channel="D0EMMA")

    assert "can't find an order with that number" in turn.answer.text
    assert (await order_of(book, "10594", LI_NA)).address != NEW


@pytest.mark.parametrize(
    "text, address",
    [
        (f"ship order 10587 to {NEW} please", NEW),
        (
            "please change my delivery address: 5 Oak Avenue, 10115 Berlin. Can you do that?",
            "5 Oak Avenue, 10115 Berlin",
        ),
        ("The new address is 1234 Elm St, Springfield, IL, 62701. Thanks", "1234 Elm St, Springfield, IL, 62701"),
        (f"地址改成{NEW_ZH}，可以吗", NEW_ZH),
        ("I need to change the delivery address of order 10002", ""),
        ("change the address from Los Angeles to my New York address", ""),
        ("改成13800138000", ""),
        ("", ""),
    ],
)
def test_an_address_is_found_in_what_people_write(text: str, address: str) -> None:
    assert address_in(text).address == address


def test_an_answer_may_be_nothing_but_the_address() -> None:
    assert address_given(NEW) == NEW
    assert address_given("next week, please") == ""


@pytest.mark.timeout(10)
@pytest.mark.parametrize("piece", ["to ", ": ", "改成路", "it's 1 a ", "\n"])
def test_a_very_long_text_is_read_at_once(piece: str) -> None:
    assert address_given((piece * 100_000)[:100_000]) == ""


@given(text=st.text(max_size=3_000))
def test_any_text_gives_an_address_that_can_be_one_or_none(text: str) -> None:
    found = address_given(text)

    assert found == "" or (may_be_address(found) and len(found) <= MOST_CHARACTERS)
