"""The page of the local workspace: an agent at work (stream, status, Stop, prompts), and its home."""

import pytest
from playwright.async_api import expect
from slack_bolt.async_app import AsyncAck

from hermes_bot.workspace.server import WorkspaceServer
from tests.browser.kit import Json, button, mrkdwn, words
from tests.browser.seat import Seats
from tests.workspace.bot import Bot, running

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
TO_EMMA = {"recipient_user_id": "U0EMMA", "recipient_team_id": "T0HERMES"}


async def status(bot: Bot, channel: str, ts: str, name: str) -> None:
    body = {"channel_id": channel, "thread_ts": ts, "status": name}
    await bot.client.api_call("agents.sessions.setStatus", json=body)


async def test_an_answer_grows_before_its_reader_and_stop_ends_it(seats: Seats, server: WorkspaceServer) -> None:
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "Where is it?")
    emma, lina = await seats.take("U0EMMA", "C0SUPPORT", ts), await seats.take("U0LINA", "C0SUPPORT", ts)
    async with running(server) as bot:
        await status(bot, "C0SUPPORT", ts, "processing")
        task = {"type": "task_update", "id": "a", "title": "Ask the carrier", "status": "in_progress"}
        begun = await bot.client.chat_startStream(channel="C0SUPPORT", thread_ts=ts, chunks=[task], **TO_EMMA)
        answer = emma.thread.get_by_test_id(f"message-{begun['ts']}")
        await bot.client.chat_appendStream(channel="C0SUPPORT", ts=begun["ts"], markdown_text="It is in **Ber")
        await expect(answer).to_contain_text("It is in **Ber")
        await bot.client.chat_appendStream(channel="C0SUPPORT", ts=begun["ts"], markdown_text="lin**")
        await expect(answer.locator("strong")).to_have_text("Berlin")
        await expect(answer.get_by_role("img", name="Under way")).to_be_visible()
        await expect(lina.thread).not_to_contain_text("Berlin")
        await expect(emma.thread.get_by_role("status")).to_contain_text("Hermes is working")
        await expect(emma.page.get_by_test_id(f"thread-link-{ts}")).to_contain_text("Hermes is working")
        await emma.thread.get_by_role("button", name="Stop").click()
        await server.workspace.wait_for(lambda: bot.of_type("agent_session_stopped"))
        await expect(lina.thread).to_contain_text("Berlin")
        await status(bot, "C0SUPPORT", ts, "suspended")
        await expect(emma.thread.get_by_role("status")).to_contain_text("Hermes waits for a person")
        await status(bot, "C0SUPPORT", ts, "active")

    await expect(emma.thread.get_by_role("button", name="Stop")).to_have_count(0)
    await expect(emma.thread.get_by_role("status")).to_be_empty()
    (event,) = bot.of_type("agent_session_stopped")
    assert event["streaming_message_ts"] == [begun["ts"]]


async def test_a_prompt_is_taken_with_one_press_and_the_prompts_go(seats: Seats, server: WorkspaceServer) -> None:
    ts = await server.workspace.post("U0EMMA", "D0EMMA", "hello")
    async with running(server) as bot:
        await bot.client.chat_postMessage(channel="D0EMMA", thread_ts=ts, text="Hello Emma")
        prompts = [{"title": "My orders", "message": "Which orders do I have?"}]
        await bot.client.assistant_threads_setSuggestedPrompts(channel_id="D0EMMA", thread_ts=ts, prompts=prompts)
        await bot.client.assistant_threads_setTitle(channel_id="D0EMMA", thread_ts=ts, title="First steps")
    seat = await seats.take("U0EMMA", "D0EMMA", ts)
    await expect(seat.thread).to_contain_text("First steps")
    await seat.thread.get_by_role("button", name="My orders").click()

    await expect(seat.thread.locator(".message", has_text="Which orders do I have?")).to_be_visible()
    await expect(seat.thread.get_by_role("button", name="My orders")).to_have_count(0)


async def test_the_home_is_opened_shown_and_pressed(seats: Seats, server: WorkspaceServer) -> None:
    choice = {
        "type": "static_select",
        "action_id": "language",
        "options": [{"text": words(name), "value": name} for name in ("English", "中文")],
    }
    blocks = [
        {"type": "header", "text": words("Hello, Emma")},
        {"type": "section", "text": mrkdwn("*Language*"), "accessory": choice},
        {"type": "actions", "elements": [button("Refresh")]},
    ]
    clicks: list[Json] = []

    async def keep(ack: AsyncAck, body: Json) -> None:
        clicks.append(body)
        await ack()

    async with running(server) as bot:
        bot.app.action("language")(keep)
        bot.app.action("refresh")(keep)
        seat = await seats.take("U0EMMA", "D0EMMA")
        await seat.page.get_by_role("tab", name="Home").click()
        await expect(seat.page.get_by_test_id("home")).to_contain_text("Hermes shows nothing here yet.")
        await server.workspace.wait_for(lambda: [one["tab"] for one in bot.of_type("app_home_opened")][-1:] == ["home"])
        await bot.client.views_publish(user_id="U0EMMA", view={"type": "home", "blocks": blocks})
        home = seat.page.get_by_test_id("home")
        await expect(home.get_by_role("heading", name="Hello, Emma")).to_be_visible()
        await home.get_by_label("Language").select_option("中文")
        await home.get_by_role("button", name="Refresh").click()
        await server.workspace.wait_for(lambda: len(clicks) == 2)
        await seat.page.reload()
        await expect(home).to_contain_text("Hello, Emma")
        await seat.page.get_by_role("tab", name="Home").press("ArrowRight")
        await expect(seat.page.get_by_role("tab", name="Messages")).to_be_focused()

    await expect(seat.composer).to_be_visible()
    assert clicks[0]["actions"][0]["selected_option"]["value"] == "中文"
    assert clicks[1]["view"]["type"] == "home"
