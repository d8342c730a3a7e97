"""The Socket Mode door: keeps one WebSocket to Slack open and passes what comes in to the app."""

from __future__ import annotations

import asyncio
import logging
from time import time

from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_bolt.adapter.socket_mode.internals import build_headers
from slack_bolt.async_app import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from hermes_bot.edge.renewing import Renew, never
from hermes_bot.edge.slack_api import SlackApi, sdk_logger, web_client
from hermes_bot.edge.slack_app import NO_RETRY, SlackApp, refused
from hermes_bot.settings.slack_access import APP_TOKEN, on_loopback

log = logging.getLogger(__name__)


class SocketDoor:
    """Receives events and clicks over Socket Mode."""

    def __init__(
        self,
        app: SlackApp,
        *,
        app_token: str,
        base_url: str,
        ping_interval_s: float,
        renew: Renew = never,
        variable: str = APP_TOKEN,
    ) -> None:
        self._app = app
        self._app_token = app_token
        self._base_url = base_url
        self._ping_interval_s = ping_interval_s
        self._renew = renew
        self._variable = variable
        self._client: SocketModeClient | None = None
        self._watch: asyncio.Task[None] | None = None

    @property
    def connected(self) -> bool:
        """Whether the socket is open and its pings are answered."""
        session = self._client.current_session if self._client is not None else None
        return session is not None and not session.closed and self._client is not None and not self._client.stale

    @property
    def pong_age_s(self) -> float | None:
        """How long ago Slack answered the last ping, in seconds; None where it has not answered any yet."""
        at = self._client.last_ping_pong_time if self._client is not None else None
        return None if at is None else round(max(0.0, time() - at), 1)

    async def open(self) -> None:
        """Connect; raise TokenRefused for a wrong app token, TransientError when Slack is away."""
        web = web_client(self._app_token, self._base_url, renew=self._renew)
        api = SlackApi(web, variable=self._variable)
        answer = await api.call("apps.connections.open", app_token=self._app_token)
        client = SocketModeClient(
            app_token=self._app_token, web_client=web, logger=sdk_logger(), ping_interval=self._ping_interval_s
        )
        if on_loopback(self._base_url):
            client.proxy = None
        client.wss_uri = str(answer["url"])
        client.socket_mode_request_listeners.append(self._on_request)
        self._client = client
        self._watch = asyncio.create_task(self._watched(client), name="slack-socket-watch")
        await client.connect()  # type: ignore[no-untyped-call]  # slack_sdk has no annotation here

    async def close(self) -> None:
        """Close the socket for good."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
            self._watch = None
        client, self._client = self._client, None
        if client is None:
            return
        await client.close()  # type: ignore[no-untyped-call]  # the same
        ending = (client.message_processor, client.current_session_monitor, client.message_receiver)
        await asyncio.gather(*(task for task in ending if task is not None), return_exceptions=True)

    async def _on_request(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        started = time()
        try:
            bolt_request = AsyncBoltRequest(mode="socket_mode", body=request.payload, headers=build_headers(request))
        except Exception as error:  # noqa: BLE001 - an edge: slack-bolt stumbles over odd bodies in many ways
            log.warning("malformed request", extra={"type": request.type, "error": type(error).__name__})
            response = refused("malformed")
        else:
            response = await self._app.dispatch(bolt_request)
        if NO_RETRY in response.headers:  # over a socket the only way to say so is to take it
            response = BoltResponse(status=200)
        await send_async_response(client, request, response, started)

    async def _watched(self, client: SocketModeClient) -> None:
        """Forget the address of a socket that is down: it is good once, and the client would try it for ever."""
        was_connected = True
        while True:
            await asyncio.sleep(self._ping_interval_s)
            connected = await client.is_connected()
            if connected is not was_connected:
                log.warning("socket to Slack is back" if connected else "socket to Slack is down")
            if not connected and not was_connected:
                client.wss_uri = None
            was_connected = connected
