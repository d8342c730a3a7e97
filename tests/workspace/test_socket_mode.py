"""The app over Socket Mode, through the real slack-bolt and slack-sdk."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.server import WorkspaceServer


class Bot:
    """A bolt app that keeps what it is told."""

    def __init__(self, server: WorkspaceServer) -> None:
        app = server.world.app
        self.client = AsyncWebClient(token=app.bot_token, base_url=server.api_url, retry_handlers=[])
        self.app = AsyncApp(client=self.client, process_before_response=True)
        web_client = AsyncWebClient(token=app.app_token, base_url=server.api_url)
        self.handler = AsyncSocketModeHandler(self.app, app.app_token, web_client=web_client, ping_interval=0.2)
        self.events: list[dict[str, Any]] = []
        self.app.event({"type": "message"})(self._keep)
        self.app.event("app_mention")(self._keep)

    async def _keep(self, body: dict[str, Any]) -> None:
        self.events.append(body)


@asynccontextmanager
async def running(server: WorkspaceServer) -> AsyncIterator[Bot]:
    bot = Bot(server)
    await bot.handler.connect_async()  # type: ignore[no-untyped-call] # bolt's own signature
    await server.workspace.wait_for(lambda: server.sockets.connected == 1)
    try:
        yield bot
    finally:
        await bot.handler.close_async()  # type: ignore[no-untyped-call] # bolt's own signature


async def test_a_persons_message_reaches_the_app_and_the_answer_stands_in_the_channel(
    workspace: WorkspaceServer,
) -> None:
    async with running(workspace) as bot:
        ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "where is <my> order?")
        await workspace.workspace.wait_for(lambda: workspace.unsettled == 0)
        answer = await bot.client.chat_postMessage(channel="C0SUPPORT", text="On its way", thread_ts=ts)

    assert bot.events[0]["event"]["text"] == "where is &lt;my&gt; order?"
    thread = workspace.workspace.messages("C0SUPPORT", ts)
    assert [message["text"] for message in thread] == ["where is &lt;my&gt; order?", "On its way"]
    assert answer["message"]["thread_ts"] == ts
