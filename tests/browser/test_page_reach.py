"""The page of the local workspace, for everybody: keys alone, screen readers, dark, narrow, Chinese, a guest."""

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, expect
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.server import WorkspaceServer
from tests.browser.kit import Json, button, mrkdwn, words
from tests.browser.seat import Seat, Seats
from tests.workspace.bot import bot_client

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


def choice(kind: str, action_id: str, **more: object) -> Json:
    options = [{"text": words(name), "value": name} for name in ("Damaged", "Late")]
    return {"type": kind, "action_id": action_id, "options": options, **more}


def field(label: str, element: Json) -> Json:
    return {"type": "input", "block_id": label, "label": words(label), "hint": words("Please"), "element": element}


BLOCKS: list[Json] = [
    {"type": "header", "text": words("Refund of €79.90")},
    {
        "type": "section",
        "text": mrkdwn("*Way* `code` <https://example.com|link>"),
        "accessory": choice("overflow", "o"),
    },
    {"type": "section", "fields": [mrkdwn("*Order*"), mrkdwn("10002"), mrkdwn("*State*"), mrkdwn("delivered")]},
    {"type": "actions", "elements": [button("Approve", style="primary"), button("Reject", style="danger")]},
    {"type": "actions", "elements": [choice("radio_buttons", "r"), {"type": "datepicker", "action_id": "d"}]},
    field("Reason", choice("static_select", "x")),
    field("Kinds", choice("checkboxes", "x")),
    field("Labels", choice("multi_static_select", "x", placeholder=words("Choose"))),
    field("Note", {"type": "plain_text_input", "action_id": "x", "placeholder": words("In your own words")}),
    {"type": "image", "image_url": "https://example.com/a.png", "alt_text": "a dent"},
    {"type": "markdown", "text": "## Heading\n- [x] paid\n\n| a | b |\n|---|---|\n| 1 | 2 |"},
    {"type": "table", "rows": [[{"type": "raw_text", "text": "Order"}], [{"type": "raw_text", "text": "10002"}]]},
    {"type": "context", "elements": [mrkdwn("1 of 1 needed")]},
]


async def talk(server: WorkspaceServer, client: AsyncWebClient) -> str:
    """Fill #support with everything that the page draws; return the ts of a thread."""
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "I want a *refund*, @Omar Haddad :truck:")
    await server.workspace.react("U0OMAR", "C0SUPPORT", ts, "eyes")
    await server.workspace.post("U0OMAR", "C0SUPPORT", "> quote\nand\n```code```", ts)
    await client.chat_postMessage(channel="C0SUPPORT", text="card", blocks=BLOCKS)
    await client.chat_postEphemeral(channel="C0SUPPORT", user="U0EMMA", text="only you")
    await server.workspace.upload("U0EMMA", "C0SUPPORT", "form.pdf", b"%PDF", text="the form")
    await client.api_call(
        "agents.sessions.setStatus", json={"channel_id": "C0SUPPORT", "thread_ts": ts, "status": "processing"}
    )
    return ts


async def found(page: Page) -> str:
    """What axe-core holds against what is shown now."""
    results = await Axe().run(page)
    return str(results.generate_report()) if results.violations_count else ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
async def test_axe_finds_nothing_that_keeps_people_out(
    seats: Seats, server: WorkspaceServer, scheme: str, width: int
) -> None:
    ts = await talk(server, bot_client(server))
    page = await seats.window(width=width, scheme="dark" if scheme == "dark" else "light")
    await seats.visit(page, "U0EMMA", "C0SUPPORT")
    await expect(page.get_by_role("heading", name="Refund of €79.90")).to_be_visible()
    room = await found(page)
    await seats.visit(page, "U0EMMA", "C0SUPPORT", ts)
    await expect(page.get_by_test_id("thread-pane")).to_contain_text("Hermes is working")
    thread = await found(page)
    await page.get_by_test_id("thread-composer").press("Control+k")
    await expect(page.get_by_test_id("switcher")).to_be_visible()
    switcher = await found(page)
    await page.keyboard.press("Escape")
    await page.get_by_test_id("thread-pane").get_by_role("button", name="Emoji").click()
    await expect(page.get_by_test_id("emoji-picker")).to_be_visible()
    picker = await found(page)

    assert (room, thread, switcher, picker) == ("", "", "", "")


async def test_the_keyboard_alone_reaches_a_conversation_a_message_and_its_thread(
    seats: Seats, server: WorkspaceServer
) -> None:
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "first")
    await server.workspace.post("U0EMMA", "C0SUPPORT", "second")
    seat = await seats.take("U0EMMA", "C0GENERAL")
    press = seat.page.keyboard.press
    await press("Control+k")
    await seat.page.get_by_test_id("switcher").get_by_role("combobox").press_sequentially("supp")
    await press("Enter")
    await expect(seat.page.get_by_role("heading", level=1)).to_have_text("support")
    await expect(seat.composer).to_be_focused()
    await press("Shift+Tab")
    await seat.page.get_by_role("region", name="Messages").focus()
    await press("ArrowUp")
    await press("ArrowUp")
    await expect(seat.message(ts)).to_be_focused()
    await press("e")
    await expect(seat.page.get_by_test_id("editor")).to_be_focused()
    await press("Escape")
    await seat.message(ts).focus()
    await press("t")
    await expect(seat.thread).to_contain_text("first")
    await expect(seat.page.get_by_test_id("thread-composer")).to_be_focused()
    await seat.page.keyboard.type("a reply")
    await press("Enter")
    await expect(seat.thread).to_contain_text("a reply")
    await press("Escape")
    await expect(seat.thread).to_have_count(0)
    await press("Alt+ArrowDown")

    await expect(seat.page.get_by_role("heading", level=1)).to_have_text("general")


async def test_the_list_of_keys_opens_with_a_key_and_gives_the_focus_back(seats: Seats) -> None:
    seat = await seats.take("U0EMMA", "C0SUPPORT")
    await seat.composer.press("Control+/")
    await expect(seat.page.get_by_test_id("keys")).to_contain_text("Jump to a conversation")
    await seat.page.keyboard.press("Escape")

    await expect(seat.page.get_by_test_id("keys")).to_have_count(0)
    await expect(seat.composer).to_be_focused()


async def test_a_guest_of_another_company_is_marked_and_sees_the_shared_channel_alone(
    seats: Seats, server: WorkspaceServer
) -> None:
    marta, omar = await seats.take("U0MARTA", "C0CASAAZUL"), await seats.take("U0OMAR", "C0CASAAZUL")
    await expect(marta.person("U0MARTA")).to_contain_text("Casa Azul")
    await expect(marta.page.get_by_test_id("sidebar").locator('[data-testid^="channel-C"]')).to_have_text(["casa-azul"])
    await marta.say("Do you have the blue bowls again?")

    said = omar.page.get_by_role("main").locator(".message", has_text="blue bowls")
    await expect(said).to_contain_text("guest · Casa Azul")
    await expect(omar.page.get_by_role("main")).to_contain_text("shared")
    assert server.workspace.messages("C0CASAAZUL")[0]["user_team"] == "T0CASAAZUL"


async def test_in_chinese_no_english_word_of_the_page_itself_is_left(seats: Seats, server: WorkspaceServer) -> None:
    ts = await server.workspace.post("U0LINA", "C0SUPPORT", "你好")
    page = await seats.window(locale="zh-CN")
    await seats.visit(page, "U0LINA", "C0SUPPORT")
    seat = Seat(page)
    await seat.message(ts).hover()
    await page.get_by_test_id(f"tools-{ts}").click()
    await expect(page.get_by_role("menuitem")).to_have_text(["编辑消息", "复制链接", "删除消息"])
    await page.keyboard.press("Escape")
    labels = await page.locator("main [aria-label], main [title], main [placeholder]").evaluate_all(
        "all => all.flatMap(one => ['aria-label', 'title', 'placeholder'].map(name => one.getAttribute(name) ?? ''))"
    )
    allowed = {"", "发消息到 #support"}
    english = [label for label in labels if label not in allowed and label.isascii() and not label.startswith(":")]

    assert english == []
    assert await page.evaluate("document.documentElement.lang") == "zh"


@pytest.mark.parametrize("width", [390, 320])
async def test_a_card_with_every_field_fits_a_narrow_screen(seats: Seats, server: WorkspaceServer, width: int) -> None:
    await talk(server, bot_client(server))
    seat = await seats.take("U0EMMA", "C0SUPPORT", width=width)
    await expect(seat.page.get_by_role("heading", name="Refund of €79.90")).to_be_visible()

    outside = await seat.page.evaluate(
        """() => [...document.querySelectorAll("main .message *")].filter((one) => {
            const box = one.getBoundingClientRect();
            return box.width && box.right > innerWidth + 1 && !one.closest(".table-frame, pre, .unseen, .tools");
        }).map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert outside == []


async def test_what_is_typed_is_offered_channels_and_emoji_and_marked_with_keys(
    seats: Seats, server: WorkspaceServer
) -> None:
    seat = await seats.take("U0EMMA", "C0SUPPORT")
    await seat.composer.press_sequentially("see #gen")
    await expect(seat.page.get_by_role("option")).to_have_text(["general channel"])
    await seat.composer.press("Enter")
    await seat.composer.press_sequentially(":rocke")
    await expect(seat.page.get_by_role("option").first).to_contain_text(":rocket:")
    await seat.composer.press("Tab")
    await seat.composer.press("Control+b")
    await seat.composer.press_sequentially("now")
    await expect(seat.composer).to_have_value("see #general 🚀 *now*")
    await seat.composer.press("Enter")

    await expect(seat.page.get_by_role("main").locator(".message strong")).to_have_text("now")
    assert server.workspace.messages("C0SUPPORT")[0]["text"] == "see <#C0GENERAL|general> :rocket: *now*"


async def test_the_members_of_a_channel_are_a_press_away(seats: Seats) -> None:
    seat = await seats.take("U0OMAR", "C0CASAAZUL")
    await seat.page.get_by_role("button", name="5 members").click()
    people = seat.page.get_by_role("dialog", name="Members")

    await expect(people).to_contain_text("Marta Silva")
    await expect(people).to_contain_text("guest · Casa Azul")
    await seat.page.keyboard.press("Escape")
    await expect(seat.page.get_by_role("button", name="5 members")).to_be_focused()
