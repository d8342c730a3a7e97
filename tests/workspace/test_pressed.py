"""Slash commands, shortcuts, the app's home and its tabs, feedback buttons."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from slack_bolt.async_app import AsyncAck, AsyncRespond
from slack_sdk.errors import SlackApiError

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.people import App, Shortcut, demo_world
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import Bot, bare_socket, running

Json = dict[str, Any]
HOME: Json = {
    "type": "home",
    "blocks": [
        {
            "type": "actions",
            "elements": [{"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}],
        }
    ],
}


def text(words: str) -> Json:
    return {"type": "plain_text", "text": words}


class Pressing:
    """A bolt app that keeps commands, shortcuts and clicks, and answers commands as the test says."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.client = bot.client
        self.bodies: list[Json] = []
        self.answer: Json = {}
        self.later = ""
        bot.app.command("/hermes")(self._command)
        for constraint in ("ticket", "explain"):
            bot.app.shortcut(constraint)(self._keep)
        for action in ("go", "feedback", "remove"):
            bot.app.action(action)(self._keep)

    async def _command(self, ack: AsyncAck, body: Json, respond: AsyncRespond) -> None:
        self.bodies.append(body)
        await ack(**self.answer)
        if self.later:
            await respond(self.later)

    async def _keep(self, ack: AsyncAck, body: Json) -> None:
        self.bodies.append(body)
        await ack()


@pytest_asyncio.fixture
async def pressing(workspace: WorkspaceServer) -> AsyncIterator[Pressing]:
    async with running(workspace) as bot:
        yield Pressing(bot)


async def test_a_command_brings_who_where_and_what(workspace: WorkspaceServer, pressing: Pressing) -> None:
    outcome = await workspace.workspace.command("U0EMMA", "C0SUPPORT", "/hermes", "help me <now>")
    (body,) = pressing.bodies

    assert outcome.ok
    assert (body["command"], body["text"], body["api_app_id"]) == ("/hermes", "help me <now>", "A0HERMES")
    assert (body["user_id"], body["user_name"], body["team_id"]) == ("U0EMMA", "emma.fischer", "T0HERMES")
    assert (body["channel_id"], body["channel_name"]) == ("C0SUPPORT", "support")
    assert (body["is_enterprise_install"], bool(body["trigger_id"])) == ("false", True)


async def test_names_become_tokens_for_a_command_that_wants_them() -> None:
    app = App(commands=("/hermes", "/plain"), escaped_commands=("/hermes",))
    async with WorkspaceServer(world=demo_world(app)) as server, running(server) as bot:
        for command in app.commands:
            bot.app.command(command)(bot.keep_pressed)
            await server.workspace.command("U0EMMA", "C0SUPPORT", command, "ask @Omar Haddad")

    assert [body["text"] for body in bot.pressed] == ["ask <@U0OMAR>", "ask @Omar Haddad"]


@pytest.mark.parametrize("response_type,seen", [("ephemeral", (1, 0)), ("in_channel", (0, 1))])
async def test_its_answer_is_shown_to_the_person_or_to_all(
    workspace: WorkspaceServer, pressing: Pressing, response_type: str, seen: tuple[int, int]
) -> None:
    pressing.answer = {"text": "Here", "response_type": response_type}
    await workspace.workspace.command("U0EMMA", "C0SUPPORT", "/hermes")

    whispered, said = workspace.workspace.ephemerals("U0EMMA"), workspace.workspace.messages("C0SUPPORT")
    assert (len(whispered), len(said)) == seen
    assert {one["text"] for one in [*whispered, *said]} == {"Here"}


async def test_an_app_answers_later_through_the_response_url(workspace: WorkspaceServer, pressing: Pressing) -> None:
    pressing.later = "Done"
    await workspace.workspace.command("U0EMMA", "C0SUPPORT", "/hermes")

    assert [one["text"] for one in workspace.workspace.ephemerals("U0EMMA")] == ["Done"]


async def test_a_command_that_nobody_takes_in_three_seconds_failed(
    timed: WorkspaceServer, clock: SettableClock
) -> None:
    async with bare_socket(timed) as socket:
        assert (await socket.frame())["type"] == "hello"
        asked = timed.workspace.command("U0EMMA", "C0SUPPORT", "/hermes")
        waiting = asyncio.ensure_future(asked)
        frame = await socket.frame()
        clock.advance(3.1)
        outcome = await waiting

    assert (frame["type"], frame["accepts_response_payload"]) == ("slash_commands", True)
    assert (outcome.ok, outcome.error) == (False, "not_acknowledged")


async def test_a_command_or_shortcut_that_no_app_offers_is_refused_before_any_is_asked() -> None:
    app = App(commands=("/hermes",), shortcuts=(Shortcut(callback_id="ticket", name="Make a ticket"),))
    async with WorkspaceServer(world=demo_world(app)) as server:
        ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        for command, error in (("/other", "unknown_command"), ("hermes", "invalid_command")):
            with pytest.raises(Refusal, match=error):
                await server.workspace.command("U0EMMA", "C0SUPPORT", command)
        with pytest.raises(Refusal, match="unknown_shortcut"):
            await server.workspace.shortcut("U0EMMA", "ticket")
        with pytest.raises(Refusal, match="message_not_found"):
            await server.workspace.shortcut("U0EMMA", "ticket", "C0SUPPORT", "1.000001")
        unheard = await server.workspace.shortcut("U0EMMA", "ticket", "C0SUPPORT", ts)

    assert (unheard.ok, unheard.error) == (False, "no_connection")


async def test_a_message_shortcut_brings_the_message(workspace: WorkspaceServer, pressing: Pressing) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "It never came")
    assert (await workspace.workspace.shortcut("U0OMAR", "ticket", "C0SUPPORT", ts)).ok
    (body,) = pressing.bodies

    assert (body["type"], body["callback_id"], body["user"]["id"]) == ("message_action", "ticket", "U0OMAR")
    assert (body["message_ts"], body["message"]["text"], body["channel"]["id"]) == (ts, "It never came", "C0SUPPORT")
    assert body["response_url"].startswith(workspace.url)


async def test_a_global_shortcut_has_no_message_and_may_open_a_modal(
    workspace: WorkspaceServer, pressing: Pressing
) -> None:
    assert (await workspace.workspace.shortcut("U0OMAR", "explain")).ok
    (body,) = pressing.bodies
    modal = {"type": "modal", "title": text("Explain"), "blocks": [{"type": "divider"}]}
    await pressing.client.views_open(trigger_id=body["trigger_id"], view=modal)

    assert (body["type"], "message" in body, "channel" in body) == ("shortcut", False, False)
    assert len(workspace.workspace.modals("U0OMAR")) == 1


async def test_a_home_is_published_opened_and_clicked(workspace: WorkspaceServer, pressing: Pressing) -> None:
    published = await pressing.client.views_publish(user_id="U0EMMA", view=HOME)
    dm = await workspace.workspace.open_home("U0EMMA")
    await workspace.workspace.wait_for(lambda: pressing.bot.of_type("app_home_opened"))
    (event,) = pressing.bot.of_type("app_home_opened")
    outcome = await workspace.workspace.click_in_view("U0EMMA", published["view"]["id"], "go")
    (click,) = pressing.bodies

    assert (event["tab"], event["user"], event["channel"]) == ("home", "U0EMMA", dm)
    assert event["view"]["id"] == published["view"]["id"]
    assert outcome.ok
    assert (click["view"]["type"], click["container"]["type"]) == ("home", "view")
    assert not {"channel", "message"} & set(click)


async def test_the_messages_tab_opens_without_a_view(workspace: WorkspaceServer, pressing: Pressing) -> None:
    await workspace.workspace.open_home("U0EMMA", "messages")
    await workspace.workspace.wait_for(lambda: pressing.bot.of_type("app_home_opened"))
    (event,) = pressing.bot.of_type("app_home_opened")

    assert (event["tab"], "view" in event) == ("messages", False)


async def test_a_home_that_changed_meanwhile_is_not_written_over(
    workspace: WorkspaceServer, pressing: Pressing
) -> None:
    first = await pressing.client.views_publish(user_id="U0EMMA", view=HOME)
    second = await pressing.client.views_publish(user_id="U0EMMA", view=HOME, hash=first["view"]["hash"])

    assert second["view"]["id"] == first["view"]["id"]
    with pytest.raises(SlackApiError, match="hash_conflict"):
        await pressing.client.views_publish(user_id="U0EMMA", view=HOME, hash=first["view"]["hash"])


@pytest.mark.parametrize(
    "view", [HOME | {"title": text("no")}, HOME | {"type": "modal"}, {"type": "home", "blocks": [{"type": "table"}]}]
)
async def test_what_is_no_home_is_refused(pressing: Pressing, view: Json) -> None:
    with pytest.raises(SlackApiError, match="invalid_arguments"):
        await pressing.client.views_publish(user_id="U0EMMA", view=view)


async def test_an_app_without_tabs_has_neither_home_nor_messages() -> None:
    world = demo_world()
    bare = replace(world.app, home_tab=False, messages_tab=False)
    async with WorkspaceServer(world=replace(world, app=bare)) as server, running(server) as bot:
        with pytest.raises(SlackApiError, match="not_enabled"):
            await bot.client.views_publish(user_id="U0EMMA", view=HOME)
        with pytest.raises(SlackApiError, match="messages_tab_disabled"):
            await bot.client.chat_postMessage(channel="D0EMMA", text="hello")
        for tab in ("home", "messages", "about"):
            with pytest.raises(Refusal, match="not_enabled"):
                await server.workspace.open_home("U0EMMA", tab)


def feedback() -> list[Json]:
    thumbs: Json = {"type": "feedback_buttons", "action_id": "feedback"}
    thumbs |= {f"{name}_button": {"text": text(name), "value": name} for name in ("positive", "negative")}
    remove = {"type": "icon_button", "action_id": "remove", "icon": "trash", "text": text("Remove"), "value": "r"}
    return [{"type": "context_actions", "block_id": "after", "elements": [thumbs, remove]}]


@pytest.mark.parametrize("value", ["positive", "negative"])
async def test_feedback_is_an_ordinary_click(workspace: WorkspaceServer, pressing: Pressing, value: str) -> None:
    posted = await pressing.client.chat_postMessage(channel="C0SUPPORT", text="So?", blocks=feedback())
    outcome = await workspace.workspace.click("U0EMMA", "C0SUPPORT", posted["ts"], "feedback", value=value)
    (body,) = pressing.bodies
    (action,) = body["actions"]

    assert outcome.ok
    assert (body["type"], action["type"], action["value"]) == ("block_actions", "feedback_buttons", value)
    assert (action["text"]["text"], action["block_id"]) == (value, "after")
    with pytest.raises(Refusal, match="invalid_value"):
        await workspace.workspace.click("U0EMMA", "C0SUPPORT", posted["ts"], "feedback", value="neither")


async def test_an_icon_button_is_clicked_like_a_button(workspace: WorkspaceServer, pressing: Pressing) -> None:
    posted = await pressing.client.chat_postMessage(channel="C0SUPPORT", text="So?", blocks=feedback())
    await workspace.workspace.click("U0EMMA", "C0SUPPORT", posted["ts"], "remove")
    (action,) = pressing.bodies[0]["actions"]

    assert (action["type"], action["value"], action["icon"]) == ("icon_button", "r", "trash")
