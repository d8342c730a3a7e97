"""The workspace's memory between two runs."""

import json
import stat
from pathlib import Path

import pytest

from hermes_bot.errors import SettingsError
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import bare_socket, bot_client

METADATA = {"event_type": "hermes_post", "event_payload": {"key": "k"}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "workspace.json"


def write(path: Path, content: str) -> None:
    path.parent.mkdir()
    path.write_text(content, encoding="utf-8")


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def modes(folder: Path) -> dict[str, int]:
    """Return the files of a folder with their permissions."""
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.glob("*")}


async def test_the_next_run_shows_the_old_conversations(path: Path) -> None:
    async with WorkspaceServer(state_path=path) as first:
        client = bot_client(first)
        ts = await first.workspace.post("U0EMMA", "C0SUPPORT", "where is my order?")
        await client.chat_postMessage(channel="C0SUPPORT", text="there", thread_ts=ts, metadata=METADATA)
        await client.chat_postEphemeral(channel="C0SUPPORT", user="U0EMMA", text="for you")
        await client.reactions_add(channel="C0SUPPORT", timestamp=ts, name="eyes")
        await client.conversations_join(channel="C0GENERAL")
        before = (first.workspace.messages("C0SUPPORT", ts), first.workspace.ephemerals("U0EMMA"))
    async with WorkspaceServer(state_path=path) as second:
        after = (second.workspace.messages("C0SUPPORT", ts), second.workspace.ephemerals("U0EMMA"))
        newer = await second.workspace.post("U0EMMA", "C0SUPPORT", "hello again", ts)

        assert after == before
        assert "U0HERMES" in second.workspace.roster.channel("C0GENERAL").members
        assert [message["ts"] for message in second.workspace.messages("C0SUPPORT", ts)][2] == newer


async def test_an_event_that_was_not_taken_is_delivered_in_the_next_run(path: Path) -> None:
    async with WorkspaceServer(state_path=path) as first:
        await first.workspace.post("U0EMMA", "C0SUPPORT", "is anybody there?")
        event_id = first.sockets.undelivered()[0]["event_id"]
    async with WorkspaceServer(state_path=path) as second, bare_socket(second) as socket:
        await socket.frame()
        envelope = await socket.frame()
        await socket.ack(envelope)
        await second.workspace.wait_for(lambda: second.unsettled == 0)
    async with WorkspaceServer(state_path=path) as third:
        assert third.unsettled == 0

    assert envelope["payload"]["event_id"] == event_id


async def test_the_file_is_for_its_owner_alone(path: Path) -> None:
    async with WorkspaceServer(state_path=path):
        assert modes(path.parent) == {"workspace.json": 0o600}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        json.dumps({"version": 1, "team": "T0HERMES"}),
        json.dumps({"version": 9, "team": "T0HERMES", "channels": [], "posts": [], "undelivered": []}),
        json.dumps({"version": 1, "team": "T0OTHER", "channels": [], "posts": [], "undelivered": []}),
        json.dumps({"version": 1, "team": "T0HERMES", "channels": [], "posts": [{"ts": "x"}], "undelivered": []}),
        json.dumps(
            {
                "version": 1,
                "team": "T0HERMES",
                "channels": [],
                "posts": [{"channel": "C0SUPPORT", "ts": "yesterday", "user": "U0EMMA"}],
                "undelivered": [],
            }
        ),
    ],
)
async def test_a_file_that_cannot_be_used_is_named_and_left_as_it_is(path: Path, content: str) -> None:
    write(path, content)
    with pytest.raises(SettingsError, match=r"workspace\.json"):
        await WorkspaceServer(state_path=path).start()

    assert read(path) == content


async def test_a_folder_that_cannot_be_written_is_named_at_the_start(tmp_path: Path) -> None:
    blocked = tmp_path / "folder" / "file"
    write(blocked, "not a folder")
    with pytest.raises(SettingsError, match=r"file/workspace\.json"):
        await WorkspaceServer(state_path=blocked / "workspace.json").start()


async def test_a_port_in_use_is_named_and_the_state_is_not_touched(path: Path) -> None:
    async with WorkspaceServer() as running:
        with pytest.raises(SettingsError, match=f"port {running.port} on 127.0.0.1 is in use"):
            await WorkspaceServer(port=running.port, state_path=path).start()

    assert modes(path.parent) == {}
