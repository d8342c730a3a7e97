"""What an agent says of its work, and the Stop button."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.people import App, demo_world
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.server import WorkspaceServer
from hermes_bot.workspace.sessions import Session
from tests.workspace.bot import Bot, bot_client, running

Json = dict[str, Any]
TO_EMMA: Json = {"recipient_user_id": "U0EMMA", "recipient_team_id": "T0HERMES"}


@pytest_asyncio.fixture
async def bot(workspace: WorkspaceServer) -> AsyncIterator[Bot]:
    async with running(workspace) as bot:
        yield bot


async def ask(server: WorkspaceServer) -> str:
    return await server.workspace.post("U0EMMA", "C0SUPPORT", "Where is my order?")


def session(server: WorkspaceServer, thread_ts: str) -> Session:
    found = server.workspace.sessions.of("C0SUPPORT", thread_ts)
    assert found is not None
    return found


async def test_a_session_is_made_by_its_first_status_and_keeps_its_title(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    ts = await ask(workspace)
    place = {"channel_id": "C0SUPPORT", "thread_ts": ts}
    made = await client.agents_sessions_setStatus(**place, status="processing", title="Order")
    moved = await client.agents_sessions_setStatus(**place, status="suspended", title="Something else")
    await client.agents_sessions_rename(**place, title="Order 1001")

    assert (made["status"], made["title"]) == ("processing", "Order")
    assert (moved["agent_status"], moved["title"]) == ("suspended", "Order")
    assert (session(workspace, ts).status, session(workspace, ts).title) == ("suspended", "Order 1001")


@pytest.mark.parametrize(
    "method,wrong,error",
    [
        ("agents.sessions.setStatus", {"status": "busy"}, "invalid_arguments"),
        ("agents.sessions.setStatus", {"status": "active", "title": "x" * 201}, "invalid_arguments"),
        ("agents.sessions.setStatus", {"status": "active", "thread_ts": "1.000001"}, "invalid_thread_ts"),
        ("agents.sessions.setStatus", {"status": "active", "channel_id": "C1"}, "channel_not_found"),
        ("agents.sessions.rename", {"title": "no session yet"}, "invalid_thread_ts"),
        ("agents.sessions.rename", {"title": "x" * 201}, "invalid_arguments"),
        ("assistant.threads.setStatus", {"status": "x", "loading_messages": ["x"] * 11}, "invalid_arguments"),
        ("assistant.threads.setStatus", {"status": "x", "loading_messages": "no list"}, "invalid_arguments"),
        ("assistant.threads.setTitle", {"title": "x", "thread_ts": "1.000001"}, "invalid_thread_ts"),
        ("assistant.threads.setSuggestedPrompts", {"prompts": [{"title": "x"}]}, "invalid_arguments"),
        (
            "assistant.threads.setSuggestedPrompts",
            {"prompts": [{"title": "x", "message": "y"}] * 5},
            "invalid_arguments",
        ),
    ],
)
async def test_what_cannot_be_is_refused_by_its_name(
    workspace: WorkspaceServer, client: AsyncWebClient, method: str, wrong: Json, error: str
) -> None:
    place = {"channel_id": "C0SUPPORT", "thread_ts": await ask(workspace)}

    with pytest.raises(SlackApiError) as failed:
        await client.api_call(method, json=place | wrong)
    assert failed.value.response["error"] == error


async def test_only_an_agent_has_sessions_and_who_cannot_hear_stop_is_warned() -> None:
    plain, deaf = App(agent=False), App(events=("message.channels",))
    for app, error, warning in ((plain, "no_permission", None), (deaf, None, "missing_agent_session_stopped")):
        async with WorkspaceServer(world=demo_world(app)) as server:
            call = bot_client(server).api_call
            place = {"channel_id": "C0SUPPORT", "thread_ts": await ask(server), "status": "processing"}
            try:
                answer = (await call("agents.sessions.setStatus", json=place)).data
            except SlackApiError as failed:
                answer = failed.response.data

        assert isinstance(answer, dict)
        assert answer.get("error") == error
        assert str(answer.get("warning", "None")).startswith(str(warning))


async def test_stop_is_told_to_the_app_ends_its_streams_and_moves_no_status(
    workspace: WorkspaceServer, bot: Bot
) -> None:
    ts = await ask(workspace)
    await bot.client.agents_sessions_setStatus(channel_id="C0SUPPORT", thread_ts=ts, status="processing")
    stream = await bot.client.chat_startStream(channel="C0SUPPORT", thread_ts=ts, markdown_text="Well, ", **TO_EMMA)
    stopped = await workspace.workspace.stop("U0EMMA", "C0SUPPORT", ts)
    await workspace.workspace.wait_for(lambda: bot.of_type("agent_session_stopped"))
    (event,) = bot.of_type("agent_session_stopped")

    assert stopped == [stream["ts"]]
    assert (event["channel"], event["thread_ts"], event["user"]) == ("C0SUPPORT", ts, "U0EMMA")
    assert event["streaming_message_ts"] == [stream["ts"]]
    assert session(workspace, ts).status == "processing"
    with pytest.raises(SlackApiError, match="stopped_by_user"):
        await bot.client.chat_appendStream(channel="C0SUPPORT", ts=stream["ts"], markdown_text="on")
    with pytest.raises(SlackApiError, match="message_not_in_streaming_state"):
        await bot.client.chat_stopStream(channel="C0SUPPORT", ts=stream["ts"])


async def test_there_is_no_stop_where_nothing_works(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    ts = await ask(workspace)
    await client.agents_sessions_setStatus(channel_id="C0SUPPORT", thread_ts=ts, status="active")

    with pytest.raises(Refusal, match="not_processing"):
        await workspace.workspace.stop("U0EMMA", "C0SUPPORT", ts)


async def test_a_person_renames_a_session(workspace: WorkspaceServer, bot: Bot) -> None:
    ts = await ask(workspace)
    await bot.client.agents_sessions_setStatus(channel_id="C0SUPPORT", thread_ts=ts, status="active", title="Order")
    await workspace.workspace.rename_session("U0EMMA", "C0SUPPORT", ts, "My parcel")
    await workspace.workspace.wait_for(lambda: bot.of_type("agent_session_title_changed"))
    (event,) = bot.of_type("agent_session_title_changed")

    assert (event["previous_title"], event["title"]) == ("Order", "My parcel")


@pytest.mark.parametrize("how", ["reply", "empty", "time"])
async def test_a_passing_line_goes_away(timed: WorkspaceServer, clock: SettableClock, how: str) -> None:
    client, ts = bot_client(timed), await ask(timed)
    place: Json = {"channel_id": "C0SUPPORT", "thread_ts": ts}
    await client.assistant_threads_setStatus(**place, status="is looking", loading_messages=["Reading"])
    clock.advance(119)
    assert session(timed, ts).text == "is looking"
    if how == "reply":
        await client.chat_postMessage(channel="C0SUPPORT", thread_ts=ts, text="Found it")
    elif how == "empty":
        await client.assistant_threads_setStatus(**place, status="")
    else:
        clock.advance(2)

    assert (session(timed, ts).text, session(timed, ts).loading_messages) == ("", ())


async def test_prompts_are_offered_in_a_thread_or_in_the_whole_dm(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    prompts = [{"title": "Track", "message": "Where is my order?"}]
    await client.assistant_threads_setSuggestedPrompts(channel_id="D0EMMA", prompts=prompts, title="Hello")
    offered = workspace.workspace.sessions.of("D0EMMA", "")

    assert offered is not None
    assert (offered.prompts, offered.prompts_title) == (({"title": "Track", "message": "Where is my order?"},), "Hello")


async def test_the_older_assistant_view_opens_a_thread_with_its_context(workspace: WorkspaceServer, bot: Bot) -> None:
    thread_ts = workspace.workspace.odd.assistant_thread("U0EMMA", context_channel="C0SUPPORT")
    await workspace.workspace.wait_for(lambda: bot.of_type("assistant_thread_started"))
    workspace.workspace.odd.assistant_context("U0EMMA", thread_ts, "C0GENERAL")
    await workspace.workspace.wait_for(lambda: bot.of_type("assistant_thread_context_changed"))
    (event,) = bot.of_type("assistant_thread_started")
    (moved,) = bot.of_type("assistant_thread_context_changed")
    await bot.client.assistant_threads_setTitle(channel_id="D0EMMA", thread_ts=thread_ts, title="Order")

    thread = event["assistant_thread"]
    assert (thread["user_id"], thread["channel_id"], thread["thread_ts"]) == ("U0EMMA", "D0EMMA", thread_ts)
    assert thread["context"]["channel_id"] == "C0SUPPORT"
    assert moved["assistant_thread"]["context"]["channel_id"] == "C0GENERAL"


async def test_what_a_person_looks_at_is_told_to_agents_alone(workspace: WorkspaceServer, bot: Bot) -> None:
    workspace.workspace.odd.looks_at("U0EMMA", "C0SUPPORT")
    await workspace.workspace.wait_for(lambda: bot.of_type("app_context_changed"))
    (event,) = bot.of_type("app_context_changed")
    world = demo_world()

    assert event["context"]["entities"][0]["value"] == "C0SUPPORT"
    async with WorkspaceServer(world=replace(world, app=App(agent=False))) as server:
        with pytest.raises(Refusal, match="not_enabled"):
            server.workspace.odd.looks_at("U0EMMA")
