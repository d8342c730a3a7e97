"""The transport of the Web API: where arguments stand, which tokens are taken, and faults that tests set."""

import json

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.faults import ApiError, RateLimited, ReplyLost, ServerError, TokenRevoked
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import bot_client

BLOCKS = [{"type": "divider"}]


@pytest.mark.parametrize("place", ["query", "form", "json"])
async def test_arguments_are_taken_from_query_form_and_json(workspace: WorkspaceServer, place: str) -> None:
    encoded = {"channel": "C0SUPPORT", "text": "hello", "blocks": json.dumps(BLOCKS), "reply_broadcast": "true"}
    plain = {"channel": "C0SUPPORT", "text": "hello", "blocks": BLOCKS, "reply_broadcast": True}
    headers = {"Authorization": f"Bearer {workspace.world.app.bot_token}"}
    url = f"{workspace.api_url}chat.postMessage"
    async with aiohttp.ClientSession(headers=headers) as session:
        calls = {
            "query": session.post(url, params=encoded),
            "form": session.post(url, data=encoded),
            "json": session.post(url, json=plain),
        }
        async with calls.pop(place) as response:
            answer = await response.json()
        for unused in calls.values():
            unused.close()

    assert answer["ok"] is True
    assert workspace.workspace.messages("C0SUPPORT")[0]["blocks"][0]["type"] == "divider"


async def test_arguments_of_several_places_are_merged(workspace: WorkspaceServer) -> None:
    headers = {"Authorization": f"Bearer {workspace.world.app.bot_token}"}
    url = f"{workspace.api_url}chat.postMessage"
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(url, params={"channel": "C0SUPPORT"}, json={"text": "hello"}) as response,
    ):
        answer = await response.json()

    assert (answer["ok"], answer["channel"]) == (True, "C0SUPPORT")


async def test_the_token_may_stand_in_the_arguments(workspace: WorkspaceServer) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{workspace.api_url}auth.test", data={"token": workspace.world.app.bot_token}) as response,
    ):
        answer = await response.json()

    assert (answer["ok"], answer["user_id"], answer["bot_id"]) == (True, "U0HERMES", "B0HERMES")


@pytest.mark.parametrize(
    "raw,error", [("{", "invalid_json"), ("[1]", "json_not_object")], ids=["broken JSON", "no object"]
)
async def test_a_body_that_is_no_json_object_is_refused(workspace: WorkspaceServer, raw: str, error: str) -> None:
    headers = {"Content-Type": "application/json"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{workspace.api_url}auth.test", data=raw, headers=headers) as response,
    ):
        assert (await response.json())["error"] == error


@pytest.mark.parametrize(
    "token,error",
    [("xoxb-wrong", "invalid_auth"), ("xapp-local-workspace", "not_allowed_token_type")],
)
async def test_a_token_that_is_not_the_bots_is_refused(workspace: WorkspaceServer, token: str, error: str) -> None:
    with pytest.raises(SlackApiError) as failed:
        await bot_client(workspace, token).auth_test()

    assert failed.value.response["error"] == error


async def test_no_token_at_all_is_refused(workspace: WorkspaceServer) -> None:
    async with aiohttp.ClientSession() as session, session.post(f"{workspace.api_url}auth.test") as response:
        assert (await response.json())["error"] == "not_authed"


async def test_sockets_are_opened_with_the_app_token_alone(workspace: WorkspaceServer) -> None:
    with pytest.raises(SlackApiError) as failed:
        await bot_client(workspace).apps_connections_open(app_token=workspace.world.app.bot_token)

    assert failed.value.response["error"] == "not_allowed_token_type"


async def test_an_unknown_method_is_named_as_such(client: AsyncWebClient) -> None:
    with pytest.raises(SlackApiError) as failed:
        await client.api_call("chat.sing")

    assert failed.value.response["error"] == "unknown_method"


async def test_a_missing_argument_is_named(client: AsyncWebClient) -> None:
    with pytest.raises(SlackApiError) as failed:
        await client.api_call("conversations.info")

    assert failed.value.response["error"] == "invalid_arguments"
    assert "channel" in failed.value.response["response_metadata"]["messages"][0]


@pytest.mark.parametrize("retry_after_s,header", [(2, "2"), (None, None)])
async def test_a_rate_limit_is_429_with_or_without_its_header(
    workspace: WorkspaceServer, client: AsyncWebClient, retry_after_s: int | None, header: str | None
) -> None:
    workspace.faults.add(method="chat.postMessage", fault=RateLimited(retry_after_s=retry_after_s))
    with pytest.raises(SlackApiError) as failed:
        await client.chat_postMessage(channel="C0SUPPORT", text="x")

    assert failed.value.response.status_code == 429
    assert failed.value.response["error"] == "ratelimited"
    assert failed.value.response.headers.get("Retry-After") == header
    assert (await client.chat_postMessage(channel="C0SUPPORT", text="x"))["ok"] is True


async def test_a_fault_spoils_as_many_calls_as_it_says_in_its_channel_alone(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    workspace.faults.add(method="chat.postMessage", fault=ApiError("fatal_error"), times=2, channel="C0SUPPORT")
    await client.chat_postMessage(channel="C0HANDOFF", text="x")
    for _ in range(2):
        with pytest.raises(SlackApiError, match="fatal_error"):
            await client.chat_postMessage(channel="C0SUPPORT", text="x")
    await client.chat_postMessage(channel="C0SUPPORT", text="x")

    assert workspace.faults.waiting() == 0


async def test_a_server_error_has_its_status_and_no_effect(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    workspace.faults.add(method="chat.postMessage", fault=ServerError(503))
    with pytest.raises(SlackApiError) as failed:
        await client.chat_postMessage(channel="C0SUPPORT", text="x")

    assert failed.value.response.status_code == 503
    assert workspace.workspace.messages("C0SUPPORT") == []


async def test_a_lost_reply_leaves_the_message_in_the_channel(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    workspace.faults.add(method="chat.postMessage", fault=ReplyLost())
    with pytest.raises(aiohttp.ClientConnectionError):
        await client.chat_postMessage(channel="C0SUPPORT", text="posted after all")

    assert [message["text"] for message in workspace.workspace.messages("C0SUPPORT")] == ["posted after all"]


async def test_a_revoked_token_stays_revoked_until_it_is_restored(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    workspace.faults.add(method="*", fault=TokenRevoked())
    for _ in range(2):
        with pytest.raises(SlackApiError, match="token_revoked"):
            await client.auth_test()
    workspace.tokens.restore(workspace.world.app.bot_token)

    assert (await client.auth_test())["ok"] is True
