"""A bot that cannot start says why in one sentence and ends at once; one that runs ends when it is asked to.

What goes wrong before anything is opened (half a set-up, a data folder, a port, broken YAML) stands in `tests/cli`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from hermes_bot.workspace.people import Channel, demo_world
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.bot_process import BotProcess, environment

LIMIT_S = 120.0
PLAIN = {"HERMES_ENCODER__PROFILE": "light", "HERMES_HTTP__PORT": "0", "HERMES_WORKSPACE__PORT": "0"}
PREFIX = "hermes-bot: "
ELSEWHERE = Channel(id="C0ELSEWHERE", name="elsewhere", members=("U0OMAR",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the program ended; `told` are the lines for the person who started it."""

    code: int
    told: tuple[str, ...]
    whole: str


async def run(folder: Path, variables: Mapping[str, str], *options: str) -> Ended:
    """Return how `hermes-bot run` ended by itself; fail when it did not."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hermes_bot", "run", *options),
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            out, err = await process.communicate()
    except TimeoutError:
        process.kill()
        out, err = await process.communicate()
        raise AssertionError(f"still running after {LIMIT_S} s: {(out + err).decode()}") from None
    assert process.returncode is not None
    told = tuple(line.removeprefix(PREFIX) for line in err.decode().splitlines() if line.startswith(PREFIX))
    return Ended(code=process.returncode, told=told, whole=(out + err).decode())


def says(ended: Ended, code: int, *parts: str) -> None:
    """Assert that there is exactly one sentence, with these parts, and nothing that only a programmer reads."""
    assert len(ended.told) == 1, ended.whole
    assert [part for part in parts if part not in ended.told[0]] == [], ended.told[0]
    assert ended.code == code
    assert "Traceback" not in ended.whole
    assert "went wrong on our side" not in ended.whole


async def test_an_app_token_that_slack_refuses_is_told_without_showing_it(tmp_path: Path, data: Path) -> None:
    async with WorkspaceServer() as server:
        ended = await run(tmp_path, environment(server, data, SLACK_APP_TOKEN="xapp-mistyped"))

    says(ended, 1, "app token", "invalid_auth", "SLACK_APP_TOKEN")
    assert "xapp-mistyped" not in ended.whole


BROKEN = [
    pytest.param("slack:\n  hand_of_channel: C1\n", "hermes.yaml:2: ", "handoff_channel", id="unknown key"),
    pytest.param("agents:\n  max_hops: many\n", "hermes.yaml:2: ", "agents.max_hops", id="wrong kind"),
]


@pytest.mark.parametrize("text, place, hint", BROKEN)
async def test_broken_settings_are_told_with_file_line_and_remedy(
    tmp_path: Path, text: str, place: str, hint: str
) -> None:
    (tmp_path / "hermes.yaml").write_text(text, encoding="utf-8")

    ended = await run(tmp_path, PLAIN, "--config", "hermes.yaml")

    says(ended, 2, place, hint)


async def test_a_route_to_an_agent_that_does_not_exist_is_told_with_those_that_do(tmp_path: Path, data: Path) -> None:
    route = "routes:\n  - name: billing\n    type: ticket.billing\n    agent: biling\n"
    (tmp_path / "routing.yaml").write_text(route, encoding="utf-8")
    variables = PLAIN | {"HERMES_DATA__PATH": str(data), "HERMES_ROUTING__FILE": "routing.yaml"}

    ended = await run(tmp_path, variables)

    says(ended, 2, "routing.yaml", "'billing'", "'biling'", "order, refund")


@pytest.mark.parametrize(
    "channel, why",
    [
        ("#nowhere", "no channel of that name"),
        ("C0NOWHERE", "not in such a channel"),
        ("#elsewhere", "invite it there"),
    ],
)
async def test_a_handoff_channel_that_the_bot_cannot_post_to_is_refused_at_the_start(
    tmp_path: Path, data: Path, channel: str, why: str
) -> None:
    world = demo_world()
    world = replace(world, channels=(*world.channels, ELSEWHERE))
    async with WorkspaceServer(world=world) as server:
        ended = await run(tmp_path, environment(server, data, HERMES_SLACK__HANDOFF_CHANNEL=channel))

    says(ended, 2, channel.removeprefix("#"), why, "slack.handoff_channel")


async def test_a_second_bot_on_the_same_data_folder_is_refused_and_the_first_stays(tmp_path: Path, data: Path) -> None:
    async with WorkspaceServer() as server, BotProcess(environment(server, data), tmp_path):
        ended = await run(tmp_path, environment(server, data))
        ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "Hello")
        await server.workspace.wait_for(lambda: len(server.workspace.messages("C0SUPPORT", ts)) == 2)

    says(ended, 1, str(data), "another")


async def test_a_bot_that_is_asked_to_stop_ends_well_and_says_nothing_of_errors(tmp_path: Path, data: Path) -> None:
    async with WorkspaceServer() as server:
        bot = BotProcess(environment(server, data), tmp_path)
        await bot.start()

        code = await bot.stop()

    assert code == 0
    assert "ERROR" not in (data / "hermes.log").read_text(encoding="utf-8")
