"""deploy/README.md, followed line by line, with the local workspace in the place of slack.com."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import yaml

from hermes_bot.edge.manifest import COMMAND
from hermes_bot.workspace.manifest_app import app_of_manifest
from hermes_bot.workspace.people import World, demo_world
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.bot_process import BotProcess
from tests.scenario.stage import HANDOFF, SUPPORT, Stage

ROOT = Path(__file__).parents[2]
IDS = {"U012AB3CD": "U0OMAR", "S045EF6GH": "S0APPROVERS", "C067IJ8KL": HANDOFF}
DOCTOR_LIMIT_S = 60.0


def uninvited_world() -> World:
    """Return the demo's people with the app that step 1 makes, in no channel yet."""
    world = demo_world()
    app = app_of_manifest(yaml.safe_load((ROOT / "deploy" / "slack-manifest.yaml").read_text(encoding="utf-8")))
    channels = tuple(
        replace(each, members=tuple(m for m in each.members if m != app.user))
        if each.id in (HANDOFF, SUPPORT)
        else each
        for each in world.channels
    )
    return replace(world, app=app, channels=channels)


def dotenv(server: WorkspaceServer) -> str:
    """Return `.env` as steps 2 and 3 say: the tokens, and who may approve and where people take over."""
    app = server.world.app
    readme = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^ +(HERMES_\w+)=(.+)$", readme, re.MULTILINE)
    assert [name for name, _ in lines] == ["HERMES_APPROVALS__APPROVERS", "HERMES_SLACK__HANDOFF_CHANNEL"]
    values = {"SLACK_BOT_TOKEN": app.bot_token, "SLACK_APP_TOKEN": app.app_token, **dict(lines)}
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    for name, value in values.items():
        assert f"\n{name}=\n" in text, name
        text = text.replace(f"\n{name}=\n", f"\n{name}={value}\n")
    for shown, real in IDS.items():
        text = text.replace(shown, real)
    return text


async def doctor(folder: Path, variables: dict[str, str]) -> tuple[int, str]:
    """Return the exit code of `hermes-bot doctor`, and what it says."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hermes_bot", "doctor"),
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(DOCTOR_LIMIT_S):
        out, _ = await process.communicate()
    return process.returncode or 0, out.decode()


async def test_who_follows_the_readme_has_a_bot_that_answers(vectors: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(vectors, data / "cache")
    async with WorkspaceServer(world=uninvited_world()) as server:
        (tmp_path / ".env").write_text(dotenv(server), encoding="utf-8")
        variables = {"SLACK_API_URL": server.api_url, "HERMES_ENCODER__PROFILE": "light", "HERMES_HTTP__PORT": "0"}
        for channel in (HANDOFF, SUPPORT):  # step 4
            await server.workspace.join(server.world.app.user, channel, inviter="U0OMAR")
        async with BotProcess(variables, tmp_path):
            stage = Stage(server, data)
            assert await stage.ask("U0EMMA", SUPPORT, "Where is my order?")
            await stage.workspace.open_home("U0EMMA")
            await stage.until(lambda: stage.workspace.homes.of("U0EMMA"))
            assert (await stage.workspace.command("U0EMMA", SUPPORT, COMMAND, "help")).ok
            await stage.until(lambda: "memory mine" in repr(stage.workspace.ephemerals("U0EMMA")))
            code, said = await doctor(tmp_path, variables)
    assert code == 0, said
