"""A client of Slack's Web API whose token may be replaced while it works: it stands in a file, and is read again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from hermes_bot.edge.slack_errors import TokenRefused, mapped

Renew = Callable[[], str]
"""Returns the secret that stands in its file by now; empty where there is no file."""

log = logging.getLogger(__name__)


def never() -> str:
    """Return nothing: the secret was given in the environment, which does not change."""
    return ""


class RenewingClient(AsyncWebClient):
    """Asks once more, with what the file holds now, when Slack refuses the token: refused, it had no effect."""

    def __init__(self, *, renew: Renew, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._renew = renew
        self._identity: tuple[Any, Any] | None = None  # the team and the user that it began as

    async def api_call(self, api_method: str, **arguments: Any) -> AsyncSlackResponse:
        """Return Slack's answer; raise what `AsyncWebClient` raises."""
        arguments = self._with_own_token(arguments)
        used = self.token
        try:
            answer = await super().api_call(api_method, **arguments)
        except SlackApiError as error:
            if not isinstance(mapped(api_method, error), TokenRefused) or not await self._has_another(used):
                raise
            answer = await super().api_call(api_method, **arguments)
        if api_method == "auth.test" and self._identity is None:
            self._identity = _identity(answer)
        return answer

    async def _has_another(self, used: str | None) -> bool:
        fresh = await asyncio.to_thread(self._renew)
        if fresh and fresh != self.token and await self._is_ours(fresh):
            log.warning("Slack refused a token; its file holds another one by now, which is used from here on")
            self.token = fresh
        return self.token != used

    async def _is_ours(self, fresh: str) -> bool:
        """Return whether the token is for the same bot in the same workspace; another one is never used."""
        if self._identity is None:
            return True
        probe = AsyncWebClient(
            token=fresh, base_url=self.base_url, session=self.session, proxy=self.proxy, ssl=self.ssl
        )
        try:
            found = _identity(await probe.auth_test())
        except (SlackApiError, aiohttp.ClientError, TimeoutError):
            return False
        if found != self._identity:
            log.error("the token in the file is for another workspace or another bot, and is not used")
        return found == self._identity

    def _with_own_token(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments without a token: Socket Mode goes on naming the one that it began with."""
        params = arguments.get("params")
        if not isinstance(params, dict) or "token" not in params:
            return arguments
        return {**arguments, "params": {name: value for name, value in params.items() if name != "token"}}


def _identity(answer: AsyncSlackResponse) -> tuple[Any, Any]:
    return answer.get("team_id"), answer.get("user_id")
