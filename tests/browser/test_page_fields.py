"""The page of the local workspace: fields in messages, each choice with what stands in all the others."""

import pytest
from playwright.async_api import Locator, expect
from slack_bolt.async_app import AsyncAck

from hermes_bot.workspace.server import WorkspaceServer
from tests.browser.kit import Json, button, mrkdwn, words
from tests.browser.seat import Seat, Seats
from tests.workspace.bot import Bot, running

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


def options(*names: str) -> list[Json]:
    return [{"text": words(name), "value": name.lower()} for name in names]


def section(text: str, action_id: str, kind: str, **element: object) -> Json:
    accessory = {"type": kind, "action_id": action_id, **element}
    return {"type": "section", "block_id": action_id, "text": mrkdwn(text), "accessory": accessory}


FORM: list[Json] = [
    section("*How shall we send it?*", "way", "static_select", options=options("Standard", "Express")),
    section("*Labels*", "labels", "multi_static_select", options=options("Fragile", "Gift", "Heavy")),
    section("*What is wrong?*", "wrong", "checkboxes", options=options("Damaged", "Late")),
    section("*What now?*", "now", "radio_buttons", options=options("Refund", "Replace")),
    section("*More*", "more", "overflow", options=options("Show the order", "Copy its number")),
    section("*When?*", "day", "datepicker", initial_date="2026-03-01"),
    section("*Who?*", "who", "users_select"),
    {
        "type": "input",
        "block_id": "note",
        "dispatch_action": True,
        "label": words("Note"),
        "element": {"type": "plain_text_input", "action_id": "note"},
    },
]


def heard(bot: Bot) -> list[Json]:
    """The clicks that the app was told, from now on."""
    clicks: list[Json] = []

    async def keep(ack: AsyncAck, body: Json) -> None:
        clicks.append(body)
        await ack()

    for name in ("way", "labels", "wrong", "now", "more", "day", "who", "note", "rate", "throw", "go"):
        bot.app.action(name)(keep)
    return clicks


async def told_of(server: WorkspaceServer, clicks: list[Json], number: int) -> None:
    """Wait until the app was told of so many clicks: people are slower than a test, and so is a busy machine."""
    await server.workspace.wait_for(lambda: len(clicks) >= number)


async def chosen(seat: Seat, card: Locator, server: WorkspaceServer, clicks: list[Json]) -> None:
    """Use each control of the form, one after the other."""
    await card.get_by_label("How shall we send it?").select_option("Express")
    await told_of(server, clicks, 1)
    await card.get_by_label("Labels").click()
    await seat.page.get_by_role("dialog").get_by_label("Fragile").check()
    await seat.page.get_by_role("dialog").get_by_label("Heavy").check()
    await seat.page.keyboard.press("Escape")
    await told_of(server, clicks, 2)
    await card.get_by_label("Late").check()
    await told_of(server, clicks, 3)
    await card.get_by_label("Replace").check()
    await told_of(server, clicks, 4)
    await card.get_by_role("button", name="More", exact=True).click()
    await seat.page.get_by_role("menuitem", name="Copy its number").click()
    await told_of(server, clicks, 5)
    await card.get_by_label("When?").fill("2026-12-24")
    await told_of(server, clicks, 6)
    await card.get_by_label("Who?").select_option("Omar Haddad")
    await told_of(server, clicks, 7)
    await card.get_by_label("Note").fill("at noon")
    await card.get_by_label("Note").press("Enter")
    await told_of(server, clicks, 8)


async def test_every_choice_in_a_message_reaches_the_app_as_slack_sends_it(
    seats: Seats, server: WorkspaceServer
) -> None:
    async with running(server) as bot:
        clicks = heard(bot)
        posted = await bot.client.chat_postMessage(channel="C0SUPPORT", text="x", blocks=FORM)
        seat = await seats.take("U0EMMA", "C0SUPPORT")
        card = seat.message(posted["ts"])
        await chosen(seat, card, server, clicks)

    told = [{**click["actions"][0], "action_ts": ""} for click in clicks]
    assert [one["action_id"] for one in told] == ["way", "labels", "wrong", "now", "more", "day", "who", "note"]
    assert told[0]["selected_option"]["value"] == "express"
    assert [one["value"] for one in told[1]["selected_options"]] == ["fragile", "heavy"]
    assert [one["value"] for one in told[2]["selected_options"]] == ["late"]
    assert told[3]["selected_option"]["value"] == "replace"
    assert told[4]["selected_option"]["value"] == "copy its number"
    assert (told[5]["selected_date"], told[6]["selected_user"], told[7]["value"]) == (
        "2026-12-24",
        "U0OMAR",
        "at noon",
    )
    state = clicks[-1]["state"]["values"]
    assert state["way"]["way"]["selected_option"]["value"] == "express"
    assert state["note"]["note"]["value"] == "at noon"


async def test_a_choice_that_asks_first_stands_again_as_it_was_after_a_no(
    seats: Seats, server: WorkspaceServer
) -> None:
    confirm = {"title": words("Sure?"), "text": words("It goes out now"), "confirm": words("Yes"), "deny": words("No")}
    block = section("*Way*", "way", "static_select", options=options("Standard", "Express"), confirm=confirm)
    async with running(server) as bot:
        clicks = heard(bot)
        posted = await bot.client.chat_postMessage(channel="C0SUPPORT", text="x", blocks=[block])
        seat = await seats.take("U0EMMA", "C0SUPPORT")
        field = seat.message(posted["ts"]).get_by_label("Way")
        await field.select_option("Express")
        await seat.page.get_by_test_id("confirm").get_by_role("button", name="No").click()
        await expect(field).to_have_value("")
        await field.select_option("Standard")
        await seat.page.get_by_test_id("confirm").get_by_role("button", name="Yes").click()
        await server.workspace.wait_for(lambda: clicks)

    assert [one["actions"][0]["selected_option"]["value"] for one in clicks] == ["standard"]


async def test_an_answer_can_be_judged_with_a_thumb_that_stays_pressed(seats: Seats, server: WorkspaceServer) -> None:
    rate = {
        "type": "feedback_buttons",
        "action_id": "rate",
        "positive_button": {"text": words("Helpful"), "value": "up"},
        "negative_button": {"text": words("Wrong"), "value": "down"},
    }
    throw = {"type": "icon_button", "action_id": "throw", "icon": "trash", "text": words("Throw away"), "value": "t"}
    blocks: list[Json] = [{"type": "markdown", "text": "Done."}, {"type": "context_actions", "elements": [rate, throw]}]
    async with running(server) as bot:
        clicks = heard(bot)
        posted = await bot.client.chat_postMessage(channel="C0SUPPORT", text="Done.", blocks=blocks)
        seat = await seats.take("U0EMMA", "C0SUPPORT")
        answer = seat.message(posted["ts"])
        await answer.get_by_role("button", name="Wrong").click()
        await expect(answer.get_by_role("button", name="Wrong")).to_have_attribute("aria-pressed", "true")
        await answer.get_by_role("button", name="Throw away").click()
        await server.workspace.wait_for(lambda: len(clicks) == 2)

    assert clicks[0]["actions"][0]["value"] == "down"
    assert clicks[1]["actions"][0]["action_id"] == "throw"


MARKDOWN = """# Order 10002
It is **on its way**, <@U0OMAR> knows :truck:. <script>alert(1)</script> [bad](javascript:alert(1)) [good](https://example.com)

| Item | Price |
|---|--:|
| Kettle | 79.90 |

- [x] paid
- [ ] delivered
"""


async def test_markdown_and_tables_are_drawn_and_html_in_them_stays_text(seats: Seats, server: WorkspaceServer) -> None:
    cells = [[{"type": "raw_text", "text": text} for text in row] for row in (("Order", "State"), ("10002", "<b>sent"))]
    blocks: list[Json] = [{"type": "markdown", "text": MARKDOWN}, {"type": "table", "rows": cells}]
    async with running(server) as bot:
        posted = await bot.client.chat_postMessage(channel="C0SUPPORT", text="x", blocks=blocks)
    seat = await seats.take("U0EMMA", "C0SUPPORT")
    message = seat.message(posted["ts"])

    await expect(message.get_by_role("heading", name="Order 10002")).to_be_visible()
    await expect(message.locator("strong")).to_have_text("on its way")
    await expect(message.locator(".mention")).to_have_text("@Omar Haddad")
    await expect(message).to_contain_text("🚚")
    await expect(message).to_contain_text("<script>alert(1)</script>")
    await expect(message.get_by_role("link")).to_have_text(["good"])
    await expect(message.get_by_role("columnheader")).to_have_text(["Item", "Price", "Order", "State"])
    await expect(message.get_by_role("cell")).to_have_text(["Kettle", "79.90", "10002", "<b>sent"])
    await expect(message.get_by_role("checkbox", name="Done")).to_be_checked()


async def test_a_picture_from_elsewhere_is_named_and_not_asked_for(seats: Seats, server: WorkspaceServer) -> None:
    picture = {
        "type": "image",
        "image_url": "https://example.com/a.png",
        "alt_text": "a dent",
        "title": words("Parcel"),
    }
    async with running(server) as bot:
        posted = await bot.client.chat_postMessage(
            channel="C0SUPPORT", text="x", blocks=[picture, {"type": "actions", "elements": [button("Go")]}]
        )
    seat = await seats.take("U0EMMA", "C0SUPPORT")
    message = seat.message(posted["ts"])

    await expect(message.get_by_role("link", name="Parcel")).to_have_attribute("href", "https://example.com/a.png")
    await expect(message.get_by_role("img")).to_have_count(0)


async def test_cards_and_containers_are_drawn_with_what_stands_in_them(seats: Seats, server: WorkspaceServer) -> None:
    card = {"type": "card", "title": words("Kettle"), "body": words("One litre"), "actions": [button("Go")]}
    inside = {"type": "section", "text": mrkdwn("folded away")}
    blocks: list[Json] = [
        {"type": "carousel", "elements": [card]},
        {
            "type": "container",
            "title": words("Details"),
            "is_collapsible": True,
            "default_collapsed": True,
            "child_blocks": [inside],
        },
    ]
    async with running(server) as bot:
        clicks = heard(bot)
        posted = await bot.client.chat_postMessage(channel="C0SUPPORT", text="x", blocks=blocks)
        seat = await seats.take("U0EMMA", "C0SUPPORT")
        message = seat.message(posted["ts"])
        await expect(message.get_by_role("article")).to_contain_text("Kettle")
        await expect(message.get_by_text("folded away")).to_be_hidden()
        await message.get_by_text("Details").click()
        await expect(message.get_by_text("folded away")).to_be_visible()
        await message.get_by_role("button", name="Go").click()
        await server.workspace.wait_for(lambda: clicks)

    assert clicks[0]["actions"][0]["action_id"] == "go"


async def test_a_select_asks_the_app_for_its_choices(seats: Seats, server: WorkspaceServer) -> None:
    asked: list[str] = []

    async def offer(ack: AsyncAck, body: Json) -> None:
        asked.append(body["value"])
        await ack(options=[option for option in options("Kettle", "Kelim", "Plate") if option["value"][:2] == "ke"])

    block = section("*Item*", "way", "external_select", min_query_length=2, placeholder=words("Which one?"))
    async with running(server) as bot:
        clicks = heard(bot)
        bot.app.options("way")(offer)
        posted = await bot.client.chat_postMessage(channel="C0SUPPORT", text="x", blocks=[block])
        seat = await seats.take("U0EMMA", "C0SUPPORT")
        await seat.message(posted["ts"]).get_by_role("button", name="Which one?").click()
        panel = seat.page.get_by_role("dialog")
        await panel.get_by_role("searchbox").fill("ke")
        await expect(panel.get_by_role("button")).to_have_text(["Kettle", "Kelim"])
        await panel.get_by_role("button", name="Kelim").click()
        await server.workspace.wait_for(lambda: clicks)

    assert asked == ["ke"]
    assert clicks[0]["actions"][0]["selected_option"]["value"] == "kelim"
    await expect(seat.message(posted["ts"])).to_contain_text("Kelim")
