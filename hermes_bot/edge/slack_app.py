"""The slack-bolt app: it acknowledges after the listener, asks Slack nothing on the way, and leaves nothing unheard.

Two doors lead here, Socket Mode and HTTP; both call `SlackApp.dispatch`.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.response import BoltResponse

from hermes_bot.edge.inbound import Bot
from hermes_bot.edge.listeners import Listeners, PublishFailed
from hermes_bot.edge.slack_api import SlackApi, sdk_logger, web_client

ANYTHING = re.compile("")
LEGACY_PRESS = "interactive_message"  # a button of an attachment: none of ours, and its actions have no id
NO_RETRY = "x-slack-no-retry"

log = logging.getLogger(__name__)


class SlackApp:
    """Hands requests of Slack's to the listeners and says what to answer."""

    def __init__(
        self, api: SlackApi, listeners: Listeners, *, bot: Bot, bot_token: str, clock: Callable[[], datetime]
    ) -> None:
        self._listeners = listeners
        self._authorize = _Known(
            AuthorizeResult(
                enterprise_id=None, team_id=bot.team, bot_user_id=bot.user, bot_id=bot.bot or None, bot_token=bot_token
            )
        )
        self.heard_at: datetime | None = None
        self._clock = clock
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._bolt = self._app(api)

    async def dispatch(self, request: AsyncBoltRequest) -> BoltResponse:
        """Return the answer for Slack: 200, 400 for what makes no sense, 503 when the bus did not take it."""
        self.heard_at = self._clock()
        if not well_formed(request.body):
            return refused("malformed")
        self._running += 1
        self._idle.clear()
        try:
            response: BoltResponse = await self._bolt.async_dispatch(request)
        except Exception:  # an edge: slack-bolt trips over odd payloads, even while it handles its own error
            log.exception("request not understood", extra={"type": str(request.body.get("type"))})
            return refused("not_understood")
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()
        if response.status == 404:
            log.debug("nobody wants this", extra={"type": str(request.body.get("type"))})
            return BoltResponse(status=200, body="")
        return response

    async def drained(self, limit_s: float) -> None:
        """Wait until no listener runs, `limit_s` seconds at most."""
        try:
            async with asyncio.timeout(limit_s):
                await self._idle.wait()
        except TimeoutError:
            log.warning("listeners still run", extra={"count": self._running})

    def _app(self, api: SlackApi) -> AsyncApp:
        app = AsyncApp(
            name="hermes-bot",
            logger=sdk_logger(logging.ERROR),  # it warns of tokens in the environment, which it does not need
            client=web_client("", api.client.base_url, api.client.session),
            authorize=self._authorize,
            signing_secret="unused",  # noqa: S106 - the HTTP door verifies signatures, over the raw bytes
            request_verification_enabled=False,
            process_before_response=True,
        )
        app.event(ANYTHING)(self._on_event)
        app.action(ANYTHING)(self._on_action)
        app.view(ANYTHING)(self._on_view)
        app.command(ANYTHING)(self._on_command)
        app.shortcut(ANYTHING)(self._on_shortcut)
        app.view_closed(ANYTHING)(self._on_unwanted)
        app.options(ANYTHING)(self._on_options)
        app.error(_on_error)
        return app

    async def _on_event(self, body: dict[str, Any]) -> None:
        await self._listeners.on_event(body)

    async def _on_action(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await self._listeners.on_action(body)
        await ack()

    async def _on_view(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        errors = await self._listeners.on_view(body)
        if errors:
            await ack(response_action="errors", errors=errors)
        else:
            await ack()

    async def _on_command(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        said = await self._listeners.on_command(body)
        await ack(said) if said else await ack()

    async def _on_shortcut(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await self._listeners.on_shortcut(body)
        await ack()

    async def _on_unwanted(self, ack: AsyncAck) -> None:
        await ack()

    async def _on_options(self, ack: AsyncAck) -> None:
        await ack(options=[])  # no menu of ours asks for any; without an answer Slack shows an error in it


class _Known(AsyncAuthorize):
    """Answers what auth.test said at the start: a look-up per event would lose events when it fails."""

    def __init__(self, result: AuthorizeResult) -> None:
        self._result = result

    async def __call__(self, **_request: Any) -> AuthorizeResult:
        """Return who the bot is."""
        return self._result


def refused(error: str) -> BoltResponse:
    """Return the answer to what would make no more sense if Slack sent it again."""
    return BoltResponse(status=400, body={"error": error}, headers={NO_RETRY: ["1"]})


def well_formed(body: Any) -> bool:
    """Return whether the parts that slack-bolt takes for granted have the right shape."""
    if not isinstance(body, dict) or not body:
        return False
    event = body.get("event")
    if body.get("type") == "event_callback" and not (isinstance(event, dict) and isinstance(event.get("type"), str)):
        return False
    actions = body.get("actions")
    named = isinstance(actions, list) and actions and all(_named(action) for action in actions)
    pressed = body.get("type") == "block_actions" or (actions is not None and body.get("type") != LEGACY_PRESS)
    if pressed and not named:
        return False
    view = body.get("view")
    return not str(body.get("type")).startswith("view_") or (
        isinstance(view, dict) and isinstance(view.get("callback_id"), str)
    )


def _named(action: Any) -> bool:
    return isinstance(action, dict) and isinstance(action.get("action_id"), str)


async def _on_error(error: Exception, body: dict[str, Any]) -> BoltResponse:
    if isinstance(error, PublishFailed):
        return BoltResponse(status=503, body={"error": "not_taken"})
    log.error("request not understood", exc_info=error, extra={"type": str(body.get("type"))})
    return refused("not_understood")
