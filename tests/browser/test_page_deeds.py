"""The page of the local workspace: what a person does beside writing, from an edit to a shortcut."""

import pytest
from playwright.async_api import Browser, FilePayload, expect
from slack_bolt.async_app import AsyncAck

from hermes_bot.workspace.people import App, Shortcut, demo_world
from hermes_bot.workspace.server import WorkspaceServer
from tests.browser.kit import Json
from tests.browser.seat import Seats
from tests.workspace.bot import running

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63506848000001c40101"
    "c79954ad0000000049454e44ae426082"
)


async def test_a_person_changes_what_they_said_last_with_the_keyboard(seats: Seats, server: WorkspaceServer) -> None:
    emma, omar = await seats.take("U0EMMA", "C0SUPPORT"), await seats.take("U0OMAR", "C0SUPPORT")
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "@Omar Haddad my <parcel> & I")
    await expect(emma.message(ts)).to_be_visible()
    await emma.composer.press("ArrowUp")
    editor = emma.page.get_by_test_id("editor")
    await expect(editor).to_have_value("@Omar Haddad my <parcel> & I")
    await editor.fill("@Omar Haddad my <box> & I")
    await editor.press("Enter")

    await expect(editor).to_have_count(0)
    await expect(omar.message(ts)).to_contain_text("@Omar Haddad my <box> & I(edited)")
    assert server.workspace.messages("C0SUPPORT")[0]["text"] == "<@U0OMAR> my &lt;box&gt; &amp; I"


async def test_a_message_is_deleted_after_a_question_and_only_by_its_author(
    seats: Seats, server: WorkspaceServer
) -> None:
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "never mind")
    await server.workspace.post("U0OMAR", "C0SUPPORT", "what?", ts)
    emma, omar = await seats.take("U0EMMA", "C0SUPPORT"), await seats.take("U0OMAR", "C0SUPPORT")
    await omar.message(ts).hover()
    await omar.page.get_by_test_id(f"tools-{ts}").click()
    await expect(omar.page.get_by_role("menuitem")).to_have_text(["Copy link"])
    await omar.page.keyboard.press("Escape")
    await emma.message(ts).hover()
    await emma.page.get_by_test_id(f"tools-{ts}").click()
    await emma.page.get_by_role("menuitem", name="Delete message").click()
    await emma.page.get_by_test_id("confirm").get_by_role("button", name="Delete message").click()

    await expect(omar.message(ts)).to_contain_text("This message was deleted.")
    await expect(omar.message(ts)).to_contain_text("1 reply")


async def test_a_reaction_is_found_by_its_name_and_taken_back(seats: Seats, server: WorkspaceServer) -> None:
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
    omar = await seats.take("U0OMAR", "C0SUPPORT")
    await omar.message(ts).hover()
    await omar.message(ts).get_by_role("button", name="Add a reaction").click()
    search = omar.page.get_by_test_id("emoji-picker").get_by_role("searchbox")
    await expect(search).to_be_focused()
    await search.fill("火箭")
    await search.press("Enter")
    reaction = omar.message(ts).get_by_role("button", name="🚀 1")
    await expect(reaction).to_have_attribute("aria-pressed", "true")
    assert server.workspace.messages("C0SUPPORT")[0]["reactions"] == [
        {"name": "rocket", "users": ["U0OMAR"], "count": 1}
    ]
    await reaction.click()

    await expect(reaction).to_have_count(0)


async def test_files_go_out_with_the_words_and_pictures_are_shown(seats: Seats, server: WorkspaceServer) -> None:
    emma, omar = await seats.take("U0EMMA", "C0SUPPORT"), await seats.take("U0OMAR", "C0SUPPORT")
    picture = FilePayload(name="plate.png", mimeType="image/png", buffer=PIXEL)
    form = FilePayload(name="form.pdf", mimeType="application/pdf", buffer=b"%PDF" * 1000)
    await emma.page.get_by_test_id("file").set_input_files([picture, form])
    await expect(emma.page.get_by_role("list", name="Files to be sent").locator("li")).to_have_count(2)
    await emma.say("It is broken")

    shown = omar.page.get_by_role("main").get_by_role("img", name="plate.png")
    await expect(shown).to_be_visible()
    await expect(shown).to_have_js_property("naturalWidth", 1)
    await expect(omar.page.get_by_role("main").get_by_role("link", name="form.pdf")).to_contain_text("4 kB")
    await expect(emma.page.get_by_role("list", name="Files to be sent")).to_have_count(0)
    first, second = server.workspace.messages("C0SUPPORT")
    assert (first["text"], first["files"][0]["name"]) == ("It is broken", "plate.png")
    assert (second["text"], second["files"][0]["size"]) == ("", 4000)


async def test_a_link_to_a_message_is_copied_and_leads_back_to_it(seats: Seats, server: WorkspaceServer) -> None:
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "the first")
    for number in range(40):
        await server.workspace.post("U0EMMA", "C0SUPPORT", f"line {number}")
    seat = await seats.take("U0OMAR", "C0SUPPORT")
    await seat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await seat.message(ts).scroll_into_view_if_needed()
    await seat.message(ts).hover()
    await seat.page.get_by_test_id(f"tools-{ts}").click()
    await seat.page.get_by_role("menuitem", name="Copy link").click()
    await expect(seat.page.get_by_test_id("notice")).to_have_text("The link to the message was copied.")
    await seat.page.goto(await seat.page.evaluate("navigator.clipboard.readText()"))

    await expect(seat.message(ts)).to_be_in_viewport()
    await expect(seat.message(ts)).to_have_class("message target")


async def test_a_reply_can_be_shown_in_the_channel_as_well(seats: Seats, server: WorkspaceServer) -> None:
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
    seat = await seats.take("U0OMAR", "C0SUPPORT", ts)
    await seat.thread.get_by_label("Also send to #support").check()
    await seat.reply("for all of you")

    copy = seat.page.get_by_role("main").locator(".message", has_text="for all of you")
    await expect(copy).to_contain_text("replied in a thread")
    await expect(seat.thread.locator(".message", has_text="for all of you")).to_be_visible()


async def test_a_command_is_offered_and_sent_and_a_shortcut_names_its_message(browser: Browser) -> None:
    shortcuts = (
        Shortcut(callback_id="make", name="Make a ticket"),
        Shortcut(callback_id="new", name="New", of_message=False),
    )
    app = App(commands=("/hermes",), shortcuts=shortcuts)
    pressed: list[Json] = []

    async def keep(ack: AsyncAck, body: Json) -> None:
        pressed.append(body)
        await ack("Noted." if "command" in body else "")

    async with WorkspaceServer(world=demo_world(app)) as server, running(server) as bot:
        bot.app.command("/hermes")(keep)
        bot.app.shortcut("make")(keep)
        ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        seats = Seats(browser, server.url, lambda page: None)
        seat = await seats.take("U0EMMA", "C0SUPPORT")
        await seat.composer.press_sequentially("/her")
        await seat.composer.press("Enter")
        await expect(seat.composer).to_have_value("/hermes ")
        await seat.composer.press_sequentially("status now")
        await seat.composer.press("Enter")
        await expect(seat.page.locator(".message.ephemeral")).to_contain_text("Noted.")
        await seat.message(ts).hover()
        await seat.page.get_by_test_id(f"tools-{ts}").click()
        await seat.page.get_by_role("menuitem", name="Make a ticket").click()
        await server.workspace.wait_for(lambda: len(pressed) == 2)
        await seats.close()

    assert (pressed[0]["command"], pressed[0]["text"]) == ("/hermes", "status now")
    assert (pressed[1]["callback_id"], pressed[1]["message"]["text"]) == ("make", "hello")


async def test_emoji_stand_in_their_skin_tone_and_are_typed_again_as_characters(
    seats: Seats, server: WorkspaceServer
) -> None:
    ts = await server.workspace.post("U0OMAR", "C0SUPPORT", "well done 👍🏽 `:tada:`")
    seat = await seats.take("U0OMAR", "C0SUPPORT")
    await expect(seat.message(ts)).to_contain_text("well done 👍🏽 :tada:")

    await seat.message(ts).focus()
    await seat.message(ts).press("e")
    await expect(seat.page.get_by_test_id("editor")).to_have_value("well done 👍🏽 `:tada:`")
    await seat.page.get_by_test_id("editor").fill("well done 👍🏽🎉")
    await seat.page.get_by_test_id("editor").press("Enter")

    await expect(seat.message(ts)).to_contain_text("well done 👍🏽🎉(edited)")
    assert server.workspace.messages("C0SUPPORT")[0]["text"] == "well done :+1::skin-tone-4::tada:"


async def test_a_channel_says_what_it_is_for_in_the_pages_language(seats: Seats) -> None:
    seat = await seats.take("U0LINA", "C0SUPPORT", locale="zh-CN")

    await expect(seat.page.get_by_role("main")).to_contain_text("关于订单的问题")


async def test_a_deleted_message_with_replies_names_nobody(seats: Seats, server: WorkspaceServer) -> None:
    ts = await server.workspace.post("U0LINA", "C0SUPPORT", "never mind")
    await server.workspace.post("U0OMAR", "C0SUPPORT", "a reply", ts)
    await server.workspace.delete("U0LINA", "C0SUPPORT", ts)
    seat = await seats.take("U0OMAR", "C0SUPPORT")

    await expect(seat.message(ts)).to_contain_text("This message was deleted.")
    await expect(seat.message(ts).locator(".author")).to_have_count(0)
