"""Field cases of kind C, loops: C1, C4 and their relatives, over sockets and over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace import wire
from hermes_bot.workspace.posts import Post
from tests.scenario.cases import MORE, playing
from tests.scenario.field import (
    APP_ID,
    BOT,
    BOT_ID,
    Json,
    bot_posts,
    deliver,
    happens,
    held,
    noted,
    ticket_count,
    tickets_of,
)
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import CORNER, HANDOFF, SUPPORT, Stage, key_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    more = MORE | {"HERMES_SLACK__CHANNELS": json.dumps({CORNER: {"webhooks": True}})}
    async with playing(request.param, tmp_path_factory.mktemp("cases"), vectors, more=more) as stage:
        yield stage


def echoes(stage: Stage, post: Post) -> list[Json]:
    """Return the bot's own post in the shapes in which Slack may tell the bot of it."""
    kind = "im" if post.channel.startswith("D") else "channel"
    plain = wire.message(post, stage.workspace.roster) | {"channel": post.channel, "channel_type": kind}
    bare = {key: value for key, value in plain.items() if key not in ("bot_id", "bot_profile", "app_id", "user")}
    return [
        plain,
        bare | {"bot_id": BOT_ID},
        bare | {"user": BOT},
        bare | {"user": BOT, "app_id": APP_ID},
        bare | {"bot_id": BOT_ID, "subtype": "bot_message", "username": "Hermes"},
        bare | {"user": BOT, "bot_profile": {"id": BOT_ID, "app_id": APP_ID}},
        bare | {"user": BOT, "type": "app_mention"},
        bare | {"user": BOT, "subtype": "thread_broadcast"},
        bare | {"user": "U0EMMA", "app_id": APP_ID},  # posted by our app in somebody's name
    ]


async def test_c1_the_bots_own_reply_that_comes_back_starts_nothing(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    await stage.quiet()
    tickets, posts = ticket_count(stage), len(bot_posts(stage))
    reply = stage.replies(talk)[0]
    for number, echo in enumerate([*echoes(stage, reply), *echoes(stage, replace(reply, thread_ts=""))]):
        ts = f"{reply.ts[:-2]}{number:02}"
        happens(stage, echo | {"ts": ts, "event_ts": ts, "text": "Where is my order?"})
    await stage.quiet()

    assert ticket_count(stage) == tickets
    assert len(bot_posts(stage)) == posts


async def test_c1_the_bots_direct_messages_and_cards_that_come_back_start_nothing(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, buyer.dm, "Can I talk to a person?")
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    await stage.quiet()
    tickets, posts = ticket_count(stage), len(bot_posts(stage))
    mine = [card, *(post for post in bot_posts(stage) if post.channel == buyer.dm)]
    assert {post.channel for post in mine} == {buyer.dm, HANDOFF}
    for post in mine:
        for number, echo in enumerate(echoes(stage, post)):
            ts = f"{post.ts[:-2]}{number:02}"
            happens(stage, echo | {"ts": ts, "event_ts": ts, "text": "Where is my order?"})
    await stage.quiet()

    assert ticket_count(stage) == tickets
    assert len(bot_posts(stage)) == posts


async def test_c1_the_bots_own_edit_and_deletion_start_nothing(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    await stage.quiet()
    posts = len(bot_posts(stage))
    reply = stage.replies(talk)[0]
    stage.workspace.conversations.edit(reply, replace(reply, text="Where is my order?", edited_by=BOT))
    stage.workspace.conversations.delete(stage.now(reply))
    await stage.quiet()

    assert len(bot_posts(stage)) == posts - 1
    assert len(tickets_of(stage, talk)) == 1


async def test_c4_what_a_webhook_says_in_the_support_channel_starts_nothing(stage: Stage) -> None:
    tickets, posts = ticket_count(stage), len(bot_posts(stage))
    odd = stage.workspace.odd
    odd.webhook(SUPPORT, "Where is my order?")
    odd.webhook(SUPPORT, f"<@{BOT}> where is my order?")
    stage.workspace.odd.webhook(HANDOFF, "I want a refund")
    await stage.quiet()

    assert ticket_count(stage) == tickets
    assert len(bot_posts(stage)) == posts


ALERT: Json = {"type": "message", "channel": CORNER, "channel_type": "channel", "text": "", "bot_id": "B0WATCH"}
WAYS = ("by webhook", "by token", "in attachments", "in blocks")


def alert(way: str, words: str) -> Json:
    """Return what a monitor says, in one of the ways in which programs post."""
    section = {"type": "section", "text": {"type": "mrkdwn", "text": words}}
    ways: dict[str, Json] = {
        "by webhook": {"subtype": "bot_message", "username": "watch", "text": words},
        "by token": {"user": "U0WATCH", "app_id": "A0WATCH", "text": words},
        "in attachments": {"subtype": "bot_message", "attachments": [{"title": words, "text": "99 %"}]},
        "in blocks": {"user": "U0WATCH", "blocks": [section]},
    }
    return ALERT | ways[way]


@pytest.mark.parametrize("way", WAYS)
async def test_c4_where_the_configuration_says_so_what_a_program_posts_is_one_ticket_for_people(
    stage: Stage, way: str
) -> None:
    tickets, words = ticket_count(stage), f"Disk full, told {way}"
    with held(stage) as bodies:
        ts = stage.workspace.odd.webhook(CORNER, "Only for its ts")
    body = bodies[0] | {"event": alert(way, words) | {"ts": ts, "event_ts": ts}}
    deliver(stage, body, body)
    await stage.card("handoff", words)
    await stage.quiet()
    posts = len(bot_posts(stage))
    reply = ALERT | {"text": "Still full", "thread_ts": ts, "user": "U0WATCH"}
    mine = ALERT | {"bot_id": BOT_ID, "user": BOT, "text": "Disk full"}
    for number, event in enumerate((reply, mine, mine | {"subtype": "bot_message"})):
        happens(stage, event | {"ts": f"{ts[:-2]}{number:02}", "event_ts": ts})
    await stage.quiet()

    assert ticket_count(stage) == tickets + 1
    assert len(bot_posts(stage)) == posts


async def test_c4_two_bots_do_not_talk_to_each_other(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, "Can I talk to a person?")
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    await stage.quiet()
    tickets, posts = ticket_count(stage), len(bot_posts(stage))
    for text in ("Where is my order?", f"<@{BOT}> where is my order?", f"<@{BOT}> suggest"):
        stage.workspace.odd.other_bot(SUPPORT, text, user="U0ROBOT")
        stage.workspace.odd.other_bot(SUPPORT, text, user="U0ROBOT", thread_ts=talk.root)
        stage.workspace.odd.other_bot(HANDOFF, text, user="U0ROBOT", thread_ts=card.ts)
    await stage.quiet()

    assert ticket_count(stage) == tickets
    assert len(bot_posts(stage)) == posts
    assert all(key_of(post) for post in bot_posts(stage))  # each of its posts has a reason of its own


async def test_c4_a_webhook_in_the_thread_of_a_ticket_is_not_the_customer(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, "Can I talk to a person?")
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    shape = {"type": "message", "channel": SUPPORT, "channel_type": "channel", "subtype": "bot_message"}
    ts = f"{talk.ts[:-2]}77"
    happens(stage, shape | {"bot_id": "B0HOOK", "text": "Paged", "ts": ts, "event_ts": ts, "thread_ts": talk.root})
    await stage.quiet()

    assert noted(stage, card) == []
    assert len(tickets_of(stage, talk)) == 1
