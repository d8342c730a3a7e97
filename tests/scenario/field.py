"""What Slack does to a bot in the field cases: events held, repeated, doubled and made up, and what came of them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

import pytest

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.couriers import Courier
from hermes_bot.workspace.posts import Post
from tests.scenario.stage import LIMIT_S, Stage, Talk, key_of

Json = dict[str, Any]
BOT, BOT_ID, APP_ID, TEAM = "U0HERMES", "B0HERMES", "A0HERMES", "T0HERMES"
LOOK_EVERY_S = 0.02
SETTLE_S, LONGEST_RETRY_S = 2.0, 301.0


def courier_of(stage: Stage) -> Courier:
    """Return the way to the bot."""
    return stage.workspace.couriers.of(stage.server.world.app)


@contextmanager
def held(stage: Stage) -> Iterator[list[Json]]:
    """Keep the bodies of the events that the block causes; nothing is delivered until a test sends it."""
    courier = courier_of(stage)
    bodies: list[Json] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(courier, "send_event", bodies.append)
        yield bodies


def deliver(stage: Stage, *bodies: Json) -> None:
    """Let events come, all at the same moment; a body that came before comes again with its event_id."""
    for body in bodies:
        courier_of(stage).send_event(body)


def happens(stage: Stage, event: Json) -> None:
    """Tell the bot of an event that nobody in the workspace caused."""
    stage.workspace.events.emit(event)


async def acknowledged(stage: Stage) -> None:
    """Wait until Slack knows of every event that the bot has it."""
    await stage.until(lambda: not stage.server.unsettled)


async def soon(true: Callable[[], object]) -> None:
    """Wait for a state that no change of the workspace announces."""
    async with asyncio.timeout(LIMIT_S):
        while not true():  # noqa: ASYNC110 - a file's state, or a call's that waits on the workspace's clock
            await asyncio.sleep(LOOK_EVERY_S)


def rows(stage: Stage, query: str, *values: object) -> list[Json]:
    """Return what stands in the bot's store."""
    with closing(sqlite3.connect(stage.data / "hermes.db")) as store:
        store.row_factory = sqlite3.Row
        return [dict(row) for row in store.execute(query, values).fetchall()]


def tickets_at(stage: Stage, channel: str, thread_ts: str) -> list[Json]:
    """Return the tickets of a thread."""
    return rows(stage, "SELECT * FROM tickets WHERE channel = ? AND thread_ts = ? ORDER BY number", channel, thread_ts)


def tickets_of(stage: Stage, talk: Talk) -> list[Json]:
    """Return the tickets of the thread in which the person spoke."""
    return tickets_at(stage, talk.channel, talk.root)


def talk_at(stage: Stage, user: str, channel: str, ts: str) -> Talk:
    """Return what a person said outside of threads, in whatever way it came there."""
    direct = stage.workspace.roster.channel(channel).kind == "dm"
    return Talk(user=user, channel=channel, ts=ts, root="" if direct else ts)


def noted(stage: Stage, card: Post) -> list[str]:
    """Return what stands under a ticket's card as said by the customer, or by others in the thread."""
    under = stage.workspace.posts.replies(card.channel, card.ts)
    return [post.text for post in under if key_of(post).startswith("noted:")]


def texts_of(post: Post) -> list[str]:
    """Return every text of a post as it was sent: the fallback, and all that stands in its blocks."""
    return [post.text, *_texts_in(list(post.blocks))]


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("text"), str) and value.get("type") in ("mrkdwn", "plain_text"):
            yield value["text"]
        for inner in value.values():
            yield from _texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts_in(inner)


def ticket_count(stage: Stage) -> int:
    """Return how many tickets there are."""
    return len(rows(stage, "SELECT number FROM tickets"))


def bot_posts(stage: Stage) -> list[Post]:
    """Return what the bot shows to more than one person; a ticket's card comes when it is drawn, and is left out."""
    posts = [post for post in stage.workspace.posts.all() if post.bot and post.user == BOT and not post.seen_by]
    return [post for post in posts if not key_of(post).startswith("ticket:")]


def tries_of(stage: Stage, event_id: str) -> int:
    """Return how often Slack has told the bot of this event: over HTTP with an answer, over a socket without."""
    http = stage.server.http
    sent = http.sent if http is not None else stage.server.sockets.deliveries.sent
    return sum(each.event_id == event_id for each in sent)


def _lost(stage: Stage, event_id: str, tries: int, left: int) -> bool:
    return tries_of(stage, event_id) == tries and stage.server.acks.waiting() == left


async def repeated(stage: Stage, clock: SettableClock, body: Json, times: int) -> None:
    """Deliver an event whose first acknowledgements get lost, so that Slack repeats it after 0 s, 60 s and 300 s."""
    await acknowledged(stage)  # or an earlier delivery of it would lose its own
    before = tries_of(stage, body["event_id"])
    stage.server.acks.lose(times, body["event_id"])
    deliver(stage, body)
    for number, delay_s in zip(range(1, times + 1), (0, 60, 300), strict=False):
        await soon(partial(_lost, stage, body["event_id"], before + number, times - number))
        clock.advance(3.5 + delay_s)
    await all_taken(stage, clock)


async def all_taken(stage: Stage, clock: SettableClock) -> None:
    """Wait until Slack knows that the bot has every event, on a clock that stands still.

    What was under way when a test moved the clock is late by it, and comes again one and five minutes later: the clock
    goes on until then, once nothing else can settle it.
    """
    async with asyncio.timeout(LIMIT_S):
        while stage.server.unsettled:
            try:
                await stage.workspace.wait_for(lambda: not stage.server.unsettled, SETTLE_S)
            except TimeoutError:
                clock.advance(LONGEST_RETRY_S)
