"""Files: what people share, what apps upload, and who may fetch the content."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.file_routes import SIGN_IN_PAGE
from hermes_bot.workspace.files import MAX_FILE_BYTES
from hermes_bot.workspace.people import App, demo_world
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import bot_client, running

Json = dict[str, Any]


async def fetch(url: str, token: str = "") -> tuple[int, bytes, str]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with aiohttp.ClientSession(headers=headers) as session, session.get(url) as answer:
        return answer.status, await answer.read(), answer.content_type


async def shared(server: WorkspaceServer, channel: str = "C0SUPPORT", **more: Any) -> Json:
    """Return the file that Emma shared."""
    ts = await server.workspace.upload("U0EMMA", channel, "bill.pdf", b"%PDF-1.7", **more)
    file: Json = next(one for one in server.workspace.messages(channel) if one["ts"] == ts)["files"][0]
    return file


async def test_a_shared_file_is_told_and_can_be_fetched_with_the_token(workspace: WorkspaceServer) -> None:
    file = await shared(workspace, text="my bill & more")
    async with running(workspace) as bot:
        await workspace.workspace.wait_for(lambda: workspace.unsettled == 0)
    event, told = bot.events
    app = workspace.world.app

    assert (event["subtype"], event["text"], event["upload"]) == ("file_share", "my bill &amp; more", True)
    assert (event["files"][0]["name"], event["files"][0]["mimetype"]) == ("bill.pdf", "application/pdf")
    assert event["files"][0]["channels"] == ["C0SUPPORT"]
    assert (told["type"], told["file_id"], told["channel_id"]) == ("file_shared", file["id"], "C0SUPPORT")
    for url in (file["url_private"], file["url_private_download"]):
        assert await fetch(url, app.bot_token) == (200, b"%PDF-1.7", "application/pdf")


async def test_a_file_without_a_word_has_an_empty_text(workspace: WorkspaceServer) -> None:
    await shared(workspace)

    assert workspace.workspace.messages("C0SUPPORT")[0]["text"] == ""


async def test_without_a_good_token_a_page_to_sign_in_comes_instead(workspace: WorkspaceServer) -> None:
    file = await shared(workspace)

    for token in ("", "xoxb-wrong"):
        assert await fetch(file["url_private"], token) == (200, SIGN_IN_PAGE.encode(), "text/html")


async def test_the_scope_decides_who_reads_files() -> None:
    app = App(scopes=("files:write", "chat:write"))
    async with WorkspaceServer(world=demo_world(app)) as server:
        file = await shared(server)

        assert (await fetch(file["url_private"], app.bot_token))[1] == SIGN_IN_PAGE.encode()
        with pytest.raises(SlackApiError, match="missing_scope"):
            await bot_client(server).files_info(file=file["id"])


async def test_a_file_of_a_channel_that_the_bot_is_not_in_is_hidden(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    file = await shared(workspace, "C0GENERAL")

    assert (await fetch(file["url_private"], workspace.world.app.bot_token))[2] == "text/html"
    with pytest.raises(SlackApiError, match="file_not_found"):
        await client.files_info(file=file["id"])


async def test_a_file_that_was_deleted_is_gone(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    hers = await shared(workspace)
    uploaded = await client.files_upload_v2(channel="C0SUPPORT", content="a,b", filename="a.csv")
    mine = uploaded["files"][0]
    await client.files_delete(file=mine["id"])

    with pytest.raises(SlackApiError, match="cant_delete_file"):
        await client.files_delete(file=hers["id"])
    with pytest.raises(SlackApiError, match="file_deleted"):
        await client.files_info(file=mine["id"])
    assert (await fetch(mine["url_private"], workspace.world.app.bot_token))[0] == 404


async def test_what_was_announced_must_come_whole(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    announced = await client.files_getUploadURLExternal(filename="a.txt", length=5)
    async with aiohttp.ClientSession() as session, session.post(announced["upload_url"], data=b"four") as answer:
        assert answer.status == 400

    with pytest.raises(SlackApiError, match="file_not_found"):
        await client.files_completeUploadExternal(files=[{"id": announced["file_id"], "title": "a"}])
    with pytest.raises(SlackApiError, match="file_upload_size_restricted"):
        await client.files_getUploadURLExternal(filename="a.txt", length=MAX_FILE_BYTES + 1)
    with pytest.raises(Refusal, match="file_upload_size_restricted"):
        await workspace.workspace.upload("U0EMMA", "C0SUPPORT", "big.bin", b"x" * (MAX_FILE_BYTES + 1))


@pytest.mark.parametrize(
    "channel,error",
    [("C0GENERAL", "not_in_channel"), ("C0NONE", "channel_not_found"), ("C0OLD", "posting_to_channel_denied")],
)
async def test_a_file_is_shared_where_the_bot_may_write(channel: str, error: str) -> None:
    world = demo_world()
    old = replace(world.channels[0], id="C0OLD", name="old", archived=True)
    async with WorkspaceServer(world=replace(world, channels=(*world.channels, old))) as server:
        with pytest.raises(SlackApiError, match=error):
            await bot_client(server).files_upload_v2(channel=channel, content="a", filename="a.txt")


async def test_a_form_uploads_as_well_as_a_bare_body(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    announced = await client.files_getUploadURLExternal(filename="a.txt", length=5)
    form = aiohttp.FormData()
    form.add_field("file", b"hello", filename="a.txt")
    async with aiohttp.ClientSession() as session, session.post(announced["upload_url"], data=form) as answer:
        assert answer.status == 200
    await client.files_completeUploadExternal(
        files=[{"id": announced["file_id"], "title": "Greeting"}], channel_id="C0SUPPORT"
    )

    assert workspace.workspace.messages("C0SUPPORT")[0]["files"][0]["title"] == "Greeting"


async def test_files_are_remembered_with_their_content(tmp_path: Path) -> None:
    path = tmp_path / "workspace.json"
    async with WorkspaceServer(state_path=path) as server:
        file = await shared(server)
    async with WorkspaceServer(state_path=path) as server:
        app = server.world.app
        url = f"{server.url}/files-pri/{app.team}-{file['id']}/bill.pdf"

        assert await fetch(url, app.bot_token) == (200, b"%PDF-1.7", "application/pdf")

    (tmp_path / "workspace.files" / file["id"]).unlink()
    async with WorkspaceServer(state_path=path) as server:
        url = f"{server.url}/files-pri/{app.team}-{file['id']}/bill.pdf"

        assert (await fetch(url, app.bot_token))[0] == 404


async def test_a_deleted_files_content_is_not_kept(tmp_path: Path) -> None:
    async with WorkspaceServer(state_path=tmp_path / "workspace.json") as server:
        client = bot_client(server)
        done = await client.files_upload_v2(channel="C0SUPPORT", content="a,b", filename="a.csv")
        kept = tmp_path / "workspace.files" / done["files"][0]["id"]
        assert kept.read_bytes() == b"a,b"
        await client.files_delete(file=done["files"][0]["id"])

        assert not kept.exists()
