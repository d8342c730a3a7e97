"""Whose turn it is to call Slack: a budget for each method and, for posts, each channel.

Slack counts the calls of a method in a workspace, and posts in each channel besides; see
https://docs.slack.dev/apis/web-api/rate-limits. Nobody sleeps in here: who has to wait gets a place in the line and is
told when to come back, by `NotYet`, which costs a delivery no attempt. Within a budget what people wait for goes before
notices, the last calls of it are kept for them, and decorations that it has no room for are let go. Each process keeps
budgets of its own; where several share a workspace, Slack's 429 tells them to slow down.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic

from hermes_bot.edge.lines import SOON_S, Budget, Haste, Line
from hermes_bot.edge.slack_errors import RateLimited
from hermes_bot.errors import NotYet

POST = "chat.postMessage"
IN_A_CHANNEL = frozenset({POST, "chat.startStream"})
NEVER_HELD_UP = frozenset(
    {
        "views.open",  # a trigger lives for three seconds
        "auth.test",
        "apps.connections.open",
        "chat.stopStream",  # as many as were started, and what was begun has to end
    }
)
PER_MINUTE: Mapping[str, int] = {
    "agents.sessions.setStatus": 50,
    "assistant.threads.setSuggestedPrompts": 100,
    "chat.appendStream": 100,
    "chat.delete": 50,
    "chat.getPermalink": 100,
    "chat.postEphemeral": 100,
    "chat.startStream": 20,
    "chat.update": 50,
    "conversations.history": 50,
    "conversations.info": 50,
    "conversations.list": 20,
    "conversations.members": 100,
    "conversations.open": 50,
    "conversations.replies": 50,
    "reactions.add": 50,
    "reactions.remove": 20,
    "usergroups.users.list": 20,
    "users.info": 100,
    "views.publish": 100,
}
"""What Slack grants at least, by the tier of the method."""

UNKNOWN_PER_MINUTE = 20
MOST_LINES = 5_000
TURN_LIMIT_S = 2.0
EARLY_S = 0.005
LONGEST_GROWN_S = 60.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What may be used once Slack has refused a call, and `until_refused` times as much before.

    `tier_minutes`: of another method than a post, so many minutes' worth at once.
    """

    posts_a_second: float = 1.0
    posts_at_once: int = 100
    posts_a_minute: int = 300
    tier_minutes: float = 3.0
    until_refused: float = 10.0


class Pacing:
    """Lets calls through in turn. `steady` is a clock that never jumps, in seconds."""

    def __init__(self, limits: Limits | None = None, *, steady: Callable[[], float] = monotonic) -> None:
        self._limits = limits or Limits()
        self._steady = steady
        self._lines: OrderedDict[tuple[str, str], Line] = OrderedDict()

    @asynccontextmanager
    async def turn(
        self, method: str, *, channel: str = "", key: str, haste: Haste = Haste.PERSON
    ) -> AsyncIterator[None]:
        """Hold the turn for one call; `key` says which it is, so that it finds its place again.

        Raise NotYet while it is not its turn, and when Slack turns the call away. In one channel one post is under way
        at a time, so that none overtakes another.
        """
        if method in NEVER_HELD_UP:
            yield
            return
        lines = self._lines_of(method, channel)
        async with self._alone(lines, key, haste):
            self._enter(lines, key, haste)
            try:
                yield
            except RateLimited as error:
                kept = "" if haste is Haste.DECORATION else key
                raise self._turned_away(lines, method, channel, kept, error) from error
            for line in lines:
                line.refusals = 0

    def _enter(self, lines: Sequence[Line], key: str, haste: Haste) -> None:
        """Take one call out of every budget, or stand in the lines and raise NotYet."""
        now = self._steady()
        waits = [line.wait_s(key, haste, now) for line in lines]
        if max(waits) > EARLY_S:
            longest = lines[waits.index(max(waits))]
            raise self._to_wait([lines[0], longest], key, haste, max(waits))
        for line in lines:
            line.go(key, now)

    def _to_wait(self, lines: Sequence[Line], key: str, haste: Haste, wait_s: float) -> NotYet:
        """Keep the call's place in its channel and in the line that it waits for, and in no other: it would hold up
        those who only wait for that.
        """
        if haste is not Haste.DECORATION:
            for line in lines:
                line.stand(key, haste, self._steady(), wait_s)
        return NotYet("slack: waits for its turn", retry_after_s=wait_s)

    def _turned_away(self, lines: Sequence[Line], method: str, channel: str, key: str, error: RateLimited) -> NotYet:
        """Let the line rest for as long as Slack says, longer each time in a row; the call stays the first in it."""
        now, line = self._steady(), lines[0] if method == POST else lines[-1]
        line.refusals += 1
        for each in lines:
            each.be_wary(now)
        rest_s = max(error.wait_s, min(2.0 ** min(line.refusals - 1, 10), LONGEST_GROWN_S))
        line.rest(key, now, rest_s)
        log.warning("slack: rate limited", extra={"method": method, "channel": channel, "wait_s": rest_s})
        return NotYet(str(error), retry_after_s=rest_s)

    @asynccontextmanager
    async def _alone(self, lines: Sequence[Line], key: str, haste: Haste) -> AsyncIterator[None]:
        """Be the only one who posts in the channel, in the order of coming; of other methods many calls may run."""
        if len(lines) == 1:
            yield
            return
        lock = lines[0].lock
        try:
            async with asyncio.timeout(TURN_LIMIT_S):
                await lock.acquire()
        except TimeoutError:
            raise self._to_wait(lines[:1], key, haste, SOON_S) from None
        try:
            yield
        finally:
            lock.release()

    def _lines_of(self, method: str, channel: str) -> list[Line]:
        """Return the lines in which the call stands, that of its channel first."""
        limits = self._limits
        if method == POST:
            a_minute, at_once = float(limits.posts_a_minute), float(limits.posts_a_minute)
        else:
            a_minute = float(PER_MINUTE.get(method, UNKNOWN_PER_MINUTE))
            at_once = a_minute * limits.tier_minutes
        lines = [self._line((method, ""), at_once, a_minute / 60)]
        if method in IN_A_CHANNEL:
            of_channel = self._line((POST, channel), limits.posts_at_once, limits.posts_a_second, strict=True)
            lines.insert(0, of_channel)
        return lines

    def _line(self, name: tuple[str, str], at_once: float, per_s: float, *, strict: bool = False) -> Line:
        line = self._lines.get(name)
        if line is None:
            budget = Budget(at_once, per_s, self._steady(), trust=self._limits.until_refused)
            line = self._lines[name] = Line(budget, strict=strict)
            if len(self._lines) > MOST_LINES:
                self._lines.popitem(last=False)
        self._lines.move_to_end(name)
        return line
