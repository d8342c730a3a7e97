"""What the notes on Slack's wire say and no other test holds: their table of errors, and details of each section."""

import asyncio
import re
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncAck
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook.async_client import AsyncWebhookClient

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.faults import ApiError
from hermes_bot.workspace.methods.method import EVERY_METHOD
from hermes_bot.workspace.people import App, Shortcut, demo_world
from hermes_bot.workspace.server import WorkspaceServer
from hermes_bot.workspace.sockets import SHORT_LIFE_S
from hermes_bot.workspace.web_api import METHODS
from tests.workspace.bot import bare_socket, bot_client, running
from tests.workspace.clicks import Clicks, card, modal

Json = dict[str, Any]

FAULTS_ALONE = {
    "chat.postMessage": {
        *("cannot_reply_to_message", "message_limit_exceeded", "rate_limited"),
        *("restricted_action", "restricted_action_read_only_channel"),
    },
    "chat.update": {"edit_window_closed"},
    "views.open": {"trigger_expired", "trigger_exchanged"},
    "usergroups.users.list": {"plan_upgrade_required"},
    "apps.connections.open": {"insecure_request", "missing_args"},
}
"""What no state of this workspace leads to, and a test gets through `server.faults.add(fault=ApiError(…))`."""


def error_table(text: str) -> dict[str, set[str]]:
    """The errors worth emulating, by method, as the notes list them."""
    start = text.index("### Per-method errors")
    table: dict[str, set[str]] = {}
    for line in text[start : text.index("**Rate limits**", start)].splitlines():
        cells = line.split("|")
        names = re.findall(r"[a-z]+\.[A-Za-z.]+|(?<=/ )[a-z]+", cells[1]) if line.startswith("| ") else []
        if not names or "." not in names[0]:
            continue
        family = names[0].rpartition(".")[0]
        listed = re.sub(r"[“`\[(][^”`\])]*[”`\])]", "", cells[2])
        words = set(re.findall(r"[a-z]+(?:_[a-z]+)+", listed))
        table |= {name if "." in name else f"{family}.{name}": words for name in names}
    return table


@pytest.mark.shared
def test_every_error_of_the_notes_is_answered_or_can_be_set(shared_dir: Path) -> None:
    lacking = {
        method: words - METHODS[method].errors - EVERY_METHOD - FAULTS_ALONE.get(method, set())
        for method, words in error_table((shared_dir / "WIRE.md").read_text()).items()
    }
    one_line_of_two = {"reactions.add": {"no_reaction"}, "reactions.remove": {"already_reacted"}}

    assert len(lacking) >= 13
    assert {method: words - one_line_of_two.get(method, set()) for method, words in lacking.items() if words} == {
        method: set() for method in one_line_of_two
    }


@pytest.mark.parametrize(
    "method,error", [(method, error) for method, errors in FAULTS_ALONE.items() for error in sorted(errors)]
)
async def test_what_no_state_leads_to_can_be_set(workspace: WorkspaceServer, method: str, error: str) -> None:
    workspace.faults.add(method=method, fault=ApiError(error))
    token = workspace.world.app.app_token if method.startswith("apps.") else None

    with pytest.raises(SlackApiError) as failed:
        await bot_client(workspace, token).api_call(method, json={"channel": "C0SUPPORT", "text": "hello"})

    assert failed.value.response["error"] == error


async def test_a_connection_for_debugging_lives_six_minutes(timed: WorkspaceServer, clock: SettableClock) -> None:
    opened = await bot_client(timed).apps_connections_open(app_token=timed.world.app.app_token)
    url = f"{opened['url']}&debug_reconnects=true"
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
        await socket.receive_json()
        clock.advance(SHORT_LIFE_S - 10)
        warning = await socket.receive_json()
        clock.advance(10)
        ended = await socket.receive()

    assert SHORT_LIFE_S == 360
    assert (warning["type"], warning["reason"]) == ("disconnect", "warning")
    assert ended.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)


async def test_only_what_may_be_answered_says_so() -> None:
    app = App(shortcuts=(Shortcut(callback_id="ticket", name="Make a ticket"),))
    async with WorkspaceServer(world=demo_world(app)) as server, bare_socket(server) as socket:
        await socket.frame()
        frames = []
        ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        frames.append(await socket.frame())
        await socket.ack(frames[0])
        used = asyncio.create_task(server.workspace.shortcut("U0EMMA", "ticket", "C0SUPPORT", ts), name="shortcut")
        frames.append(await socket.frame())
        await socket.ack(frames[1])
        await used

    assert [(one["type"], one["accepts_response_payload"]) for one in frames] == [
        ("events_api", False),
        ("interactive", False),
    ]


async def test_an_address_needs_its_scope() -> None:
    everything = await _profile(App())
    without = await _profile(App(scopes=("users:read",)))

    assert (everything.get("email"), without.get("email")) == ("emma.fischer@example.com", None)


async def _profile(app: App) -> Json:
    async with WorkspaceServer(world=demo_world(app)) as server:
        profile: Json = (await bot_client(server).users_info(user="U0EMMA"))["user"]["profile"]
        return profile


async def test_a_view_of_one_external_id_is_open_once(workspace: WorkspaceServer) -> None:
    async def open_two(ack: AsyncAck, body: Json) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=modal(external_id="one"))

    async with running(workspace) as bot:
        client = bot.client
        bot.app.action("approve")(open_two)
        posted = await client.chat_postMessage(channel="C0SUPPORT", text="card", blocks=card())
        await workspace.workspace.click("U0EMMA", "C0SUPPORT", posted["ts"], "approve")
        await workspace.workspace.wait_for(lambda: workspace.workspace.modals("U0EMMA"))
        trigger = workspace.workspace.triggers.give("U0EMMA")
        with pytest.raises(SlackApiError, match="duplicate_external_id"):
            await client.views_open(trigger_id=trigger, view=modal(external_id="one"))


async def test_an_ephemeral_cannot_be_changed_by_chat_update(workspace: WorkspaceServer) -> None:
    client = bot_client(workspace)
    sent = await client.chat_postEphemeral(channel="C0SUPPORT", user="U0EMMA", text="for you")

    with pytest.raises(SlackApiError, match="message_not_found"):
        await client.chat_update(channel="C0SUPPORT", ts=sent["message_ts"], text="for all", blocks=[])


async def test_a_response_may_go_into_a_thread(workspace: WorkspaceServer, clicks: Clicks) -> None:
    parent = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "a question")
    posted = await clicks.client.chat_postMessage(channel="C0SUPPORT", text="card", blocks=card(), thread_ts=parent)
    await workspace.workspace.click("U0EMMA", "C0SUPPORT", posted["ts"], "approve")
    hook = AsyncWebhookClient(clicks.payloads[-1]["response_url"])
    await hook.send_dict({"text": "done", "response_type": "in_channel", "thread_ts": parent})

    assert workspace.workspace.messages("C0SUPPORT", parent)[-1]["text"] == "done"
