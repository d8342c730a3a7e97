"""The client API: files, edits, tabs, an agent's session and stream, as the page uses them."""

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import running

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63506848000001c40101"
    "c79954ad0000000049454e44ae426082"
)
ABOUT = {"user": "U0EMMA", "channel": "C0SUPPORT"}
OCTETS = {"Content-Type": "application/octet-stream"}


async def test_a_file_is_shared_and_only_members_of_the_conversation_get_it(workspace: WorkspaceServer) -> None:
    async with aiohttp.ClientSession(workspace.url) as session:
        about = ABOUT | {"name": "plate.png", "text": "broken"}
        async with session.post("/client/upload", params=about, data=PIXEL, headers=OCTETS) as response:
            assert response.status == 200
        (message,) = workspace.workspace.messages("C0SUPPORT")
        asked = {"id": message["files"][0]["id"]}
        async with session.get("/client/file", params=asked | {"user": "U0LINA"}) as response:
            content, headers = await response.read(), response.headers
        async with session.get("/client/file", params=asked | {"user": "U0MARTA"}) as response:
            stranger = response.status

    assert (message["text"], message["subtype"]) == ("broken", "file_share")
    assert (content, headers["Content-Type"]) == (PIXEL, "image/png")
    assert stranger == 404


async def test_a_file_that_a_browser_could_run_is_only_ever_saved(workspace: WorkspaceServer) -> None:
    async with aiohttp.ClientSession(workspace.url) as session:
        about = ABOUT | {"name": "page.html"}
        async with session.post("/client/upload", params=about, data=b"<script>1</script>", headers=OCTETS):
            pass
        file = workspace.workspace.messages("C0SUPPORT")[0]["files"][0]["id"]
        async with session.get("/client/file", params={"id": file, "user": "U0EMMA"}) as response:
            headers = response.headers

    assert (headers["Content-Type"], headers["Content-Disposition"]) == ("application/octet-stream", "attachment")
    assert "sandbox" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"


async def test_a_form_of_another_site_uploads_nothing(workspace: WorkspaceServer) -> None:
    about, plain = ABOUT | {"name": "a"}, {"Content-Type": "text/plain"}
    async with (
        aiohttp.ClientSession(workspace.url) as session,
        session.post("/client/upload", params=about, data=b"x", headers=plain) as response,
    ):
        status = response.status

    assert status == 415
    assert workspace.workspace.messages("C0SUPPORT") == []


async def test_only_the_author_edits_and_deletes(workspace: WorkspaceServer) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "one")
    async with aiohttp.ClientSession(workspace.url) as session:

        async def asked(path: str, user: str, **more: str) -> int:
            body = {"user": user, "channel": "C0SUPPORT", "ts": ts, **more}
            async with session.post(path, json=body) as response:
                return response.status

        by_another = await asked("/client/edit", "U0LINA", text="mine"), await asked("/client/delete", "U0LINA")
        edited = await asked("/client/edit", "U0EMMA", text="@Omar Haddad two")
        text = workspace.workspace.messages("C0SUPPORT")[0]["text"]
        deleted = await asked("/client/delete", "U0EMMA")

    assert by_another == (400, 400)
    assert (edited, text, deleted) == (200, "<@U0OMAR> two", 200)
    assert workspace.workspace.messages("C0SUPPORT") == []


@pytest.mark.parametrize("user,seen", [("U0EMMA", "half an"), ("U0LINA", "")])
async def test_what_is_being_written_is_read_by_its_recipient_alone(
    workspace: WorkspaceServer, client: AsyncWebClient, user: str, seen: str
) -> None:
    root = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "hello")
    begun = await client.chat_startStream(
        channel="C0SUPPORT", thread_ts=root, recipient_user_id="U0EMMA", recipient_team_id="T0HERMES"
    )
    await client.chat_appendStream(channel="C0SUPPORT", ts=begun["ts"], markdown_text="half an")
    async with aiohttp.ClientSession(workspace.url) as session:
        query = {"user": user, "channel": "C0SUPPORT", "thread_ts": root}
        async with session.get("/client/messages", params=query) as response:
            message = (await response.json())["messages"][1]

    assert (message["streaming"], message["text"]) == ("in_progress", seen)


async def test_a_session_is_pushed_and_read_and_stop_is_told(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    root = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "hello")
    async with aiohttp.ClientSession(workspace.url) as session, running(workspace) as bot:
        async with session.ws_connect("/client/live", params={"user": "U0EMMA"}) as live:
            setting = {"channel_id": "C0SUPPORT", "thread_ts": root, "status": "processing"}
            await client.api_call("agents.sessions.setStatus", json=setting)
            frame = await live.receive_json(timeout=60)
        async with session.get("/client/messages", params=ABOUT) as response:
            (kept,) = (await response.json())["sessions"]
        async with session.post("/client/stop", json=ABOUT | {"thread_ts": root}) as response:
            answer = await response.json()
        await workspace.workspace.wait_for(lambda: bot.of_type("agent_session_stopped"))

    assert (frame["type"], frame["session"]["status"]) == ("session", "processing")
    assert kept == frame["session"]
    assert answer["ok"] is True


async def test_the_home_tab_is_told_to_the_app_and_what_it_publishes_to_the_page(workspace: WorkspaceServer) -> None:
    view = {"type": "home", "blocks": [{"type": "divider"}]}
    async with aiohttp.ClientSession(workspace.url) as session, running(workspace) as bot:
        async with session.ws_connect("/client/live", params={"user": "U0EMMA"}) as live:
            async with session.post("/client/home", json={"user": "U0EMMA", "tab": "home"}) as response:
                answer = await response.json()
            await workspace.workspace.wait_for(lambda: bot.of_type("app_home_opened"))
            await bot.client.views_publish(user_id="U0EMMA", view=view)
            frame = await live.receive_json(timeout=60)
        async with session.get("/client/views", params={"user": "U0EMMA"}) as response:
            home = (await response.json())["home"]

    assert answer == {"ok": True}
    assert (frame["type"], frame["view"]) == ("home", home)
    assert home["blocks"][0]["type"] == "divider"
