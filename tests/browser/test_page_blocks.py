"""The page of the local workspace: what a real bolt app posts, what its buttons send, and hostile text."""

import asyncio

import pytest
from playwright.async_api import expect
from slack_bolt.async_app import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.posts import Post
from hermes_bot.workspace.server import WorkspaceServer
from tests.browser.kit import Json, button, mrkdwn, words
from tests.browser.seat import Seats
from tests.workspace.bot import bot_client, running

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


def card(*buttons: Json) -> list[Json]:
    return [
        {"type": "header", "text": words("Refund of €79.90")},
        {"type": "section", "text": mrkdwn("*Emma* asks for it"), "accessory": button("Details")},
        {"type": "section", "fields": [mrkdwn("*Order*\n10002"), mrkdwn("*State*\ndelivered")]},
        {"type": "divider"},
        {"type": "image", "image_url": "https://example.com/kettle.png", "alt_text": "a leaking kettle"},
        {"type": "actions", "elements": list(buttons)},
        {"type": "context", "elements": [mrkdwn("1 of 1 needed")]},
    ]


async def test_a_click_on_a_card_reaches_the_app_and_the_redrawn_card_is_shown(
    seats: Seats, server: WorkspaceServer
) -> None:
    clicks: list[Json] = []

    async def approve(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
        await ack()
        clicks.append(body)
        done = [{"type": "section", "text": mrkdwn(f":white_check_mark: Approved by <@{body['user']['id']}>")}]
        await client.chat_update(channel="C0SUPPORT", ts=body["message"]["ts"], text="Approved", blocks=done)

    async with running(server) as bot:
        bot.app.action("approve")(approve)
        blocks = card(button("Approve", style="primary"), button("Reject", style="danger"))
        posted = await bot.client.chat_postMessage(channel="C0SUPPORT", text="A refund", blocks=blocks)
        seat = await seats.take("U0OMAR", "C0SUPPORT")
        message = seat.message(posted["ts"])
        await expect(message.get_by_role("heading")).to_have_text("Refund of €79.90")
        await expect(message.locator(".field")).to_have_text(["Order 10002", "State delivered"])
        await expect(message.get_by_role("link", name="a leaking kettle")).to_be_visible()
        await expect(message.get_by_role("button", name="Reject")).to_have_class("button danger")
        await message.get_by_role("button", name="Approve").click()
        await expect(message).to_contain_text("✅ Approved by @Omar Haddad")
        await expect(message.get_by_role("button", name="Approve")).to_have_count(0)

    assert [click["user"]["id"] for click in clicks] == ["U0OMAR"]
    assert clicks[0]["actions"][0]["value"] == "A-1"


async def test_a_button_that_asks_first_acts_only_after_a_yes(seats: Seats, server: WorkspaceServer) -> None:
    clicked = asyncio.Event()

    async def reject(ack: AsyncAck) -> None:
        await ack()
        clicked.set()

    confirm = {"title": words("Sure?"), "text": mrkdwn("She is told"), "confirm": words("Do it"), "deny": words("Wait")}
    async with running(server) as bot:
        bot.app.action("reject")(reject)
        await bot.client.chat_postMessage(channel="C0SUPPORT", text="x", blocks=card(button("Reject", confirm=confirm)))
        seat = await seats.take("U0OMAR", "C0SUPPORT")
        await seat.page.get_by_role("button", name="Reject").click()
        await expect(seat.page.get_by_role("dialog", name="Sure?")).to_be_visible()
        await seat.page.get_by_role("button", name="Wait").click()
        await expect(seat.page.get_by_role("dialog")).to_have_count(0)
        assert not clicked.is_set()
        await seat.page.get_by_role("button", name="Reject").click()
        await seat.page.get_by_role("button", name="Do it").click()
        async with asyncio.timeout(60):
            await clicked.wait()

        await expect(seat.page.get_by_role("dialog")).to_have_count(0)


async def test_a_click_that_nobody_hears_is_reported_beside_the_button(seats: Seats, server: WorkspaceServer) -> None:
    await bot_client(server).chat_postMessage(channel="C0SUPPORT", text="x", blocks=card(button("Approve")))
    seat = await seats.take("U0OMAR", "C0SUPPORT")

    await seat.page.get_by_role("button", name="Approve").click()

    await expect(seat.page.get_by_role("alert")).to_have_text("That did not work: no app is connected.")


async def test_an_ephemeral_message_is_marked_and_others_do_not_see_it(seats: Seats, server: WorkspaceServer) -> None:
    emma = await seats.take("U0EMMA", "C0SUPPORT")
    lina = await seats.take("U0LINA", "C0SUPPORT")
    client = bot_client(server)

    await client.chat_postEphemeral(channel="C0SUPPORT", user="U0EMMA", text="Your orders: 10002")
    await client.chat_postMessage(channel="C0SUPPORT", text="For everybody")

    whisper = emma.page.locator(".message.ephemeral")
    await expect(whisper).to_contain_text("Only visible to you")
    await expect(whisper).to_contain_text("Your orders: 10002")
    await expect(lina.page.get_by_role("main")).to_contain_text("For everybody")
    await expect(lina.page.get_by_role("main")).not_to_contain_text("Your orders")
    await emma.page.reload()
    await expect(whisper).to_contain_text("Your orders: 10002")


HOSTILE = [
    "<img src=x onerror=\"document.title='run'\">",
    "<script>document.title='run'</script>",
    "<javascript:document.title='run'|click me>",
    '<https://example.com/"onmouseover="document.title=1|"><b>label</b>>',
    "```<svg onload=\"document.title='run'\">``` `<i>code</i>`",
]


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_text_is_shown_as_text_and_does_not_run(seats: Seats, server: WorkspaceServer, text: str) -> None:
    client = bot_client(server)
    blocks: list[Json] = [
        {
            "type": "section",
            "text": mrkdwn(text),
            "fields": [words(text)],
            "accessory": button("A", text=words(text[:70])),
        },
        {"type": "context", "elements": [mrkdwn(text), words(text)]},
    ]
    await client.chat_postMessage(channel="C0SUPPORT", text=text)
    await client.chat_postMessage(channel="C0SUPPORT", text=text, blocks=blocks)
    seat = await seats.take("U0EMMA", "C0SUPPORT")

    await seat.say(text)

    messages = seat.page.get_by_role("main").locator(".message")
    await expect(messages).to_have_count(3)
    await expect(messages.locator("img, script, svg:not(.icon):not(.wing), .body b, .body i")).to_have_count(0)
    await expect(messages.locator("[onerror], [onload], [onmouseover], a[href^=javascript]")).to_have_count(0)
    await expect(messages.nth(2).locator(".body")).to_contain_text(text.replace("`", "").split("|")[0][:20])
    await expect(seat.page).to_have_title("#support · Hermes workspace")


MARKS = [
    ("*bold* and 2*3*4", "strong", "bold"),
    ("_slanted_ but snake_case_name", "em", "slanted"),
    ("~gone~", "s", "gone"),
    ("*both _at once_*", "strong em", "at once"),
    ("`a *b* c`", "code", "a *b* c"),
    ("```\nline one\n*line two*\n```", "pre", "line one\n*line two*"),
    ("&gt; quoted &amp; kept\nplain", "blockquote", "quoted & kept"),
    ("<https://example.com/a?b=1&amp;c=2|the order>", 'a[href="https://example.com/a?b=1&c=2"]', "the order"),
    ("<mailto:help@example.com|help@example.com>", 'a[href="mailto:help@example.com"]', "help@example.com"),
    ("<@U0LINA>", ".mention", "@李娜 (Li Na)"),
    ("<@U0EMMA>", ".mention.to-me", "@Emma Fischer"),
    ("<#C0GENERAL|general>", "button.mention", "#general"),
    ("<!subteam^S0OPERATORS>", ".mention", "@operators"),
    ("<!here> look", ".mention.to-me", "@here"),
    ("<!date^1392734382^{date_num}|18 Feb>", "time", "18/02/2014"),
    (":tada: :unknown_one:", "p", "🎉 :unknown_one:"),
]


async def test_mrkdwn_is_drawn_as_slack_draws_it(seats: Seats, server: WorkspaceServer) -> None:
    client = bot_client(server)
    posted = [await client.chat_postMessage(channel="C0SUPPORT", text=text) for text, _, _ in MARKS]

    seat = await seats.take("U0EMMA", "C0SUPPORT")

    for answer, (_, selector, shown) in zip(posted, MARKS, strict=True):
        await expect(seat.message(answer["ts"]).locator(f".rich {selector}")).to_have_text(shown)


async def test_a_text_full_of_open_marks_is_parsed_in_no_time(seats: Seats) -> None:
    seat = await seats.take("U0EMMA", "C0SUPPORT")

    spent_ms = await seat.page.evaluate(
        """async () => {
            const { parse } = await import("/page/js/mrkdwn.js");
            const start = performance.now();
            parse("*a _b ~c `d <e ".repeat(6000));
            return performance.now() - start;
        }"""
    )

    assert spent_ms < 2000


async def test_what_the_page_cannot_draw_is_named(seats: Seats, server: WorkspaceServer) -> None:
    workspace = server.workspace
    ts = workspace.posts.next_ts()
    unknown: Json = {"type": "hologram", "block_id": "b"}
    workspace.conversations.post(Post(channel="C0SUPPORT", ts=ts, user="U0HERMES", bot=True, blocks=(unknown,)))

    seat = await seats.take("U0EMMA", "C0SUPPORT")

    await expect(seat.message(ts)).to_contain_text("This page does not draw “hologram”.")


async def test_a_word_to_one_person_in_a_thread_can_be_found(seats: Seats, server: WorkspaceServer) -> None:
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "Where is my order?")
    seat = await seats.take("U0EMMA", "C0SUPPORT")

    await bot_client(server).chat_postEphemeral(
        channel="C0SUPPORT", user="U0EMMA", thread_ts=ts, text="Which one?", blocks=card(button("10002"))
    )
    await seat.page.get_by_test_id(f"thread-link-{ts}").click()

    await expect(seat.thread.get_by_role("button", name="10002")).to_be_visible()
    await expect(seat.thread).to_contain_text("Only visible to you")
