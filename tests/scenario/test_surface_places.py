"""Where people meet the bot: private channels, group messages, channels with a mode; in both modes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.messages.message import utc_now
from hermes_bot.tools.demo_shop import demo_shop
from hermes_bot.workspace.people import Channel, World
from tests.scenario.acts import command
from tests.scenario.cases import MORE, SHARED, playing
from tests.scenario.field import BOT, bot_posts, happens, ticket_count, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import OLIVIA, OMAR, SUPPORT, Stage, Talk, ask_for_refund

pytestmark = pytest.mark.asyncio(loop_scope="module")

EMMA, LINA = "U0EMMA", "U0LINA"
PRIVATE, SECRET, GROUP = "C0PRIVATE", "C0SECRET", "G0GROUP"
SILENT, CALLED, CHINESE, OPEN = "C0SILENT", "C0CALLED", "C0CHINESE", "C0OPEN"
WAYS = {
    SILENT: {"mode": "off"},
    "called": {"mode": "mentions"},  # by its name
    "#chinese": {"language": "zh"},
    "open": {"private_details": "thread"},
}


def places(world: World) -> World:
    """Return the world with a conversation of each kind; everybody is in each, and the bot in all but one."""
    everybody = tuple(each.id for each in world.members if not each.deactivated and not each.stranger)
    here = (*everybody, world.app.user)
    more = (
        Channel(id=PRIVATE, name="vip", private=True, members=here),
        Channel(id=SECRET, name="secret", private=True, members=everybody),
        Channel(id=GROUP, name="mpdm-1", kind="mpim", private=True, members=here),
        Channel(id=SILENT, name="silent", members=here),
        Channel(id=CALLED, name="called", members=here),
        Channel(id=CHINESE, name="chinese", members=here),
        Channel(id=OPEN, name="open", members=here),
    )
    return replace(world, channels=(*world.channels, *more))


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    more = MORE | {"HERMES_SLACK__CHANNELS": json.dumps(WAYS)}
    folder = tmp_path_factory.mktemp("places")
    async with playing(request.param, folder, vectors, more=more, shaped=places) as stage:
        yield stage


@pytest.mark.parametrize("channel, kind", [(PRIVATE, "group"), (GROUP, "mpim"), (SHARED, "channel")])
async def test_a_customer_is_answered_in_the_thread_and_told_private_things_alone(
    stage: Stage, channel: str, kind: str
) -> None:
    order = next(each for each in demo_shop(utc_now().date()).orders if each.id == "10002")
    before = len(stage.workspace.messages("D0EMMA"))
    talk = await stage.say(EMMA, channel, "Where is my order 10002?")
    answer = await stage.answer(talk)
    await stage.until(lambda: len(stage.workspace.messages("D0EMMA")) > before)
    await stage.quiet()

    assert "on its way to you" in answer
    assert "direct message" in answer
    assert order.tracking in stage.workspace.messages("D0EMMA")[-1]["text"]
    everywhere = [post for post in bot_posts(stage) if post.channel == channel]
    assert all(order.tracking not in repr(post) and order.address not in repr(post) for post in everywhere)
    assert [ticket["channel_type"] for ticket in tickets_of(stage, talk)] == [kind]


@pytest.mark.parametrize("channel", [PRIVATE, GROUP])
async def test_a_refund_asked_for_in_private_is_decided_where_those_who_decide_are(stage: Stage, channel: str) -> None:
    buyer = stage.next_buyer()

    talk, card = await ask_for_refund(stage, buyer, channel)

    assert (card.channel, card.thread_ts) == (channel, talk.root)


async def test_a_mention_and_its_message_are_one_in_a_group_message(stage: Stage) -> None:
    buyer = stage.next_buyer()
    ts = await stage.workspace.post(buyer.user, GROUP, f"<@{BOT}> where is my order {buyer.order.id}?", raw=True)
    talk = Talk(user=buyer.user, channel=GROUP, ts=ts, root=ts)
    assert "was delivered" in await stage.answer(talk)
    await stage.quiet()

    assert len(tickets_of(stage, talk)) == len(stage.replies(talk)) == 1


async def test_a_private_channel_without_the_bot_is_not_heard_and_a_command_there_is_answered(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SECRET, f"<@{BOT}> where is my order {buyer.order.id}?")
    said = await command(stage, buyer.user, "tickets", SECRET)
    await stage.quiet()

    assert tickets_of(stage, talk) == []
    assert "You have no requests yet." in said
    assert "/invite @Hermes" in said


async def test_a_channel_that_is_off_is_silent_even_when_the_bot_is_called(stage: Stage) -> None:
    buyer = stage.next_buyer()
    tickets, posts = ticket_count(stage), len(bot_posts(stage))
    for words in (f"Where is my order {buyer.order.id}?", f"<@{BOT}> help", "I want a human"):
        await stage.workspace.post(buyer.user, SILENT, words, raw=True)
    await stage.quiet()

    assert (ticket_count(stage), len(bot_posts(stage))) == (tickets, posts)


async def test_a_channel_of_mentions_that_goes_by_name_hears_mentions_alone(stage: Stage) -> None:
    buyer = stage.next_buyer()
    alone = await stage.say(buyer.user, CALLED, f"Where is my order {buyer.order.id}?")
    ts = await stage.workspace.post(buyer.user, CALLED, f"<@{BOT}> where is my order {buyer.order.id}?", raw=True)
    talk = Talk(user=buyer.user, channel=CALLED, ts=ts, root=ts)
    assert "was delivered" in await stage.answer(talk)
    await stage.quiet()

    assert tickets_of(stage, alone) == []
    assert stage.replies(alone) == []


async def test_a_channels_language_holds_where_the_settings_name_the_channel(stage: Stage) -> None:
    buyer = stage.next_buyer()

    assert "订单" in await stage.ask(buyer.user, CHINESE, f"Where is my order {buyer.order.id}?")
    assert "was delivered" in await stage.ask(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")


async def test_private_details_stand_in_the_thread_where_the_settings_say_so_and_nowhere_else(stage: Stage) -> None:
    order = next(each for each in demo_shop(utc_now().date()).orders if each.id == "10008")
    direct = len(stage.workspace.messages("D0LINA"))
    talk = await stage.say(LINA, OPEN, "Where is my order 10008?")
    answer = await stage.answer(talk)
    await stage.quiet()

    assert order.tracking in answer
    assert len(stage.workspace.messages("D0LINA")) == direct


async def test_whoever_opens_the_messages_is_offered_prompts_once_however_often_slack_tells_of_it(stage: Stage) -> None:
    buyer = stage.next_buyer()
    opened = {"type": "app_home_opened", "user": buyer.user, "tab": "messages", "channel": buyer.dm, "event_ts": "7.5"}
    happens(stage, opened)
    await stage.until(lambda: any(each.prompts for each in stage.workspace.sessions.in_channel(buyer.dm)))
    await stage.quiet()

    (offered,) = stage.workspace.sessions.in_channel(buyer.dm)
    assert (offered.thread_ts, offered.status) == ("", "")
    assert [each["title"] for each in offered.prompts][:2] == ["Where is my order?", "I want a refund"]
    assert stage.workspace.messages(buyer.dm) == []


async def test_what_people_look_at_beside_the_agent_view_starts_nothing(stage: Stage) -> None:
    buyer = stage.next_buyer()
    tickets, posts = ticket_count(stage), len(bot_posts(stage))
    stage.workspace.odd.looks_at(buyer.user, SUPPORT)
    stage.workspace.odd.looks_at(buyer.user)
    for odd in ({"context": None}, {"context": {"entities": [None, 7]}}, {"user": None}, {"channel": "D0NOBODY"}):
        happens(stage, {"type": "app_context_changed", "user": buyer.user, "event_ts": "7.6", **odd})
    happens(stage, {"type": "app_home_opened", "user": buyer.user, "tab": "messages"})
    happens(stage, {"type": "app_home_opened", "user": buyer.user, "tab": "about", "channel": buyer.dm})
    await stage.quiet()

    assert (ticket_count(stage), len(bot_posts(stage))) == (tickets, posts)
    assert "was delivered" in await stage.ask(buyer.user, buyer.dm, f"Where is my order {buyer.order.id}?")


async def test_staff_who_write_in_a_private_threads_are_no_customers(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, GROUP, "Can I talk to a person?")
    await stage.answer(talk)
    tickets = ticket_count(stage)
    await stage.say(OMAR, GROUP, "I am here, what is it?", talk.root)
    await stage.say(OLIVIA, GROUP, "Me too", talk.root)
    await stage.quiet()

    assert ticket_count(stage) == tickets
    assert len(stage.replies(talk)) == 1
