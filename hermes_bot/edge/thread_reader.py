"""Reads what stands in a thread that the bot is called into: the parent, and the last replies before the call.

Slack gives replies oldest first, page by page (https://docs.slack.dev/reference/methods/conversations.replies). One
that is longer than a few pages is read from its end: the minutes before the call first, then hours, days, months.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hermes_bot.edge.files import named_files
from hermes_bot.edge.inbound import BOT_MESSAGE, SLACKBOT, SPOKEN_SUBTYPES, Bot, identifier
from hermes_bot.edge.slack_api import PAGE_SIZE, SlackApi
from hermes_bot.edge.spoken import mappings, reported, spoken
from hermes_bot.edge.text import decode, shorten
from hermes_bot.errors import NotYet, PermanentError, TransientError
from hermes_bot.messages.payloads import Inbound
from hermes_bot.tickets.thread import FILE, ThreadLine, Writer

MOST_PAGES = 5
SPANS_S = (600, 7_200, 86_400, 1_000_000, 12_000_000)
LINE_CHARACTERS = 1_000
LEAST_CHARACTERS = 40
LIMIT_S, PATIENCE_S = 8.0, 3.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadBounds:
    """How many replies are kept, and how many characters with the parent. No messages: nothing is read."""

    messages: int = 20
    characters: int = 6_000


@dataclass(slots=True)
class _Found:
    """The parent, and the last replies as far as they were read."""

    last: deque[ThreadLine]
    parent: ThreadLine | None = None
    replies: int = 0  # as many as the parent says that there are


class SlackThreads:
    """Reads with `conversations.replies`. It never raises for Slack: what cannot be read is no context."""

    def __init__(
        self,
        api: SlackApi,
        bot: Bot,
        bounds: ThreadBounds,
        *,
        limit_s: float = LIMIT_S,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._api = api
        self._bot = bot
        self._bounds = bounds
        self._limit_s = limit_s
        self._sleep = sleep

    async def before(self, inbound: Inbound) -> Sequence[ThreadLine]:
        """Return the parent and the last replies before this one, oldest first; of a failure what is sure."""
        if not inbound.thread_ts or not self._bounds.messages:
            return ()
        found = _Found(deque(maxlen=self._bounds.messages))
        try:
            async with asyncio.timeout(self._limit_s):
                if not await self._from_the_start(inbound, found):
                    found.last = await self._from_the_end(inbound)
        except (TransientError, PermanentError, TimeoutError) as error:
            found.last.clear()  # they may be any but the last
            log.warning("a thread was not read", extra={"channel": inbound.channel, "error": str(error)})
        return fitted(found.parent, found.last, self._bounds)

    async def _from_the_start(self, inbound: Inbound, found: _Found) -> bool:
        """Return whether the last replies were reached; of a thread that is too long the first page is read alone."""
        cursor = ""
        for _ in range(MOST_PAGES):
            messages, cursor = await self._page(inbound, cursor)
            for message in messages:
                if message.get("ts") == inbound.thread_ts:
                    count = message.get("reply_count")
                    found.parent, found.replies = self._line(message, inbound), count if isinstance(count, int) else 0
                elif (line := self._line(message, inbound)) is not None:
                    found.last.append(line)
            if not cursor:
                return True
            if found.replies > MOST_PAGES * PAGE_SIZE:
                return False
        return False

    async def _from_the_end(self, inbound: Inbound) -> deque[ThreadLine]:
        """Return the last replies, looked for further and further back until there are enough."""
        last = deque[ThreadLine](maxlen=self._bounds.messages)
        for span_s in SPANS_S:
            since = f"{max(0, int(float(inbound.ts)) - span_s)}.000000"
            further, cursor = deque[ThreadLine](maxlen=self._bounds.messages), ""
            for _ in range(MOST_PAGES):
                messages, cursor = await self._page(inbound, cursor, oldest=since)
                replies = (each for each in messages if each.get("ts") != inbound.thread_ts)
                further.extend(line for each in replies if (line := self._line(each, inbound)) is not None)
                if not cursor:
                    break
            if cursor:  # too many to read in this span, so that the end was not reached
                return last or further
            last = further
            if len(last) == self._bounds.messages:
                break
        return last

    async def _page(self, inbound: Inbound, cursor: str, **more: str) -> tuple[list[Mapping[str, Any]], str]:
        arguments: dict[str, Any] = {"channel": inbound.channel, "ts": inbound.thread_ts, "latest": inbound.ts, **more}
        if cursor:
            arguments["cursor"] = cursor
        page = await self._asked(arguments)
        metadata = page.get("response_metadata")
        following = metadata.get("next_cursor") if isinstance(metadata, Mapping) else ""
        return mappings(page.get("messages")), str(following or "")

    async def _asked(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the answer; a turn that comes within moments is waited for, once."""
        try:
            return await self._api.call("conversations.replies", limit=PAGE_SIZE, **arguments)
        except NotYet as error:
            if error.wait_s > PATIENCE_S:
                raise
            await self._sleep(error.wait_s)
        return await self._api.call("conversations.replies", limit=PAGE_SIZE, **arguments)

    def _line(self, message: Mapping[str, Any], inbound: Inbound) -> ThreadLine | None:
        """Return the message as a line; None for what is nobody's words, and for what we said in between."""
        ts, root = identifier(message.get("ts")), message.get("ts") == inbound.thread_ts
        writer = self._writer(message, inbound)
        if writer is None or not ts or ts == inbound.ts or (writer is Writer.HERMES and not root):
            return None
        said = reported(message) if writer in (Writer.PROGRAM, Writer.HERMES) else spoken(message)
        files = [f"{FILE}{name}]" for name in named_files(message)]
        text = "\n".join([*filter(None, [decode(said, bot_user=self._bot.user)]), *files])
        user = identifier(message.get("user")) or identifier(message.get("bot_id"))
        return ThreadLine(ts=ts, user=user, writer=writer, text=text, root=root) if text else None

    def _writer(self, message: Mapping[str, Any], inbound: Inbound) -> Writer | None:
        subtype, user = message.get("subtype") or "", message.get("user")
        if message.get("hidden") or user == SLACKBOT or subtype not in (*SPOKEN_SUBTYPES, BOT_MESSAGE):
            return None
        if user == self._bot.user or (self._bot.bot and message.get("bot_id") == self._bot.bot):
            return Writer.HERMES
        if message.get("bot_id") or message.get("bot_profile") or subtype == BOT_MESSAGE:
            return Writer.PROGRAM
        if not identifier(user):
            return None
        team = self._bot.team_named(message.get("user_team")) or self._bot.team_named(message.get("team"))
        same_team = not team or not inbound.user_team or team == inbound.user_team
        return Writer.CUSTOMER if user == inbound.user and same_team else Writer.PERSON


def fitted(parent: ThreadLine | None, last: Sequence[ThreadLine], bounds: ThreadBounds) -> list[ThreadLine]:
    """Return the lines within the bounds, the parent first: at most a third for it, then the newest first."""
    kept: list[ThreadLine] = []
    head = [] if parent is None else [_cut(parent, bounds.characters // 3)]
    left = bounds.characters - sum(len(line.text) for line in head)
    for line in reversed(last):
        if left < LEAST_CHARACTERS:
            break
        kept.insert(0, _cut(line, min(LINE_CHARACTERS, left)))
        left -= len(kept[0].text)
    return [*head, *kept]


def _cut(line: ThreadLine, limit: int) -> ThreadLine:
    return replace(line, text=shorten(line.text, limit))
