"""`hermes-bot workspace` as a program of its own, with a client that only knows what it printed."""

import asyncio
import json
import os
import signal
import socket
import sys
from pathlib import Path

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.cli.ports import PortTaken
from hermes_bot.cli.workspace import workspace

LIMIT_S = 60.0


async def test_it_says_where_it_is_serves_a_bot_and_ends_at_a_signal(tmp_path: Path) -> None:
    (tmp_path / "people.yaml").write_text("people: [{name: Ann}]\nchannels: [{name: help}]", encoding="utf-8")
    arguments = ("workspace", "--file", "people.yaml", "--port", "0", "--state", "kept.json", "--json")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "hermes_bot",
        *arguments,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(LIMIT_S):
            told = json.loads(await process.stdout.readuntil(b"\n}\n"))
        (app,) = told["apps"]
        environment = app["environment"]
        client = AsyncWebClient(token=environment["SLACK_BOT_TOKEN"], base_url=environment["SLACK_API_URL"])
        posted = await client.chat_postMessage(channel="#help", text="hello")
    finally:
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(LIMIT_S):
            code = await process.wait()

    assert posted["message"]["text"] == "hello"
    assert (told["event"], code) == ("started", 0)
    assert "hello" in (tmp_path / "kept.json").read_text(encoding="utf-8")


async def test_a_file_that_is_wrong_ends_it_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "people.yaml").write_text("people: [{nme: Ann}]", encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "hermes_bot",
        "workspace",
        "--file",
        "people.yaml",
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(LIMIT_S):
        _, said = await process.communicate()

    assert process.returncode == 2
    assert "people.yaml:1" in said.decode()


def test_a_port_in_use_is_told_with_the_option_of_this_command() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        with pytest.raises(PortTaken, match=f"127.0.0.1:{port}: .*; choose another with --port$"):
            workspace(port=port)
