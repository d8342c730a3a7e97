"""The start tells a wrong token from a Slack that is down, and readiness follows the socket."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp
import pytest

from hermes_bot.edge.channels import ChannelPolicy
from hermes_bot.edge.edge import Doors
from hermes_bot.edge.slack_errors import TokenRefused
from hermes_bot.errors import SettingsError, TransientError
from hermes_bot.messages.payloads import Inbound, read
from hermes_bot.workspace.faults import RateLimited, ServerError
from hermes_bot.workspace.server import WorkspaceServer
from tests.edge.rig import Rig, connected, reply_to, unstarted
from tests.scenario.field import soon


class Sleeps:
    """A sleep that only notes how long it should have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


async def test_a_slack_that_is_down_is_waited_for(
    workspace: WorkspaceServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sleeps = Sleeps()
    workspace.faults.add(method="auth.test", fault=ServerError(503), times=3)
    workspace.faults.add(method="auth.test", fault=RateLimited(20))

    async with connected(workspace, tmp_path, sleep=sleeps) as rig:
        assert rig.edge.ready() == (True, "")

    assert sleeps.seconds == [1, 2, 4, 20]
    assert caplog.text.count("waiting for Slack") == 1


async def test_a_wrong_bot_token_is_told_at_once(workspace: WorkspaceServer, tmp_path: Path) -> None:
    sleeps = Sleeps()
    async with unstarted(workspace, tmp_path, bot_token="xoxb-wrong", sleep=sleeps) as rig:
        with pytest.raises(TokenRefused, match=r"Slack refused the bot token: invalid_auth\. Check SLACK_BOT_TOKEN\."):
            await rig.edge.start()

    assert sleeps.seconds == []


async def test_a_wrong_app_token_is_told_at_once(workspace: WorkspaceServer, tmp_path: Path) -> None:
    async with unstarted(workspace, tmp_path, doors=Doors(app_token="xapp-wrong")) as rig:
        with pytest.raises(TokenRefused, match="SLACK_APP_TOKEN"):
            await rig.edge.start()


async def test_a_port_in_use_is_told(workspace: WorkspaceServer, tmp_path: Path) -> None:
    doors = Doors(app_token=workspace.world.app.app_token, port=workspace.port)
    async with unstarted(workspace, tmp_path, doors=doors) as rig:
        with pytest.raises(SettingsError, match=str(workspace.port)):
            await rig.edge.start()


async def test_channel_names_become_ids(workspace: WorkspaceServer, tmp_path: Path) -> None:
    policy = ChannelPolicy(support_channels=("#support",), handoff_channel="hermes-handoff")
    async with connected(workspace, tmp_path, policy=policy) as rig:
        await workspace.workspace.post("U0OMAR", "C0HANDOFF", "not a ticket")
        await workspace.workspace.post("U0EMMA", "C0SUPPORT", "a ticket")
        messages = await rig.heard(1)
        await workspace.workspace.wait_for(lambda: workspace.unsettled == 0)

    assert [read(message, Inbound).text for message in messages] == ["a ticket"]


async def test_a_channel_name_that_nobody_knows_is_told(workspace: WorkspaceServer, tmp_path: Path) -> None:
    policy = ChannelPolicy(handoff_channel="nowhere")
    async with unstarted(workspace, tmp_path, policy=policy) as rig:
        with pytest.raises(SettingsError, match="nowhere") as raised:
            await rig.edge.start()

    assert raised.value.key == "slack.handoff_channel"


async def test_where_slack_lists_no_channels_names_are_refused_with_the_remedy_and_ids_are_not(
    workspace: WorkspaceServer, tmp_path: Path
) -> None:
    workspace.faults.only("auth.test", "apps.connections.open")
    policy = ChannelPolicy(support_channels=("#support",), handoff_channel="C0HANDOFF")
    async with unstarted(workspace, tmp_path, policy=policy) as rig:
        with pytest.raises(SettingsError, match=r"does not list its channels \(unknown_method\).*by their ids"):
            await rig.edge.start()
    policy = ChannelPolicy(support_channels=("C0SUPPORT",), handoff_channel="C0HANDOFF")
    async with connected(workspace, tmp_path, policy=policy) as rig:
        await workspace.workspace.post("U0EMMA", "C0SUPPORT", "a ticket")

        assert [read(message, Inbound).text for message in await rig.heard(1)] == ["a ticket"]


async def test_readiness_follows_the_socket(socket_rig: Rig) -> None:
    workspace, sockets = socket_rig.server.workspace, socket_rig.server.sockets
    before = socket_rig.edge.ready()
    socket_rig.server.faults.add(method="apps.connections.open", fault=ServerError(), times=2)

    sockets.cut()
    await workspace.wait_for(lambda: not socket_rig.edge.ready()[0])
    reason = socket_rig.edge.ready()[1]
    await workspace.wait_for(lambda: sockets.connected > 0)
    await workspace.post("U0EMMA", "C0SUPPORT", "hello again")
    await socket_rig.heard(1)

    assert (before, reason) == ((True, ""), "the socket to Slack is down")
    assert socket_rig.edge.ready() == (True, "")


async def test_a_half_open_socket_is_noticed_within_a_minute_and_readyz_says_so(socket_rig: Rig) -> None:
    workspace, sockets, faults = socket_rig.server.workspace, socket_rig.server.sockets, socket_rig.server.faults
    faults.add(method="apps.connections.open", fault=ServerError(), times=1_000)

    sockets.mute()
    await soon(lambda: not socket_rig.edge.ready()[0])
    async with aiohttp.ClientSession() as session, session.get(f"{socket_rig.edge.http_url}/readyz") as response:
        status, told = response.status, await response.json()
    faults.clear()
    await soon(lambda: socket_rig.edge.ready()[0])
    await workspace.post("U0EMMA", "C0SUPPORT", "hello again")
    await socket_rig.heard(1)

    assert (status, told["reason"]) == (503, "the socket to Slack is down")
    assert Doors().ping_interval_s * 5 <= 60  # it takes four pings without an answer, here of 0.2 s


async def test_a_handler_before_the_start_is_tried_again(workspace: WorkspaceServer, tmp_path: Path) -> None:
    async with unstarted(workspace, tmp_path) as rig:
        ticket = await rig.ticket()

        with pytest.raises(TransientError, match="not connected"):
            await rig.deliver(reply_to(ticket, "hello"))


async def test_stopping_twice_does_no_harm(workspace: WorkspaceServer, tmp_path: Path) -> None:
    async with connected(workspace, tmp_path) as rig:
        await rig.edge.stop()

    assert rig.edge.ready() == (False, "stopping")
