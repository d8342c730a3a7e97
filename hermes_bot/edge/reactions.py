"""Shows that a message was taken up, by a reaction that goes away once it is answered: `slack.seen_reaction`.

It is for workspaces in which the app is no agent and has no status. Nobody waits for it: what Slack refuses is let go,
and when it is busy or away there are none for a minute. Which message has the reaction is kept, so that a new process
takes it away too. https://docs.slack.dev/reference/methods/reactions.add
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from weakref import WeakValueDictionary

from hermes_bot.edge.posts import Post, Posts
from hermes_bot.edge.slack_api import UNAVAILABLE, SlackApi

LIMIT_S = 2.0
REST = timedelta(minutes=1)
STANDS = frozenset({"", "already_reacted", UNAVAILABLE})
"""After which answers to reactions.add the reaction stands, or may."""
USELESS = frozenset({"missing_scope", "invalid_name", "unknown_method", "not_allowed_token_type"})
"""What would be refused the next time as well."""

log = logging.getLogger(__name__)


class Reactions:
    """Puts the reaction called `name` on messages; at most one message of a ticket has it."""

    def __init__(self, api: SlackApi, posts: Posts, *, name: str, clock: Callable[[], datetime]) -> None:
        self._api = api
        self._posts = posts
        self._name = name
        self._clock = clock
        self._rests_until: datetime | None = None
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def show(self, ticket_id: str, channel: str, ts: str, *, still: Callable[[], bool]) -> None:
        """Put the reaction on the message, and take it from the one of the ticket's that had it before.

        Not where it is no longer in work once its turn has come: `still` says so.
        """
        if not ts or self._resting():
            return
        async with self._one_by_one(ticket_id):
            old = await self._posts.find(_key(ticket_id))
            if still() and (old is None or (old.channel, old.ts) != (channel, ts)):
                await self._taken_from(old)
                await self._put_on(ticket_id, channel, ts)

    async def clear(self, ticket_id: str) -> None:
        """Take the reaction away, where the ticket has one; while Slack is busy it stays until the ticket changes."""
        if self._resting():
            return
        async with self._one_by_one(ticket_id):
            await self._taken_from(await self._posts.find(_key(ticket_id)))

    async def _put_on(self, ticket_id: str, channel: str, ts: str) -> None:
        if self._resting():
            return
        # Remembered before: if the answer gets lost, the reaction may stand.
        await self._posts.record(Post(key=_key(ticket_id), channel=channel, ts=ts))
        if await self._asked("reactions.add", channel, ts) not in STANDS:
            await self._posts.forget(_key(ticket_id))

    async def _taken_from(self, old: Post | None) -> None:
        if old is not None and await self._asked("reactions.remove", old.channel, old.ts) != UNAVAILABLE:
            await self._posts.forget(old.key)

    async def _asked(self, method: str, channel: str, ts: str) -> str:
        refused = await self._api.attempt(method, limit_s=LIMIT_S, channel=channel, timestamp=ts, name=self._name)
        if refused == UNAVAILABLE:
            self._rests_until = self._clock() + REST
        elif refused in USELESS and self._name:
            log.warning("no reactions any more: slack.seen_reaction cannot be shown", extra={"error": refused})
            self._name = ""
        return refused

    def _one_by_one(self, ticket_id: str) -> asyncio.Lock:
        """Return the ticket's turn: a reaction is not taken away before it stands."""
        return self._turns.setdefault(ticket_id, asyncio.Lock())

    def _resting(self) -> bool:
        return not self._name or (self._rests_until is not None and self._clock() < self._rests_until)


def _key(ticket_id: str) -> str:
    return f"seen:{ticket_id}"
