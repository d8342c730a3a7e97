"""The story of a newcomer: `hermes-bot run` without a Slack token, and everything done in its page.

Screenshots are kept in `tests/artifacts`; `docs/pictures/workspace.png`, which the README shows, is a copy from there.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.browser.seat import Seat, Seats
from tests.scenario.bot_process import BotProcess

ARTIFACTS = Path(__file__).parents[1] / "artifacts"
NO_SLACK = {"HERMES_ENCODER__PROFILE": "light", "HERMES_HTTP__PORT": "0", "HERMES_WORKSPACE__PORT": "0"}

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def address(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The page of a bot that was started as a newcomer starts it, but that its routes are encoded already."""
    folder = tmp_path_factory.mktemp("newcomer")
    shutil.copytree(vectors, folder / "data" / "cache")
    bot = BotProcess(NO_SLACK | {"HERMES_DATA__PATH": "data"}, folder)
    told = await bot.start()
    yield told["page"]
    assert await bot.stop() == 0


def said(seat: Seat, words: str) -> Locator:
    """Return the message in the conversation."""
    return seat.page.get_by_role("main").locator(".message").filter(has_text=words)


async def open_thread(seat: Seat, words: str) -> None:
    """Open the thread under a message, once somebody has replied there."""
    await said(seat, words).locator('[data-testid^="thread-link-"]').click()
    await expect(seat.thread).to_contain_text(words)


async def picture(seat: Seat, name: str) -> None:
    """Keep what the person sees."""
    ARTIFACTS.mkdir(exist_ok=True)
    await seat.page.screenshot(path=ARTIFACTS / f"{name}.png", animations="disabled")


async def test_emma_finds_her_order_and_gets_a_refund_that_omar_approves(seats: Seats) -> None:
    emma = await seats.take("U0EMMA", "C0SUPPORT")
    await picture(emma, "1-emma-arrives")
    await emma.say("Where is my order?")
    await open_thread(emma, "Where is my order?")
    offer = emma.thread.locator(".message.ephemeral")
    await expect(offer).to_contain_text("Only visible to you")
    await picture(emma, "2-emma-chooses")
    await offer.get_by_role("button", name=re.compile("10002")).click()
    await expect(emma.thread).to_contain_text("Order 10002 is on its way to you.")
    await picture(emma, "3-emma-is-answered")
    await emma.channel("D0EMMA").click()
    await expect(emma.page.get_by_role("main")).to_contain_text("Tracking number")
    await picture(emma, "4-emma-in-private")

    await emma.channel("C0SUPPORT").click()
    await emma.say("I want a refund for order 10001")
    await open_thread(emma, "I want a refund for order 10001")
    await expect(emma.thread).to_contain_text("I've asked a colleague to approve the refund of €102.80")
    await picture(emma, "5-emma-waits")
    lina = await seats.take("U0LINA", "C0SUPPORT", locale="zh-CN")
    await lina.say("我的订单 10008 到哪里了？")
    await open_thread(lina, "我的订单 10008 到哪里了？")
    await expect(lina.thread).to_contain_text("订单 10008 正在运送途中。")
    await picture(lina, "6-lina-is-answered")
    omar = await seats.take("U0OMAR", "C0SUPPORT")
    await open_thread(omar, "I want a refund for order 10001")
    await expect(omar.thread.get_by_role("button", name="Approve")).to_be_visible()
    await omar.page.mouse.move(0, 0)  # a pointer over a message would shade it
    await picture(omar, "workspace")
    await omar.thread.get_by_role("button", name="Approve").click()

    await expect(emma.thread).to_contain_text("Good news: €102.80 for order 10001 has been refunded.")
    await expect(omar.thread).to_contain_text("Approved by Omar Haddad")
    await expect(omar.thread).to_contain_text("€102.80 refunded for order 10001")
    await expect(omar.thread.get_by_role("button", name="Approve")).to_have_count(0)
    await picture(emma, "7-emma-is-told")
    await picture(omar, "8-omar-is-done")


async def test_li_na_is_told_in_chinese_why_olivia_rejects_her_refund(seats: Seats) -> None:
    lina = await seats.take("U0LINA", "C0SUPPORT", locale="zh-CN")
    await lina.say("我想为订单 10007 申请退款")
    await open_thread(lina, "我想为订单 10007 申请退款")
    await expect(lina.thread).to_contain_text("正在等待同事审批")
    olivia = await seats.take("U0OLIVIA", "C0SUPPORT")
    await open_thread(olivia, "我想为订单 10007 申请退款")
    await olivia.thread.get_by_role("button", name="Reject").click()
    await expect(olivia.modal).to_be_visible()
    await olivia.modal.get_by_role("textbox").fill("商品已拆封使用")
    await picture(olivia, "9-olivia-gives-a-reason")
    await olivia.modal.get_by_role("button", name="Reject").click()

    await expect(lina.thread).to_contain_text("很抱歉，订单 10007 的退款申请没有通过。原因：商品已拆封使用")
    await expect(olivia.thread).to_contain_text("Rejected by Olivia Brandt")
    await expect(olivia.modal).to_have_count(0)
    await picture(lina, "10-lina-is-told")
    await picture(olivia, "11-olivia-is-done")


async def test_a_person_takes_over_and_gives_back(seats: Seats) -> None:
    emma = await seats.take("U0EMMA", "D0EMMA")
    await emma.say("Can I talk to a person?")
    await expect(emma.page.get_by_role("main")).to_contain_text("asked a colleague to take over")
    omar = await seats.take("U0OMAR", "C0HANDOFF")
    card = said(omar, "Why: The customer asked for a person")
    await picture(omar, "12-omar-finds-a-ticket")
    await card.get_by_role("button", name="Claim").click()
    await expect(emma.page.get_by_role("main")).to_contain_text("Omar Haddad has taken over")
    await expect(card).to_contain_text("Claimed by Omar Haddad")
    await picture(omar, "13-omar-has-a-ticket")
    await card.get_by_role("button", name="Give back").click()
    await expect(omar.modal).to_be_visible()
    await omar.modal.get_by_role("button", name="Give back").click()

    await expect(emma.page.get_by_role("main")).to_contain_text("I'm back with you")
    await expect(card).to_contain_text("Given back to Hermes")
    await expect(card.get_by_role("button", name="Give back")).to_have_count(0)
    await picture(emma, "14-emma-has-hermes-again")
