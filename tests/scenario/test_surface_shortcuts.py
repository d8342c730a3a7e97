"""The shortcuts of a message: "Make a ticket" makes one, once, for its author; "Explain" tells staff; in both modes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.edge.manifest import SHORTCUT_EXPLAIN, SHORTCUT_TICKET
from hermes_bot.workspace.people import Channel, World
from hermes_bot.workspace.posts import Post
from tests.scenario.acts import command, shortcut
from tests.scenario.cases import GUEST, MORE, SHARED, STRANGER, playing
from tests.scenario.field import bot_posts, deliver, held, rows, ticket_count, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import CORNER, HANDOFF, OMAR, SUPPORT, Buyer, Stage, Talk

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET, SILENT = "C0SECRET", "C0SILENT"
MENTIONS = {"HERMES_SLACK__SUPPORT_CHANNELS": json.dumps([SUPPORT])}
OFF = {"HERMES_SLACK__CHANNELS": json.dumps({SILENT: {"mode": "off"}})}


def with_a_secret(world: World) -> World:
    """Return the world with a private channel without the bot, and one in which it is to be silent."""
    everybody = tuple(each.id for each in world.members if not each.deactivated and not each.stranger)
    secret = Channel(id=SECRET, name="secret", private=True, members=everybody)
    silent = Channel(id=SILENT, name="silent", members=(*everybody, world.app.user))
    channels = tuple(_joined(each, OMAR) if each.id == CORNER else each for each in world.channels)
    return replace(world, channels=(*channels, secret, silent))


def _joined(channel: Channel, user: str) -> Channel:
    return replace(channel, members=(*channel.members, user))


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    """A bot that waits for mentions in the corner, so that a message there is no ticket."""
    folder = tmp_path_factory.mktemp("shortcuts")
    async with playing(request.param, folder, vectors, more=MORE | MENTIONS | OFF, shaped=with_a_secret) as stage:
        yield stage


async def unheard(stage: Stage, buyer: Buyer, text: str = "", channel: str = CORNER) -> Talk:
    """Return what a customer says where the bot waits for mentions."""
    return await stage.say(buyer.user, channel, text or f"Where is my order {buyer.order.id}?")


async def make(stage: Stage, user: str, talk: Talk) -> str:
    """Return what the person reads who makes a ticket of it."""
    return await shortcut(stage, user, SHORTCUT_TICKET, talk.channel, talk.ts)


async def test_its_author_makes_a_ticket_of_it_and_is_answered_in_its_thread(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await unheard(stage, buyer)
    await stage.quiet()
    assert tickets_of(stage, talk) == []

    assert "It is a ticket now" in await make(stage, buyer.user, talk)
    assert "was delivered" in await stage.answer(talk)
    more = await stage.say(buyer.user, CORNER, "And what did I order?", talk.root)
    await stage.answer(more)
    await stage.quiet()
    assert [each["requester"] for each in tickets_of(stage, talk)] == [buyer.user]
    assert buyer.order.id in await command(stage, buyer.user, "tickets")


async def test_staff_make_one_for_the_author_whose_ticket_it_is(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await unheard(stage, buyer)

    assert "It is a ticket now" in await make(stage, OMAR, talk)
    assert "was delivered" in await stage.answer(talk)
    await stage.quiet()
    assert [each["requester"] for each in tickets_of(stage, talk)] == [buyer.user]


async def test_a_reply_deep_in_a_thread_becomes_a_ticket_of_that_thread(stage: Stage) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    root = await unheard(stage, other, "Does anybody know?")
    reply = await stage.say(buyer.user, CORNER, f"Where is my order {buyer.order.id}?", root.ts)
    await stage.quiet()  # let go, since nobody called the bot

    assert "It is a ticket now" in await make(stage, buyer.user, reply)
    assert "was delivered" in await stage.answer(reply)
    await stage.quiet()
    assert [(each["requester"], each["thread_ts"]) for each in tickets_of(stage, reply)] == [(buyer.user, root.ts)]


async def test_nobody_else_can_and_nothing_is_made(stage: Stage) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    talk = await unheard(stage, buyer)
    shared = await stage.say(STRANGER, SHARED, "Where is my order?")
    tickets = ticket_count(stage)

    assert "Only whoever wrote the message" in await make(stage, other.user, talk)
    assert "people of this company" in await make(stage, STRANGER, shared)
    await stage.quiet()
    assert ticket_count(stage) == tickets


async def test_a_guest_makes_one_of_their_own_words(stage: Stage) -> None:
    stage.workspace.roster.join(stage.workspace.roster.channel(CORNER), GUEST)
    talk = await stage.say(GUEST, CORNER, "Where is my order?")

    assert "It is a ticket now" in await make(stage, GUEST, talk)
    await stage.until(lambda: stage.replies(talk) or stage.whispers(GUEST, "order"))
    await stage.quiet()
    assert [each["requester"] for each in tickets_of(stage, talk)] == [GUEST]


async def test_a_strangers_words_in_a_shared_channel_become_a_strangers_ticket_by_staff(stage: Stage) -> None:
    talk = await stage.say(STRANGER, SHARED, "Where is my order 10002?")
    await stage.quiet()

    assert "It is a ticket now" in await make(stage, OMAR, talk)
    assert "on its way" not in await stage.answer(talk)
    await stage.quiet()
    assert [each["requester"] for each in tickets_of(stage, talk)] == [STRANGER]


async def test_of_what_no_person_wrote_none_is_made(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await unheard(stage, buyer)
    await make(stage, buyer.user, talk)
    await stage.answer(talk)
    await stage.quiet()
    ours = stage.replies(talk)[0].ts
    webhook = stage.workspace.odd.webhook(CORNER, "Disk full on host seven")
    bot = stage.workspace.odd.other_bot(CORNER, "I am a bot", user="U0OTHERBOT")
    tickets = ticket_count(stage)

    for ts in (ours, webhook, bot):
        assert "Nobody wrote that message" in await shortcut(stage, OMAR, SHORTCUT_TICKET, CORNER, ts)
    await stage.quiet()
    assert ticket_count(stage) == tickets


async def test_a_message_without_text_is_taken_for_what_it_forwards_or_for_its_files_or_refused(stage: Stage) -> None:
    buyer = stage.next_buyer()
    said = await unheard(stage, buyer)
    forwarded = stage.workspace.odd.forward(buyer.user, CORNER, CORNER, said.ts)
    picture = await stage.workspace.upload(buyer.user, CORNER, "broken.png", b"\x89PNG")
    empty = Post(channel=CORNER, ts=stage.workspace.posts.next_ts(), user=buyer.user, text="")
    stage.workspace.conversations.post(empty)
    tickets = ticket_count(stage)

    assert "neither words nor files" in await shortcut(stage, buyer.user, SHORTCUT_TICKET, CORNER, empty.ts)
    await stage.quiet()
    assert ticket_count(stage) == tickets
    assert "It is a ticket now" in await shortcut(stage, buyer.user, SHORTCUT_TICKET, CORNER, forwarded)
    assert "It is a ticket now" in await shortcut(stage, buyer.user, SHORTCUT_TICKET, CORNER, picture)
    await stage.quiet()
    subjects = [row["subject"] for row in rows(stage, "SELECT subject FROM tickets ORDER BY number DESC LIMIT 2")]
    assert buyer.order.id in subjects[1]
    assert "broken.png" in subjects[0]


async def test_where_the_bot_is_not_or_takes_nothing_the_person_is_told_how_to_go_on(stage: Stage) -> None:
    buyer = stage.next_buyer()
    secret, silent = await unheard(stage, buyer, channel=SECRET), await unheard(stage, buyer, channel=SILENT)
    cards = Talk(user=OMAR, channel=HANDOFF, ts=await stage.workspace.post(OMAR, HANDOFF, "Where is it?"), root="")
    tickets = ticket_count(stage)

    assert "/invite @Hermes" in await make(stage, buyer.user, secret)
    assert "no requests in that channel" in await make(stage, buyer.user, silent)
    assert "no requests in that channel" in await make(stage, OMAR, cards)
    await stage.quiet()
    assert ticket_count(stage) == tickets


@pytest.mark.parametrize("direct", [False, True])
async def test_of_a_message_that_is_one_already_no_second_is_made(stage: Stage, direct: bool) -> None:
    buyer = stage.next_buyer()
    channel = buyer.dm if direct else SUPPORT
    talk = await stage.say(buyer.user, channel, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    await stage.quiet()
    tickets = ticket_count(stage)
    newest = rows(stage, "SELECT number FROM tickets WHERE requester = ?", buyer.user)[-1]["number"]

    assert f"already: T-{newest}" in await make(stage, buyer.user, talk)
    await stage.quiet()
    assert ticket_count(stage) == tickets
    assert len(stage.replies(talk)) == 1


async def test_pressed_by_two_people_at_once_and_twice_it_is_one_ticket_and_one_answer(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await unheard(stage, buyer)
    people = (buyer.user, OMAR, buyer.user, OMAR)
    press = stage.workspace.shortcut
    outcomes = await asyncio.gather(*(press(user, SHORTCUT_TICKET, CORNER, talk.ts) for user in people))
    assert all(outcome.ok for outcome in outcomes)
    await stage.answer(talk)
    await stage.quiet()

    assert len(tickets_of(stage, talk)) == 1
    assert len(stage.replies(talk)) == 1
    assert len(stage.workspace.ephemerals(buyer.user)) == 2


@pytest.mark.parametrize("late", [False, True])
async def test_a_message_and_the_shortcut_of_it_are_one_whichever_comes_first(stage: Stage, late: bool) -> None:
    buyer = stage.next_buyer()
    with held(stage) as bodies:
        talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    if not late:
        deliver(stage, *bodies)
    assert (await stage.workspace.shortcut(buyer.user, SHORTCUT_TICKET, SUPPORT, talk.ts)).ok
    await stage.answer(talk)
    if late:
        deliver(stage, *bodies)
    await stage.quiet()

    assert len(tickets_of(stage, talk)) == 1
    assert len(stage.replies(talk)) == 1
    (ticket,) = tickets_of(stage, talk)
    assert len(rows(stage, "SELECT * FROM ticket_messages WHERE ticket_number = ?", ticket["number"])) == 1


async def test_explain_tells_staff_alone_and_makes_nothing(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await unheard(stage, buyer, "Where is my parcel?")
    empty = Post(channel=CORNER, ts=stage.workspace.posts.next_ts(), user=buyer.user, text="")
    stage.workspace.conversations.post(empty)
    tickets, posts = ticket_count(stage), len(bot_posts(stage))

    assert "route 'order'" in await shortcut(stage, OMAR, SHORTCUT_EXPLAIN, CORNER, talk.ts)
    assert "neither words nor files" in await shortcut(stage, OMAR, SHORTCUT_EXPLAIN, CORNER, empty.ts)
    assert "support team" in await shortcut(stage, buyer.user, SHORTCUT_EXPLAIN, CORNER, talk.ts)
    secret = await stage.workspace.post(OMAR, SECRET, "Where is my parcel?")
    assert "route 'order'" in await shortcut(stage, OMAR, SHORTCUT_EXPLAIN, SECRET, secret)
    await stage.quiet()
    assert (ticket_count(stage), len(bot_posts(stage))) == (tickets, posts)
