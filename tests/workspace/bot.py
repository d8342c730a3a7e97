"""The other side of the wire for these tests: a real bolt app, and a bare socket that does only what a test says."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.people import App
from hermes_bot.workspace.server import WorkspaceServer

Json = dict[str, Any]


def bot_client(server: WorkspaceServer, token: str | None = None) -> AsyncWebClient:
    """The unmodified client, without the retries that would hide a lost reply."""
    return AsyncWebClient(token=token or server.world.app.bot_token, base_url=server.api_url, retry_handlers=[])


class Bot:
    """A bolt app that keeps the events that it is told."""

    def __init__(self, server: WorkspaceServer, of: App | None = None) -> None:
        app = of or server.world.app
        self.client = bot_client(server, app.bot_token)
        self.app = AsyncApp(
            client=self.client, process_before_response=True, ignoring_self_events_enabled=False, signing_secret="x"
        )
        web_client = AsyncWebClient(token=app.app_token, base_url=server.api_url)
        self.handler = AsyncSocketModeHandler(self.app, app.app_token, web_client=web_client, ping_interval=0.2)
        self.bodies: list[Json] = []
        self.pressed: list[Json] = []
        self.app.event(re.compile(".+"))(self._keep)

    async def _keep(self, body: Json) -> None:
        self.bodies.append(body)

    async def keep_pressed(self, ack: AsyncAck, body: Json) -> None:
        """A listener for clicks, commands and shortcuts: keeps them."""
        self.pressed.append(body)
        await ack()

    def of_type(self, kind: str) -> list[Json]:
        """The inner events of one type."""
        return [event for event in self.events if event["type"] == kind]

    @property
    def events(self) -> list[Json]:
        """The inner events, in the order of arrival."""
        return [body["event"] for body in self.bodies]


@asynccontextmanager
async def running(server: WorkspaceServer, of: App | None = None) -> AsyncIterator[Bot]:
    """A bolt app that is connected over Socket Mode: the workspace's first, or another one of its apps."""
    bot = Bot(server, of)
    sockets = server.sockets_of(of or server.world.app)
    await bot.handler.connect_async()  # type: ignore[no-untyped-call] # bolt's own signature
    await server.workspace.wait_for(lambda: sockets.connected > 0)
    try:
        yield bot
    finally:
        await bot.handler.close_async()  # type: ignore[no-untyped-call] # bolt's own signature


class BareSocket:
    """A socket of the app that acknowledges nothing by itself."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket

    async def frame(self) -> Json:
        """The next frame."""
        body: Json = json.loads(await self._socket.receive_str(timeout=60))
        return body

    async def ack(self, envelope: Json, payload: Json | None = None) -> None:
        """Acknowledge an envelope, perhaps one that another socket got."""
        body: Json = {"envelope_id": envelope["envelope_id"]}
        await self._socket.send_json(body if payload is None else body | {"payload": payload})

    async def ended(self) -> bool:
        """Whether the other side ends the socket."""
        return (await self._socket.receive(timeout=60)).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)


@asynccontextmanager
async def bare_socket(server: WorkspaceServer) -> AsyncIterator[BareSocket]:
    """A connected bare socket; its first frame, `hello`, is still to be read."""
    opened = await bot_client(server, server.world.app.app_token).apps_connections_open(
        app_token=server.world.app.app_token
    )
    async with aiohttp.ClientSession() as session, session.ws_connect(opened["url"]) as socket:
        yield BareSocket(socket)
