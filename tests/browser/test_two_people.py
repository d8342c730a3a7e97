"""The whole story of a refund and of a handoff in the page, as the customer and the people at the desk see it.

Screenshots are kept in `tests/artifacts`, in the order of the story.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.browser.seat import Seat, Seats
from tests.browser.test_story import NO_SLACK, open_thread, picture, said
from tests.scenario.bot_process import BotProcess

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

WANTED = "I want a refund for order 10001"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def address(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The page of a bot that was started as a newcomer starts it."""
    bot = BotProcess(NO_SLACK | {"HERMES_DATA__PATH": "data"}, tmp_path_factory.mktemp("people"))
    told = await bot.start()
    yield told["page"]
    assert await bot.stop() == 0


async def fill_in(seat: Seat, label: str, text: str, send: str) -> None:
    """Fill in a field of the form before the person, and send it."""
    await expect(seat.modal).to_be_visible()
    await seat.modal.get_by_label(label).fill(text)
    await seat.modal.get_by_role("button", name=send).click()
    await expect(seat.modal).to_have_count(0)


def main_of(seat: Seat) -> Locator:
    """Return the conversation."""
    return seat.page.get_by_role("main")


async def test_a_refund_is_changed_by_one_and_approved_by_another_and_the_customer_says_it_helped(
    seats: Seats,
) -> None:
    emma = await seats.take("U0EMMA", "C0SUPPORT")
    await emma.say(WANTED)
    await open_thread(emma, WANTED)
    await expect(emma.thread).to_contain_text("asked a colleague to approve")
    omar = await seats.take("U0OMAR", "C0SUPPORT")
    await open_thread(omar, WANTED)
    await picture(omar, "21-omar-sees-the-card")
    await omar.thread.get_by_role("button", name="Edit").click()
    await expect(omar.modal.get_by_label("Amount (EUR)")).to_have_value("102.80")
    await picture(omar, "22-omar-changes-it")
    await fill_in(omar, "Amount (EUR)", "50", "Change")
    await expect(omar.thread).to_contain_text("Version 2, changed by Omar Haddad; somebody else has to approve it")
    await omar.thread.get_by_role("button", name="Approve").click()
    refusal = omar.thread.locator(".message.ephemeral")
    await expect(refusal).to_contain_text("You changed this yourself")
    await picture(omar, "23-omar-may-not-approve-it")
    olivia = await seats.take("U0OLIVIA", "C0SUPPORT")
    await open_thread(olivia, WANTED)
    await expect(olivia.thread).not_to_contain_text("You changed this yourself")
    await olivia.thread.get_by_role("button", name="Approve").click()

    await expect(emma.thread).to_contain_text("Good news: €50.00 for order 10001 has been refunded.")
    await expect(olivia.thread).to_contain_text("Approved by Olivia Brandt")
    await expect(olivia.thread).to_contain_text("€50.00 refunded for order 10001")
    await expect(omar.thread.get_by_role("button", name="Approve")).to_have_count(0)
    await picture(olivia, "24-olivia-has-approved")
    await emma.thread.get_by_role("button", name="Yes, it helped").click()
    await expect(emma.thread.locator(".message.ephemeral")).to_contain_text("I'm glad that I could help")
    await picture(emma, "25-emma-says-that-it-helped")


async def test_li_na_is_asked_something_in_chinese_and_a_person_answers_her(seats: Seats) -> None:
    lina = await seats.take("U0LINA", "D0LINA", locale="zh-CN")
    await lina.say("我想为订单 10007 申请退款")
    await expect(main_of(lina)).to_contain_text("正在等待同事审批")
    omar = await seats.take("U0OMAR", "C0HANDOFF")
    card = said(omar, "10007").filter(has=omar.page.get_by_role("button", name="Ask customer"))
    await picture(omar, "31-omar-sees-a-card-of-a-direct-message")
    await card.get_by_role("button", name="Ask customer").click()
    await fill_in(omar, "Your question", "包装还在吗？", "Ask")
    await expect(main_of(lina)).to_contain_text("包装还在吗？")
    await lina.say("在的，还没拆")
    await expect(card).to_contain_text("在的，还没拆")
    await picture(omar, "32-omar-reads-the-answer")
    await picture(lina, "33-lina-was-asked")
    await card.get_by_role("button", name="Approve").click()
    await expect(main_of(lina)).to_contain_text("已办理完成")
    await picture(lina, "34-lina-is-told")

    await lina.say("我想和真人客服说话")
    wanted = said(omar, "李娜").filter(has=omar.page.get_by_role("button", name="Claim"))
    await expect(wanted).to_be_visible()
    await expect(wanted).to_contain_text("The bot said last: 订单 10007 的退款")
    await picture(omar, "35-a-person-is-wanted")
    await wanted.get_by_role("button", name="Claim").click()
    await expect(main_of(lina)).to_contain_text("Omar Haddad")
    ticket = said(omar, "Claimed by Omar Haddad")
    await ticket.get_by_role("button", name="Reply to customer").click()
    await picture(omar, "36-omar-writes")
    await fill_in(omar, "What do you want to say?", "您好，我是 Omar，请问有什么可以帮您？", "Send")
    await expect(main_of(lina)).to_contain_text("Omar Haddad: 您好，我是 Omar")
    await lina.say("发票可以寄给我吗？")
    await picture(lina, "37-lina-talks-to-omar")
    await open_thread(omar, "Claimed by Omar Haddad")
    await expect(omar.thread).to_contain_text("发票可以寄给我吗？")
    await picture(omar, "38-omar-reads-lina")
    await ticket.get_by_role("button", name="Solved").click()
    await expect(said(omar, "李娜").filter(has_text=": solved")).to_be_visible()
    await picture(omar, "39-solved")
    await expect(main_of(lina).get_by_text("Hermes 正在等待人工处理")).to_have_count(0)
    await picture(lina, "40-lina-is-asked-whether-it-helped")
