"""Messages that are written piece by piece."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.people import Member
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import Bot, bot_client, running

Json = dict[str, Any]
TO_EMMA: Json = {"recipient_user_id": "U0EMMA", "recipient_team_id": "T0HERMES"}
TASK: Json = {"type": "task_update", "id": "t1", "title": "Look it up", "status": "in_progress"}


@pytest_asyncio.fixture
async def bot(workspace: WorkspaceServer) -> AsyncIterator[Bot]:
    async with running(workspace) as bot:
        yield bot


async def start(server: WorkspaceServer, client: AsyncWebClient, **more: Any) -> str:
    """Return the ts of a stream in answer to Emma."""
    ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "Where is my order?")
    arguments: Json = {"channel": "C0SUPPORT", "thread_ts": ts} | TO_EMMA | more
    started = await client.chat_startStream(**arguments)
    return str(started["ts"])


def shown(server: WorkspaceServer, ts: str) -> Json:
    post = server.workspace.posts.get("C0SUPPORT", ts)
    assert post is not None
    return server.workspace.messages("C0SUPPORT", post.thread_ts)[-1]


async def test_the_pieces_become_one_message_and_two_events(workspace: WorkspaceServer, bot: Bot) -> None:
    ts = await start(workspace, bot.client, markdown_text="It is ")
    await bot.client.chat_appendStream(channel="C0SUPPORT", ts=ts, markdown_text="**on its way**")
    halfway = shown(workspace, ts)
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "Anything else?"}}]
    await bot.client.chat_stopStream(channel="C0SUPPORT", ts=ts, markdown_text=".", blocks=blocks)
    done = shown(workspace, ts)
    await workspace.workspace.wait_for(lambda: workspace.unsettled == 0)
    mine = [event for event in bot.of_type("message") if event.get("bot_id") or event.get("message", {}).get("bot_id")]

    assert (halfway["text"], halfway["streaming_state"]) == ("It is **on its way**", "in_progress")
    assert (done["text"], done["streaming_state"]) == ("It is **on its way**.", "completed")
    assert [block["type"] for block in done["blocks"]] == ["markdown", "section"]
    assert [event.get("subtype") for event in mine] == [None, "message_changed"]


async def test_tasks_and_a_plan_are_shown_as_they_go_on(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    ts = await start(workspace, client, chunks=[{"type": "plan_update", "title": "Your order"}, TASK])
    done = TASK | {"status": "complete", "output": "In Lyon"}
    await client.chat_appendStream(
        channel="C0SUPPORT", ts=ts, chunks=[done, {"type": "markdown_text", "text": "Lyon."}]
    )
    plan, said = shown(workspace, ts)["blocks"]

    assert (plan["type"], plan["title"], [task["status"] for task in plan["tasks"]]) == (
        "plan",
        "Your order",
        ["complete"],
    )
    assert (said["type"], said["text"]) == ("markdown", "Lyon.")


@pytest.mark.parametrize(
    "wrong,error",
    [
        ({"recipient_user_id": None}, "missing_recipient_user_id"),
        ({"recipient_team_id": None}, "missing_recipient_team_id"),
        ({"recipient_user_id": "B0HERMES"}, "invalid_arguments"),
        ({"recipient_user_id": "U0HERMES"}, "user_not_found"),
        ({"recipient_user_id": "U0NOBODY"}, "user_not_found"),
        ({"recipient_team_id": "T0OTHER"}, "team_not_found"),
        ({"thread_ts": "1.000001"}, "invalid_thread_ts"),
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"chunks": [TASK | {"title": "x" * 257}]}, "invalid_chunks"),
        ({"chunks": [{"type": "surprise"}]}, "invalid_chunks"),
        ({"chunks": "no list"}, "invalid_chunks"),
    ],
)
async def test_a_wrong_start_is_refused(
    workspace: WorkspaceServer, client: AsyncWebClient, wrong: Json, error: str
) -> None:
    with pytest.raises(SlackApiError) as failed:
        await start(workspace, client, **wrong)

    assert failed.value.response["error"] == error
    assert len(workspace.workspace.posts.all()) == 1


async def test_in_a_dm_the_recipient_is_plain(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    ts = await workspace.workspace.post("U0EMMA", "D0EMMA", "hello")
    started = await client.chat_startStream(channel="D0EMMA", thread_ts=ts, markdown_text="Hi")

    post = workspace.workspace.posts.get("D0EMMA", started["ts"])
    assert post is not None
    assert post.recipient == "U0EMMA"


async def test_after_the_end_nothing_is_added(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    ts = await start(workspace, client, markdown_text="Done")
    with pytest.raises(SlackApiError, match="streaming_state_conflict"):
        await client.chat_update(channel="C0SUPPORT", ts=ts, text="too early")
    await client.chat_stopStream(channel="C0SUPPORT", ts=ts)

    with pytest.raises(SlackApiError, match="message_not_in_streaming_state"):
        await client.chat_appendStream(channel="C0SUPPORT", ts=ts, markdown_text="more")
    await client.chat_update(channel="C0SUPPORT", ts=ts, text="corrected")


async def test_a_stream_that_nobody_feeds_ends_after_five_minutes(timed: WorkspaceServer, clock: SettableClock) -> None:
    client = bot_client(timed)
    ts = await start(timed, client, markdown_text="Well")
    clock.advance(299)
    await client.chat_appendStream(channel="C0SUPPORT", ts=ts, markdown_text=", ")
    clock.advance(299)
    assert shown(timed, ts)["streaming_state"] == "in_progress"
    clock.advance(2)

    assert shown(timed, ts)["streaming_state"] == "completed"
    with pytest.raises(SlackApiError, match="message_not_in_streaming_state"):
        await client.chat_appendStream(channel="C0SUPPORT", ts=ts, markdown_text="on")


@pytest.mark.parametrize("method", ["chat.appendStream", "chat.stopStream"])
async def test_a_message_that_is_none_of_its_streams_is_refused(
    workspace: WorkspaceServer, client: AsyncWebClient, method: str
) -> None:
    hers = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "hello")
    mine = (await client.chat_postMessage(channel="C0SUPPORT", text="hi"))["ts"]
    errors = {"1.000001": "message_not_found", hers: "message_not_owned_by_app", mine: "message_not_in_streaming_state"}
    for ts, error in errors.items():
        with pytest.raises(SlackApiError, match=error):
            await client.api_call(method, json={"channel": "C0SUPPORT", "ts": ts, "markdown_text": "x"})


async def test_a_strangers_team_is_the_recipients(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    roster = workspace.workspace.roster
    roster.put_member(Member(id="U9SAM", name="Sam", team="T9OTHER", stranger=True))
    roster.join(roster.channel("C0SUPPORT"), "U9SAM")

    ts = await start(workspace, client, recipient_user_id="U9SAM", recipient_team_id="T9OTHER")
    assert shown(workspace, ts)["streaming_state"] == "in_progress"
