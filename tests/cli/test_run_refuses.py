"""What a person sees when the bot cannot start: one clear sentence, exit code 1 or 2, no traceback."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from hermes_bot.workspace.server import WorkspaceServer

LIMIT_S = 120
SLACK = {
    "SLACK_BOT_TOKEN": "xoxb-refused",
    "SLACK_APP_TOKEN": "xapp-refused",
    "HERMES_APPROVALS__APPROVERS": "[U1]",
    "HERMES_SLACK__HANDOFF_CHANNEL": "C1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the program ended; `told` are the lines of stderr that are for the person who started it."""

    code: int | None
    told: list[str]
    whole: str


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


async def run(folder: Path, *options: str, environ: Mapping[str, str] | None = None) -> Ended:
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES_", "SLACK_"))}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hermes_bot", "run", "--port", "0", *options),
        cwd=folder,
        env=ours | {"HERMES_ENCODER__PROFILE": "light", "HERMES_WORKSPACE__PORT": "0"} | dict(environ or {}),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(LIMIT_S):
        out, err = await process.communicate()
    lines = err.decode().splitlines()
    told = [line.removeprefix("hermes-bot: ") for line in lines if line.startswith("hermes-bot: ")]
    return Ended(code=process.returncode, told=told, whole=(out + err).decode())


async def test_with_only_a_bot_token_it_says_what_is_missing(tmp_path: Path) -> None:
    ended = await run(tmp_path, environ={"SLACK_BOT_TOKEN": "xoxb-1"})

    assert ended.code == 2
    assert ended.told == [
        "SLACK_BOT_TOKEN is set, but neither SLACK_APP_TOKEN (Socket Mode) nor SLACK_SIGNING_SECRET (HTTP); set one"
    ]
    assert "Traceback" not in ended.whole


async def test_a_token_that_the_server_refuses_is_told(tmp_path: Path, workspace: WorkspaceServer) -> None:
    ended = await run(tmp_path, environ=SLACK | {"SLACK_API_URL": workspace.api_url})

    assert ended.code == 1
    assert len(ended.told) == 1
    assert "invalid_auth" in ended.told[0]
    assert "Traceback" not in ended.whole
    assert "xoxb-refused" not in ended.whole


async def test_a_data_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    ended = await run(tmp_path, environ={"HERMES_DATA__PATH": "file/data"})

    assert ended.code == 2
    assert len(ended.told) == 1
    assert f"data folder {tmp_path / 'file' / 'data'} cannot be written" in ended.told[0]
    assert "Traceback" not in ended.whole


@pytest.mark.parametrize("option", ["--port", "--workspace-port"])
async def test_a_port_in_use_is_told(tmp_path: Path, taken: int, option: str) -> None:
    ended = await run(tmp_path, option, str(taken))

    assert ended.code == 1
    assert ended.told == [
        f"cannot listen on 127.0.0.1:{taken}: another program uses this port; choose another with {option}"
    ]
    assert "Traceback" not in ended.whole


async def test_broken_yaml_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "hermes.yaml").write_text("http:\n  port: [8080\n", encoding="utf-8")

    ended = await run(tmp_path)

    assert ended.code == 2
    assert len(ended.told) == 1
    assert ended.told[0].startswith("configs/hermes.yaml:3: this is not valid YAML")
    assert "Traceback" not in ended.whole


async def test_a_broken_route_table_is_told_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "routing.yaml").write_text("routes: [\n", encoding="utf-8")

    ended = await run(tmp_path, environ={"HERMES_ROUTING__FILE": "routing.yaml"})

    assert ended.code == 2
    assert len(ended.told) == 1
    assert "routing.yaml" in ended.told[0]
    assert "Traceback" not in ended.whole


async def test_no_workspace_without_slack_is_refused(tmp_path: Path) -> None:
    ended = await run(tmp_path, "--no-workspace")

    assert ended.code == 2
    assert "--no-workspace needs Slack" in ended.told[0]
