"""The same short story in both ways in which Slack reaches a bot, which runs as a process of its own."""

from __future__ import annotations

from pathlib import Path

from hermes_bot.workspace.server import WorkspaceServer
from tests.ports import free_port
from tests.scenario.bot_process import BotProcess, environment
from tests.scenario.crowd import dead_letters, settled
from tests.scenario.stage import LIMIT_S, Stage, short_story, story_world


async def play(server: WorkspaceServer, data: Path) -> None:
    """Play the story until the bot has said all and taken all: what comes while it stops is refused, as it should."""
    await short_story(Stage(server, data))
    await settled(data)
    await server.workspace.wait_for(lambda: server.unsettled == 0, LIMIT_S)


async def test_a_story_over_socket_mode(tmp_path: Path, data: Path) -> None:
    async with WorkspaceServer(world=story_world()) as server, BotProcess(environment(server, data), tmp_path):
        await play(server, data)

    assert server.sockets.deliveries.unsettled() == 0
    assert dead_letters(data) == []


async def test_the_same_story_over_signed_http(tmp_path: Path, data: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/slack"
    async with WorkspaceServer(
        world=story_world(), events_url=f"{url}/events", interactions_url=f"{url}/interactions"
    ) as server:
        app = server.world.app
        without_socket = {"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": app.signing_secret}
        variables = environment(server, data, HERMES_HTTP__PORT=str(port), **without_socket)
        async with BotProcess(variables, tmp_path):
            await play(server, data)
        assert server.http is not None
        tries = list(server.http.sent)

    assert tries
    assert [each.reason for each in tries if each.reason] == []
    assert dead_letters(data) == []
