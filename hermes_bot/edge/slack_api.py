"""Slack's Web API as this program calls it: a time limit on every call, our own errors, pages read to a bound."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.edge.lines import Haste
from hermes_bot.edge.pacing import Pacing
from hermes_bot.edge.renewing import Renew, RenewingClient, never
from hermes_bot.edge.slack_errors import FOREIGN, TokenRefused, mapped
from hermes_bot.errors import SlackRefused, TransientError
from hermes_bot.settings.slack_access import BOT_TOKEN, on_loopback

SLACK_URL = "https://slack.com/api/"
PAGE_SIZE = 200
MAX_PAGES = 10
UNAVAILABLE = "unavailable"
"""What `attempt` returns where Slack is busy or away, or its answer got lost."""
NAMES_A_CALL = (
    "channel",
    "channel_id",
    "ts",
    "thread_ts",
    "message_ts",
    "user",
    "users",
    "user_id",
    "usergroup",
    "cursor",
)
"""The arguments by which a call that has to wait is known again."""

log = logging.getLogger(__name__)


def sdk_logger(level: int = logging.WARNING) -> logging.Logger:
    """Return the logger for slack-sdk and slack-bolt; at DEBUG they would print payloads, with people's words."""
    logger = logging.getLogger(f"hermes_bot.edge.sdk.{logging.getLevelName(level).lower()}")
    logger.setLevel(level)
    return logger


def web_client(
    token: str, base_url: str, session: aiohttp.ClientSession | None = None, renew: Renew = never
) -> AsyncWebClient:
    """Return a client that repeats nothing by itself: its retries would post twice when a reply is lost."""
    client = RenewingClient(
        renew=renew,
        token=token or None,
        base_url=base_url or SLACK_URL,
        session=session,
        retry_handlers=[],
        logger=sdk_logger(),
    )
    if on_loopback(client.base_url):  # a proxy has no business there
        client.proxy = None
    return client


class SlackApi:
    """Calls methods by Slack's own names, each in its turn: `key` and `haste` are those of `Pacing.turn`."""

    def __init__(
        self,
        client: AsyncWebClient,
        *,
        limit_s: float = 10.0,
        variable: str = BOT_TOKEN,
        pacing: Pacing | None = None,
    ) -> None:
        self.client = client
        self._pacing = pacing or Pacing()
        self._limit_s = limit_s
        self._variable = variable
        self.refused = ""  # why Slack refused the token at the last call, empty when it did not

    async def call(
        self, method: str, *, limit_s: float | None = None, key: str = "", haste: Haste = Haste.PERSON, **arguments: Any
    ) -> dict[str, Any]:
        """Return the answer of e.g. `chat.postMessage`.

        Raise NotYet while it is not its turn, TransientError (OutcomeUnknown where the call may have had its effect),
        TokenRefused or SlackRefused.
        """
        body, _ = await self.answered(method, limit_s=limit_s, key=key, haste=haste, **arguments)
        return body

    async def answered(
        self, method: str, *, limit_s: float | None = None, key: str = "", haste: Haste = Haste.PERSON, **arguments: Any
    ) -> tuple[dict[str, Any], Mapping[str, Any]]:
        """Return the answer and its headers; raise what `call` raises."""
        channel = str(arguments.get("channel") or "")
        known_by = key or "\n".join(str(arguments.get(name) or "") for name in NAMES_A_CALL)
        async with self._pacing.turn(method, channel=channel, key=known_by, haste=haste):
            return await self._answered(method, limit_s or self._limit_s, arguments)

    async def _answered(
        self, method: str, limit_s: float, arguments: Mapping[str, Any]
    ) -> tuple[dict[str, Any], Mapping[str, Any]]:
        function = getattr(self.client, method.replace(".", "_"))
        try:
            async with asyncio.timeout(limit_s):
                response = await function(**arguments)
        except FOREIGN as error:
            ours = mapped(method, error, variable=self._variable)
            if isinstance(ours, TokenRefused):
                self.refused = str(ours)
            raise ours from error
        self.refused = ""
        body = response.data
        return dict(body) if isinstance(body, Mapping) else {}, response.headers

    async def attempt(self, method: str, *, limit_s: float | None = None, **arguments: Any) -> str:
        """Return why the call failed, empty when it did not; for what nobody waits for: in a rush it is let go."""
        try:
            await self.call(method, limit_s=limit_s, haste=Haste.DECORATION, **arguments)
        except SlackRefused as error:
            log.debug("let go", extra={"method": method, "error": error.error})
            return error.code
        except TransientError as error:
            log.debug("let go", extra={"method": method, "error": str(error)})
            return UNAVAILABLE
        return ""

    async def pages(
        self, method: str, field: str, *, max_pages: int = MAX_PAGES, **arguments: Any
    ) -> AsyncIterator[list[Any]]:
        """Yield the list `field` of each page, at most `max_pages` of them."""
        cursor = ""
        for _ in range(max_pages):
            page = await self.call(method, **arguments | {"limit": PAGE_SIZE} | ({"cursor": cursor} if cursor else {}))
            yield list(page.get(field) or ())
            cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                return
