"""The page of the local workspace: what a person has not read is marked, the same on every page of their seat."""

import pytest
from playwright.async_api import expect

from hermes_bot.workspace.server import WorkspaceServer
from tests.browser.seat import Seat, Seats

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


async def test_what_came_while_no_page_was_open_is_marked_at_the_next_visit(
    seats: Seats, server: WorkspaceServer
) -> None:
    await server.workspace.post("U0OMAR", "C0SUPPORT", "first")
    seat = await seats.take("U0EMMA", "C0SUPPORT")
    await expect(seat.page.get_by_role("main")).to_contain_text("first")
    await seats.visit(seat.page, "U0EMMA", "C0GENERAL")
    context = seat.page.context
    await seat.page.close()
    await server.workspace.post("U0OMAR", "C0SUPPORT", "second")
    again = Seat(await context.new_page())
    await seats.visit(again.page, "U0EMMA", "C0GENERAL")
    mark = again.channel("C0SUPPORT").get_by_role("img", name="1 unread")
    await expect(mark).to_be_visible()
    await again.channel("C0SUPPORT").click()

    await expect(mark).to_have_count(0)
    await expect(again.page.get_by_role("main").locator(".new-line")).to_have_text("New")


async def test_what_is_read_on_one_page_is_read_on_all_pages_of_the_seat(seats: Seats, server: WorkspaceServer) -> None:
    one, other = await seats.take("U0EMMA", "C0GENERAL"), await seats.take("U0EMMA", "C0GENERAL")
    ts = await server.workspace.post("U0OMAR", "C0SUPPORT", "news")
    marks = [seat.channel("C0SUPPORT").get_by_role("img", name="1 unread") for seat in (one, other)]
    for mark in marks:
        await expect(mark).to_be_visible()

    await one.channel("C0SUPPORT").click()

    for mark in marks:
        await expect(mark).to_have_count(0)
    elsewhere = await seats.take("U0EMMA", "C0GENERAL")
    await expect(elsewhere.channel("C0SUPPORT").get_by_role("img")).to_have_count(0)
    assert server.workspace.read_marks.saved()["U0EMMA"]["C0SUPPORT"] == ts


async def test_a_reply_is_unread_until_its_thread_is_opened(seats: Seats, server: WorkspaceServer) -> None:
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "a question")
    seat = await seats.take("U0EMMA", "C0SUPPORT")
    await server.workspace.post("U0OMAR", "C0SUPPORT", "an answer", ts)
    mark = seat.channel("C0SUPPORT").get_by_role("img", name="1 unread")
    await expect(mark).to_be_visible()
    await seat.page.reload()
    await expect(mark).to_be_visible()

    await seat.page.get_by_test_id(f"thread-link-{ts}").click()

    await expect(mark).to_have_count(0)
    await seat.page.reload()
    await expect(seat.thread).to_contain_text("an answer")
    await expect(mark).to_have_count(0)
