"""An app on `@slack/bolt` for JavaScript, which nobody here wrote, lives in the workspace: Socket Mode and HTTP."""

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from hermes_bot.workspace.server import WorkspaceServer
from tests.ports import free_port

Json = dict[str, Any]
APP = Path(__file__).parent / "js/echo.cjs"
MODULES = Path(__file__).resolve().parents[2] / ".venv/js-client/node_modules"
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def node() -> str:
    """The program; where it or the client is not installed the tests are skipped, but not in the complete run."""
    program = shutil.which("node")
    if program is None or not (MODULES / "@slack/bolt").is_dir():
        reason = "no node, or no @slack/bolt: install nodejs and npm and run deploy/js-client.sh"
        if os.environ.get("HERMES_REQUIRE_SHARED") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return program


class JsApp:
    """The running app, and what it tells."""

    def __init__(self, server: WorkspaceServer, process: asyncio.subprocess.Process) -> None:
        self.server = server
        self.workspace = server.workspace
        self._process = process

    async def told(self) -> Json:
        """Return what it says next."""
        assert self._process.stdout is not None
        async with asyncio.timeout(LIMIT_S):
            line = await self._process.stdout.readline()
        assert line, f"the app ended with {await self._process.wait()}"
        told: Json = json.loads(line)
        return told

    async def answer(self, ts: str) -> Json:
        """Return its reply to a message."""
        await self.workspace.wait_for(lambda: len(self.workspace.messages("C0SUPPORT", ts)) > 1, LIMIT_S)
        return self.workspace.messages("C0SUPPORT", ts)[-1]


@asynccontextmanager
async def js_app(node: str, server: WorkspaceServer, port: int) -> AsyncIterator[JsApp]:
    app = server.world.app
    variables = {
        "PATH": os.environ["PATH"],
        "NODE_PATH": str(MODULES),
        "BOT_TOKEN": app.bot_token,
        "APP_TOKEN": app.app_token,
        "SIGNING_SECRET": app.signing_secret,
        "API_URL": server.api_url,
        "PORT": str(port) if port else "",
    }
    process = await asyncio.create_subprocess_exec(node, APP, env=variables, stdout=asyncio.subprocess.PIPE)
    running = JsApp(server, process)
    try:
        assert await running.told() == {"happened": "started"}
        if not port:
            await server.workspace.wait_for(lambda: server.sockets.connected > 0, LIMIT_S)
        yield running
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest_asyncio.fixture(params=["socket", "http"])
async def app(node: str, request: pytest.FixtureRequest) -> AsyncIterator[JsApp]:
    port = free_port() if request.param == "http" else 0
    events_url = f"http://127.0.0.1:{port}/slack/events" if port else ""
    async with WorkspaceServer(events_url=events_url) as server, js_app(node, server, port) as running:
        yield running


async def test_it_hears_and_answers(app: JsApp) -> None:
    ts = await app.workspace.post("U0EMMA", "C0SUPPORT", "你好 <b> & :tada:")
    answer = await app.answer(ts)
    (asked, _) = app.workspace.messages("C0SUPPORT", ts)

    assert (answer["text"], answer["bot_id"]) == ("echo: 你好 &lt;b&gt; &amp; :tada:", "B0HERMES")
    assert asked["reactions"] == [{"name": "eyes", "users": ["U0HERMES"], "count": 1}]


async def test_its_button_works_once_and_is_replaced(app: JsApp) -> None:
    ts = await app.workspace.post("U0EMMA", "C0SUPPORT", "hello")
    card = await app.answer(ts)

    assert (await app.workspace.click("U0EMMA", "C0SUPPORT", card["ts"], "go")).ok
    await app.workspace.wait_for(lambda: app.workspace.messages("C0SUPPORT", ts)[-1]["text"] == "gone: 1", LIMIT_S)


async def test_its_form_says_what_is_wrong_and_then_closes(app: JsApp) -> None:
    card = await app.answer(await app.workspace.post("U0EMMA", "C0SUPPORT", "hello"))
    assert (await app.workspace.click("U0EMMA", "C0SUPPORT", card["ts"], "note")).ok
    await app.workspace.wait_for(lambda: app.workspace.modals("U0EMMA"), LIMIT_S)
    (view,) = app.workspace.modals("U0EMMA")

    refused = await app.workspace.submit("U0EMMA", view["id"], {"why": {"text": "because"}})
    taken = await app.workspace.submit("U0EMMA", view["id"], {"why": {"text": "it is late"}})

    assert (refused.ok, dict(refused.errors)) == (False, {"why": "Say more."})
    assert taken.ok
    assert app.workspace.modals("U0EMMA") == []
    assert [(await app.told())["why"] for _ in range(2)] == ["because", "it is late"]


async def test_its_command_answers_at_once_and_later(app: JsApp) -> None:
    assert (await app.workspace.command("U0EMMA", "C0SUPPORT", "/echo", "one two")).ok

    def seen() -> set[str]:
        return {message["text"] for message in app.workspace.ephemerals("U0EMMA")}

    await app.workspace.wait_for(lambda: len(seen()) == 2, LIMIT_S)
    assert seen() == {"at once: one two", "later: one two"}


async def test_its_shortcut_and_its_home_open(app: JsApp) -> None:
    ts = await app.workspace.post("U0EMMA", "C0SUPPORT", "hello")
    await app.answer(ts)

    assert (await app.workspace.shortcut("U0OMAR", "ticket", "C0SUPPORT", ts)).ok
    assert await app.told() == {"happened": "shortcut", "type": "message_action", "ts": ts}
    await app.workspace.open_home("U0OMAR")
    await app.workspace.wait_for(lambda: app.workspace.homes.of("U0OMAR"), LIMIT_S)


async def test_it_comes_back_after_a_disconnect(node: str) -> None:
    async with WorkspaceServer() as server, js_app(node, server, 0) as running:
        server.sockets.disconnect("refresh_requested")
        ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "still there?")

        assert (await running.answer(ts))["text"] == "echo: still there?"
