"""The fixture for other people's bots, used as their tests would use it: without asyncio, with the plain client."""

import pytest
from slack_sdk.socket_mode import SocketModeClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web import WebClient

from hermes_bot.workspace.in_thread import WorkspaceInThread
from hermes_bot.workspace.people import App, World, demo_world
from hermes_bot.workspace.pytest_plugin import slack_workspace
from hermes_bot.workspace.server import WorkspaceServer

__all__ = ["slack_workspace"]


@pytest.fixture
def slack_world() -> World:
    return demo_world(App(name="Helper"))


def test_a_bot_that_is_not_asynchronous_is_tested_with_it(slack_workspace: WorkspaceInThread) -> None:
    client = WebClient(token=slack_workspace.app.bot_token, base_url=slack_workspace.api_url)
    ts = slack_workspace.act(lambda people: people.post("U0EMMA", "C0SUPPORT", "hello"))
    client.chat_postMessage(channel="C0SUPPORT", thread_ts=ts, text="hello yourself")
    slack_workspace.wait_for(lambda seen: len(seen.messages("C0SUPPORT", ts)) == 2)
    said = slack_workspace.look(lambda seen: seen.messages("C0SUPPORT", ts))

    assert [(one["user"], one["text"]) for one in said] == [("U0EMMA", "hello"), ("U0HERMES", "hello yourself")]
    assert client.auth_test()["user"] == "helper"


def test_slacks_plain_socket_client_lives_in_it(slack_workspace: WorkspaceInThread) -> None:
    app, base_url = slack_workspace.app, slack_workspace.api_url
    web = WebClient(token=app.bot_token, base_url=base_url)
    client = SocketModeClient(
        app_token=app.app_token, web_client=WebClient(token=app.app_token, base_url=base_url), ping_interval=0.5
    )

    def answer(via: BaseSocketModeClient, request: SocketModeRequest) -> None:
        via.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id))
        event = request.payload["event"]
        if "bot_id" not in event:
            web.chat_postMessage(channel=event["channel"], thread_ts=event["ts"], text=f"echo: {event['text']}")

    client.socket_mode_request_listeners.append(answer)
    client.connect()
    try:
        ts = slack_workspace.act(lambda people: people.post("U0EMMA", "C0SUPPORT", "hello"))
        slack_workspace.wait_for(lambda seen: len(seen.messages("C0SUPPORT", ts)) == 2)
        slack_workspace.wait_for(lambda _seen: slack_workspace.server.unsettled == 0)
    finally:
        client.close()

    assert slack_workspace.look(lambda seen: seen.messages("C0SUPPORT", ts)[1]["text"]) == "echo: hello"


def test_what_never_happens_ends_at_the_limit(slack_workspace: WorkspaceInThread) -> None:
    with pytest.raises(TimeoutError):
        slack_workspace.wait_for(lambda seen: seen.messages("C0SUPPORT"), limit_s=0.01)


@pytest.fixture
def ended() -> WorkspaceInThread:
    with WorkspaceInThread(WorkspaceServer) as workspace:
        pass
    return workspace


def test_after_the_block_nobody_listens(ended: WorkspaceInThread) -> None:
    with pytest.raises(OSError, match="refused"):
        WebClient(token=ended.app.bot_token, base_url=ended.api_url).api_test()
