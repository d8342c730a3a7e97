"""The page of the local workspace: people, conversations, threads, and what is pushed to them."""

import pytest
from playwright.async_api import Browser, Page, WebSocketRoute, expect

from hermes_bot.workspace.people import Member, demo_world
from hermes_bot.workspace.server import WorkspaceServer
from tests.browser.seat import Seat, Seats
from tests.workspace.bot import bot_client

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


async def test_a_newcomer_lands_where_the_bot_listens_and_is_told_what_to_try(seats: Seats) -> None:
    seat = await seats.take()

    await expect(seat.page).to_have_title("#support · Hermes workspace")
    await expect(seat.person("U0EMMA")).to_have_attribute("aria-checked", "true")
    offer = seat.page.get_by_test_id("hint").get_by_role("button").first
    words = await offer.inner_text()
    await offer.click()
    await expect(seat.composer).to_have_value(words)


async def test_the_switch_shows_whose_seat_is_taken_and_only_their_conversations(seats: Seats) -> None:
    seat = await seats.take("U0EMMA", "C0GENERAL")
    await expect(seat.channel("C0HANDOFF")).to_have_count(0)

    await seat.person("U0OMAR").click()

    await expect(seat.person("U0OMAR")).to_have_attribute("aria-checked", "true")
    await expect(seat.person("U0OMAR")).to_contain_text("You · operator")
    await expect(seat.person("U0EMMA")).to_have_attribute("aria-checked", "false")
    await expect(seat.channel("C0HANDOFF")).to_be_visible()
    await expect(seat.channel("C0GENERAL")).to_have_attribute("aria-current", "page")
    assert seat.page.url.endswith("#U0OMAR/C0GENERAL")


async def test_arrow_keys_move_from_seat_to_seat(seats: Seats) -> None:
    seat = await seats.take("U0EMMA", "C0SUPPORT")

    await seat.person("U0EMMA").focus()
    await seat.page.keyboard.press("ArrowRight")
    await expect(seat.person("U0LINA")).to_have_attribute("aria-checked", "true")
    await expect(seat.person("U0LINA")).to_be_focused()
    await seat.page.keyboard.press("ArrowRight")

    await expect(seat.person("U0OMAR")).to_have_attribute("aria-checked", "true")


async def test_what_one_person_writes_another_sees_at_once(seats: Seats, server: WorkspaceServer) -> None:
    emma = await seats.take("U0EMMA", "C0SUPPORT")
    omar = await seats.take("U0OMAR", "C0SUPPORT")

    await emma.say("Where is my order 10002, @Omar Haddad?")

    heard = omar.page.get_by_role("main").get_by_role("listitem").filter(has_text="Where is my order")
    await expect(heard).to_contain_text("Emma Fischer")
    await expect(heard.locator(".to-me")).to_have_text("@Omar Haddad")
    await expect(omar.page.get_by_test_id("announcer")).to_contain_text("Emma Fischer: Where is my order 10002")
    await expect(emma.composer).to_have_value("")
    assert len(server.workspace.messages("C0SUPPORT")) == 1


async def test_a_reply_stands_in_the_thread_and_is_counted_at_its_parent(seats: Seats, server: WorkspaceServer) -> None:
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "I want my money back")
    emma = await seats.take("U0EMMA", "C0SUPPORT")
    omar = await seats.take("U0OMAR", "C0SUPPORT")

    await omar.message(ts).hover()
    await omar.message(ts).get_by_role("button", name="Reply in thread").click()
    await omar.reply("Which order is it?")

    await expect(omar.thread).to_contain_text("Which order is it?")
    await expect(omar.message(ts)).to_contain_text("1 reply")
    link = emma.page.get_by_test_id(f"thread-link-{ts}")
    await expect(link).to_contain_text("1 reply")
    await expect(link).to_contain_text("new")
    await link.click()
    await expect(emma.thread).to_contain_text("Which order is it?")
    await expect(link).not_to_contain_text("new")
    await expect(emma.page.get_by_role("main")).not_to_contain_text("Which order is it?")


async def test_an_address_opens_the_thread_it_names_and_escape_closes_it(seats: Seats, server: WorkspaceServer) -> None:
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "First")
    reply = await server.workspace.post("U0OMAR", "C0SUPPORT", "Second", ts)
    seat = await seats.take("U0OMAR", "C0SUPPORT", ts)
    await expect(seat.thread).to_contain_text("Second")

    await seat.page.get_by_test_id("thread-composer").press("Escape")
    await expect(seat.thread).to_have_count(0)
    await expect(seat.page.get_by_test_id(f"thread-link-{ts}")).to_be_focused()
    await seats.visit(seat.page, "U0OMAR", "C0SUPPORT", reply)

    await expect(seat.thread).to_contain_text("First")
    assert seat.page.url.endswith(f"#U0OMAR/C0SUPPORT/{ts}")


async def test_a_permalink_leads_to_its_thread(seats: Seats, server: WorkspaceServer) -> None:
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "The very message")
    link = await bot_client(server).chat_getPermalink(channel="C0SUPPORT", message_ts=ts)
    page = await seats.window()

    await page.goto(link["permalink"])

    await expect(Seat(page).thread).to_contain_text("The very message")
    assert page.url == f"{server.url}/#U0EMMA/C0SUPPORT/{ts}"


async def test_enter_sends_and_shift_enter_breaks_the_line(seats: Seats, server: WorkspaceServer) -> None:
    seat = await seats.take("U0LINA", "D0LINA")

    await seat.composer.press_sequentially("我想退款")
    await seat.composer.press("Shift+Enter")
    await seat.composer.press_sequentially("订单 10005")
    await seat.composer.press("Enter")

    await expect(seat.page.get_by_role("main")).to_contain_text("订单 10005")
    assert [one["text"] for one in server.workspace.messages("D0LINA")] == ["我想退款\n订单 10005"]


async def test_a_name_is_offered_after_an_at_sign(seats: Seats, server: WorkspaceServer) -> None:
    seat = await seats.take("U0EMMA", "C0SUPPORT")

    await seat.composer.press_sequentially("Hello @o")
    await expect(seat.page.get_by_role("option")).to_have_count(3)
    await seat.composer.press("ArrowDown")
    await seat.composer.press("Enter")
    await expect(seat.composer).to_have_value("Hello @Olivia Brandt ")
    await seat.composer.press("Enter")

    await expect(seat.page.get_by_role("main").locator(".mention")).to_have_text("@Olivia Brandt")
    assert server.workspace.messages("C0SUPPORT")[0]["text"] == "Hello <@U0OLIVIA>"


async def test_conversations_and_seats_are_marked_while_nobody_looks(seats: Seats, server: WorkspaceServer) -> None:
    seat = await seats.take("U0EMMA", "C0GENERAL")

    await server.workspace.post("U0ADA", "C0SUPPORT", "Good morning")
    await bot_client(server).chat_postMessage(channel="C0HANDOFF", text="<!subteam^S0APPROVERS> please look")

    await expect(seat.channel("C0SUPPORT").get_by_label("1 unread")).to_be_visible()
    await expect(seat.person("U0OMAR").locator(".count")).to_have_text("1")
    await expect(seat.person("U0LINA").locator(".dot")).to_be_visible()
    await expect(seat.person("U0ADA").locator(".count")).to_have_count(0)
    await seat.person("U0OMAR").click()
    await seat.channel("C0HANDOFF").click()
    await expect(seat.page.get_by_role("main").locator(".mention")).to_have_text("@approvers")
    await expect(seat.page.get_by_role("main").locator(".new-line")).to_be_visible()
    await expect(seat.channel("C0HANDOFF").locator(".count")).to_have_count(0)
    await expect(seat.channel("C0SUPPORT").get_by_label("1 unread")).to_be_visible()


async def test_a_page_that_lost_its_socket_says_so_and_catches_up(seats: Seats, server: WorkspaceServer) -> None:
    page = await seats.window()
    line = Line()
    await page.route_web_socket("**/client/live**", line.connect)
    await seats.visit(page, "U0EMMA", "C0SUPPORT")

    await line.cut()
    await expect(page.get_by_text("The connection is lost.")).to_be_visible()
    await server.workspace.post("U0OMAR", "C0SUPPORT", "Said in between")
    line.whole = True

    await expect(page.get_by_role("main")).to_contain_text("Said in between")
    await expect(page.get_by_text("The connection is lost.")).to_have_count(0)


class Line:
    """The wire between a page and the server, which a test can cut."""

    def __init__(self) -> None:
        self.whole = True
        self._sockets: list[WebSocketRoute] = []

    async def connect(self, socket: WebSocketRoute) -> None:
        if self.whole:
            socket.connect_to_server()
            self._sockets.append(socket)
        else:
            await socket.close()

    async def cut(self) -> None:
        self.whole = False
        for socket in self._sockets:
            await socket.close()


async def test_edits_deletions_and_reactions_are_seen_live(seats: Seats, server: WorkspaceServer) -> None:
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "First words")
    other = await server.workspace.post("U0EMMA", "C0SUPPORT", "A slip")
    seat = await seats.take("U0OMAR", "C0SUPPORT")

    await server.workspace.edit("U0EMMA", "C0SUPPORT", ts, "Better words")
    await server.workspace.delete("U0EMMA", "C0SUPPORT", other)
    await server.workspace.react("U0EMMA", "C0SUPPORT", ts, "eyes")

    await expect(seat.message(ts)).to_contain_text("Better words")
    await expect(seat.message(ts)).to_contain_text("(edited)")
    await expect(seat.message(ts).get_by_role("button", name="👀 1")).to_have_attribute("aria-pressed", "false")
    await seat.message(ts).get_by_role("button", name="👀 1").click()
    await expect(seat.message(ts).get_by_role("button", name="👀 2")).to_have_attribute("aria-pressed", "true")
    await expect(seat.message(other)).to_have_count(0)


async def test_the_page_speaks_the_browsers_language_and_can_be_told_another(seats: Seats) -> None:
    seat = await seats.take("U0LINA", "C0SUPPORT", locale="zh-CN")
    await expect(seat.composer).to_have_attribute("placeholder", "发消息到 #support")

    await seat.page.get_by_test_id("language-en").click()

    await expect(seat.composer).to_have_attribute("placeholder", "Message #support")
    await seat.page.reload()
    await expect(seat.composer).to_have_attribute("placeholder", "Message #support")
    await expect(seat.page.locator("html")).to_have_attribute("lang", "en")


async def test_on_a_narrow_screen_sidebar_and_thread_are_layers_and_the_switch_stays(
    seats: Seats, server: WorkspaceServer
) -> None:
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "Hello from a small screen")
    seat = await seats.take("U0EMMA", "C0GENERAL", width=400)
    await expect(seat.page.get_by_test_id("sidebar")).to_be_hidden()

    await seat.page.get_by_test_id("open-sidebar").click()
    await seat.channel("C0SUPPORT").click()
    await expect(seat.page.get_by_test_id("sidebar")).to_be_hidden()
    await seat.message(ts).hover()
    await seat.message(ts).get_by_role("button", name="Reply in thread").click()

    await expect(seat.thread).to_be_visible()
    box = await seat.thread.bounding_box()
    assert box is not None
    assert box["width"] == 400
    await expect(seat.person("U0ADA")).to_be_in_viewport()
    await seat.thread.get_by_role("button", name="Close thread").click()
    await expect(seat.composer).to_be_in_viewport()


@pytest.mark.parametrize("width", [320, 400, 800, 1280])
async def test_nothing_sticks_out_at_any_width(seats: Seats, server: WorkspaceServer, width: int) -> None:
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "A very long word: " + "0123456789" * 40)
    seat = await seats.take("U0EMMA", "C0SUPPORT", ts, width=width)

    await expect(seat.thread).to_contain_text("A very long word")
    assert await seat.page.evaluate("document.documentElement.scrollWidth") == width
    assert await overflowing(seat.page) == []


async def overflowing(page: Page) -> list[str]:
    """The parts of the frame whose content is wider than they are."""
    parts: list[str] = await page.evaluate(
        """() => [...document.querySelectorAll(".conversation, .thread, .list, .head, .message")]
            .filter((part) => part.scrollWidth > part.clientWidth + 1).map((part) => part.className)"""
    )
    return parts


async def test_without_an_answer_the_page_says_so_and_offers_another_try(
    browser: Browser, server: WorkspaceServer
) -> None:
    page = await browser.new_page()
    await page.route("**/client/people*", lambda route: route.abort())
    await page.goto(server.url)
    await expect(page.get_by_role("alert")).to_contain_text("The workspace does not answer.")

    await page.unroute_all()
    await page.get_by_role("button", name="Try again").click()

    await expect(page.get_by_test_id("composer")).to_be_visible()
    await page.close()


async def test_in_a_crowd_the_taken_seat_is_in_sight_and_live(browser: Browser) -> None:
    crowd = [Member(id=f"U1P{number:02}", name=f"Person {number}", role="customer") for number in range(30)]
    world = demo_world().with_people(crowd, channels=["C0SUPPORT"])
    async with WorkspaceServer(world=world, port=0) as server:
        page = await browser.new_page()
        await page.goto(f"{server.url}/#U1P29/C0SUPPORT")
        await expect(Seat(page).person("U1P29")).to_be_in_viewport()
        await expect(page.get_by_test_id("hint")).to_be_visible()

        await server.workspace.post("U0OMAR", "C0SUPPORT", "Hello everybody")

        await expect(page.get_by_role("main")).to_contain_text("Hello everybody")
        await page.close()
