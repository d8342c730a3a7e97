"""Several bots in one workspace: each hears what it may, acts as itself, and cannot touch the others' things."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from slack_sdk.errors import SlackApiError

from hermes_bot.workspace.people import App, demo_world
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import Bot, bot_client, running

Json = dict[str, Any]
OTHER = App(
    id="A0OTHER",
    bot="B0OTHER",
    user="U0OTHER",
    name="Other",
    bot_token="xoxb-other",
    app_token="xapp-other",
    commands=("/other",),
)
BUTTON = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}
CARD = [{"type": "actions", "elements": [BUTTON]}]


@pytest_asyncio.fixture
async def server() -> AsyncIterator[WorkspaceServer]:
    async with WorkspaceServer(world=replace(demo_world(), more_apps=(OTHER,))) as server:
        await server.workspace.join("U0OTHER", "C0SUPPORT")
        await server.workspace.join("U0OTHER", "C0GENERAL")
        yield server


@pytest_asyncio.fixture
async def bots(server: WorkspaceServer) -> AsyncIterator[tuple[Bot, Bot]]:
    async with running(server) as first, running(server, OTHER) as second:
        await server.workspace.wait_for(lambda: server.unsettled == 0)
        first.bodies.clear()
        second.bodies.clear()
        yield first, second


async def test_each_hears_of_its_own_channels_with_its_own_ids(server: WorkspaceServer, bots: tuple[Bot, Bot]) -> None:
    await server.workspace.post("U0EMMA", "C0GENERAL", "for the other one")
    await server.workspace.post("U0EMMA", "C0SUPPORT", "@Other for both, and a mention")
    await server.workspace.wait_for(lambda: server.unsettled == 0)
    first, second = bots

    assert [event["type"] for event in first.events] == ["message"]
    assert [event["type"] for event in second.events] == ["message", "message", "app_mention"]
    assert {body["api_app_id"] for body in second.bodies} == {"A0OTHER"}
    assert {body["authorizations"][0]["user_id"] for body in second.bodies} == {"U0OTHER"}
    assert len({body["event_id"] for body in [*first.bodies, *second.bodies]}) == 4


async def test_a_bots_post_is_the_others_bot_message(server: WorkspaceServer, bots: tuple[Bot, Bot]) -> None:
    first, second = bots
    await first.client.chat_postMessage(channel="C0SUPPORT", text="I am the first")
    await server.workspace.wait_for(lambda: second.events and server.unsettled == 0)
    (heard,) = second.events

    assert (heard["bot_id"], heard["app_id"], heard["user"]) == ("B0HERMES", "A0HERMES", "U0HERMES")
    assert "subtype" not in heard


async def test_neither_changes_the_others_messages(server: WorkspaceServer, bots: tuple[Bot, Bot]) -> None:
    first, second = bots
    posted = await first.client.chat_postMessage(channel="C0SUPPORT", text="mine")

    with pytest.raises(SlackApiError, match="cant_update_message"):
        await second.client.chat_update(channel="C0SUPPORT", ts=posted["ts"], text="yours")
    with pytest.raises(SlackApiError, match="cant_delete_message"):
        await second.client.chat_delete(channel="C0SUPPORT", ts=posted["ts"])


async def test_a_click_goes_to_whose_card_it_is_and_opens_a_form_for_it_alone(
    server: WorkspaceServer, bots: tuple[Bot, Bot]
) -> None:
    first, second = bots
    for bot in bots:
        bot.app.action("go")(bot.keep_pressed)
    posted = await second.client.chat_postMessage(channel="C0SUPPORT", text="card", blocks=CARD)
    await server.workspace.click("U0EMMA", "C0SUPPORT", posted["ts"], "go")
    modal = {"type": "modal", "title": {"type": "plain_text", "text": "Note"}, "blocks": [{"type": "divider"}]}
    trigger = second.pressed[0]["trigger_id"]

    assert first.pressed == []
    with pytest.raises(SlackApiError, match="invalid_trigger_id"):
        await first.client.views_open(trigger_id=trigger, view=modal)
    opened = await second.client.views_open(trigger_id=trigger, view=modal)
    assert opened["view"]["app_id"] == "A0OTHER"
    with pytest.raises(SlackApiError, match="not_found"):
        await first.client.views_update(view_id=opened["view"]["id"], view=modal)


async def test_a_command_goes_to_the_app_that_names_it(server: WorkspaceServer, bots: tuple[Bot, Bot]) -> None:
    for bot in bots:
        bot.app.command("/other")(bot.keep_pressed)
        bot.app.command("/anything")(bot.keep_pressed)
    await server.workspace.command("U0EMMA", "C0SUPPORT", "/other")
    await server.workspace.command("U0EMMA", "C0SUPPORT", "/anything")

    assert [[body["command"] for body in bot.pressed] for bot in bots] == [["/anything"], ["/other"]]


async def test_each_has_direct_messages_and_a_home_of_its_own(server: WorkspaceServer, bots: tuple[Bot, Bot]) -> None:
    first, second = bots
    home = {"type": "home", "blocks": [{"type": "divider"}]}
    await second.client.views_publish(user_id="U0EMMA", view=home)
    mine = (await first.client.conversations_open(users="U0EMMA"))["channel"]["id"]
    theirs = (await second.client.conversations_open(users="U0EMMA"))["channel"]["id"]
    await server.workspace.post("U0EMMA", theirs, "psst")
    await server.workspace.wait_for(lambda: server.unsettled == 0)

    assert mine != theirs
    assert (first.events, [event["text"] for event in second.events]) == ([], ["psst"])
    assert server.workspace.homes.of("U0EMMA") is None
    assert server.workspace.homes.of("U0EMMA", OTHER) is not None


async def test_one_token_lost_leaves_the_other(server: WorkspaceServer) -> None:
    server.tokens.revoke(OTHER.bot_token)

    assert (await bot_client(server).auth_test())["user_id"] == "U0HERMES"
    with pytest.raises(SlackApiError, match="token_revoked"):
        await bot_client(server, OTHER.bot_token).auth_test()
