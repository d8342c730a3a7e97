"""Answers where somebody pressed or wrote a command: through its response_url, five times within half an hour.

https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import aiohttp

from hermes_bot.edge.text import TEXT_CHARACTERS, clipped
from hermes_bot.edge.views.look import Json

LIMIT_S = 5.0


class Responder:
    """Posts to response_urls; what does not come through is the caller's to say in another way."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def whisper(self, response_url: str, text: str, blocks: Sequence[Json] = ()) -> bool:
        """Return whether Slack took the words, escaped already, for the one person alone."""
        said: Json = {"response_type": "ephemeral", "replace_original": False, "text": clipped(text, TEXT_CHARACTERS)}
        return await self.say(response_url, said | ({"blocks": list(blocks)} if blocks else {}))

    async def say(self, response_url: object, said: Json, *, limit_s: float = LIMIT_S) -> bool:
        """Return whether Slack took it."""
        if not isinstance(response_url, str) or not response_url.startswith(("https://", "http://")):
            return False
        try:
            async with asyncio.timeout(limit_s), self._session.post(response_url, json=said) as answer:
                return answer.status == 200
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return False
