"""Field case L5: every method refuses the token; a new one, in its file or after a restart, lets all go on."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from hermes_bot import settings
from hermes_bot.app import HermesApp
from hermes_bot.edge import slack_errors
from hermes_bot.workspace.people import App
from hermes_bot.workspace.server import WorkspaceServer
from tests.ports import free_port
from tests.scenario.bot_process import environment
from tests.scenario.cases import cases_world
from tests.scenario.crowd import dead_letters
from tests.scenario.field import soon, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import SUPPORT, Stage, Talk

pytestmark = pytest.mark.asyncio(loop_scope="module")

RETRY_AFTER_S = 2.0
MOST_REFUSED = 40


class Outage:
    """A bot that can be started anew with other tokens, and a workspace that counts the calls with each."""

    def __init__(self, server: WorkspaceServer, folder: Path, mode: str, port: int) -> None:
        self.server = server
        self.stage = Stage(server, folder / "data")
        self.folder = folder
        self.mode = mode
        self.port = port
        self.calls: list[str] = []
        self.bot: HermesApp | None = None
        app = server.world.app
        self.tokens = {"SLACK_BOT_TOKEN": app.bot_token, "SLACK_APP_TOKEN": app.app_token}

    async def start(self, *, as_files: bool) -> None:
        """Start the bot with the tokens as they are now."""
        variables = environment(self.server, self.folder / "data") | {"HERMES_HTTP__PORT": str(self.port)}
        variables |= {name: str(self.write(name)) for name in self.tokens} if as_files else self.tokens
        if as_files:
            variables = {(f"{name}_FILE" if name in self.tokens else name): value for name, value in variables.items()}
        if self.mode == "http":
            variables |= {"SLACK_SIGNING_SECRET": self.server.world.app.signing_secret}
            variables |= {"SLACK_APP_TOKEN": "", "SLACK_APP_TOKEN_FILE": ""}
        bot = HermesApp(settings=settings.load(None, variables, folder=self.folder), edge=True)
        self.bot = bot
        await bot.start()

    async def stop(self) -> None:
        """Stop the bot, if one runs."""
        bot, self.bot = self.bot, None
        if bot is not None:
            await bot.stop()

    def write(self, name: str) -> Path:
        """Return the file in which the token stands."""
        path = self.folder / name.lower()
        path.write_text(f"{self.tokens[name]}\n", encoding="utf-8")
        return path

    def revoke(self) -> None:
        """Have every method refuse the tokens that the bot has, and issue others."""
        for name, old in self.tokens.items():
            self.tokens[name] = self.server.tokens.issue(old)
            self.server.tokens.revoke(old)
        self.calls.clear()

    async def written_meanwhile(self) -> Talk:
        """Return what a customer wrote while every method refuses the token, once it is kept and was not answered."""
        buyer = self.stage.next_buyer()
        talk = await self.stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
        await soon(lambda: tickets_of(self.stage, talk))
        await soon(lambda: len(self.calls) > 1)
        return talk

    async def readyz(self) -> tuple[int, dict[str, Any]]:
        """Return what the bot says of itself."""
        address = f"http://127.0.0.1:{self.port}/readyz"
        async with aiohttp.ClientSession() as session, session.get(address) as response:
            return response.status, await response.json()

    async def answered_once(self, talk: Talk) -> None:
        """Assert that the answer comes, once, and that the bot is well."""
        await self.stage.workspace.wait_for(lambda: self.stage.replies(talk), 120.0)
        await self.stage.quiet()

        assert len(tickets_of(self.stage, talk)) == 1
        assert len(self.stage.replies(talk)) == 1
        assert (await self.readyz())[0] == 200


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def outage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Outage]:
    folder = tmp_path_factory.mktemp("outage")
    shutil.copytree(vectors, folder / "data" / "cache")
    port = free_port()
    url = f"http://127.0.0.1:{port}/slack"
    doors: dict[str, Any] = {}
    if request.param == "http":
        doors = {"events_url": f"{url}/events", "interactions_url": f"{url}/interactions"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slack_errors, "TOKEN_RETRY_AFTER_S", RETRY_AFTER_S)
        async with WorkspaceServer(world=cases_world(), **doors) as server:
            outage = Outage(server, folder, request.param, port)
            owner = server.tokens.owner

            def counted(token: str) -> App:
                outage.calls.append(token)
                return owner(token)

            patch.setattr(server.tokens, "owner", counted)
            try:
                yield outage
            finally:
                await outage.stop()
    assert dead_letters(folder / "data") == []


async def test_l5_a_new_token_in_its_file_is_taken_without_a_restart(outage: Outage) -> None:
    await outage.start(as_files=True)
    old = outage.tokens["SLACK_BOT_TOKEN"]
    outage.revoke()
    talk = await outage.written_meanwhile()
    status, told = await outage.readyz()
    refused = len(outage.calls)
    for name in outage.tokens:
        outage.write(name)
    outage.server.sockets.cut()  # without sockets, nothing
    await outage.answered_once(talk)

    assert status == 503
    assert "token" in told["reason"]
    assert refused < MOST_REFUSED
    outage.calls.clear()
    await outage.answered_once(await said(outage))
    assert old not in outage.calls


async def said(outage: Outage) -> Talk:
    """Return another question of somebody's."""
    buyer = outage.stage.next_buyer()
    return await outage.stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")


async def test_l5_what_waits_for_a_token_is_answered_once_after_a_restart_with_a_new_one(outage: Outage) -> None:
    if outage.bot is None:
        await outage.start(as_files=True)
    outage.revoke()
    talk = await outage.written_meanwhile()
    await outage.stop()
    refused = len(outage.calls)
    await outage.start(as_files=False)
    await outage.answered_once(talk)

    assert refused < MOST_REFUSED
    await outage.answered_once(await said(outage))
