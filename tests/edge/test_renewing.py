"""Secrets that are replaced while the bot works: what their files hold by then is used, and looked up sparingly."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest

from hermes_bot.edge.edge import Doors
from hermes_bot.edge.http_door import HttpDoor, signature
from hermes_bot.edge.renewing import Renew, RenewingClient
from hermes_bot.edge.slack_api import SlackApi, web_client
from hermes_bot.edge.slack_errors import TokenRefused
from hermes_bot.workspace.people import App
from hermes_bot.workspace.server import WorkspaceServer
from tests.edge.rig import connected


def reading(*contents: str) -> tuple[Renew, Iterator[str]]:
    """Return what reads a file that holds these one after another, and what was not read yet."""
    left = iter(contents)
    return lambda: next(left), left


async def test_a_refused_token_gives_way_to_what_its_file_holds_by_now() -> None:
    async with WorkspaceServer() as server:
        tokens, old = server.tokens, server.world.app.bot_token
        fresh = tokens.issue(old)
        renew, left = reading(fresh)
        api = SlackApi(web_client(old, server.api_url, renew=renew))
        await api.call("auth.test")
        tokens.revoke(old)

        told = await api.call("chat.postMessage", channel="C0SUPPORT", text="still here")
        await api.call("users.info", user="U0EMMA")

        assert told["ok"]
        assert list(left) == []
        assert api.refused == ""
        assert [post.text for post in server.workspace.posts.all()].count("still here") == 1


async def test_the_token_of_another_workspace_is_never_used() -> None:
    async with WorkspaceServer() as server:
        old = server.world.app.bot_token
        foreign = server.tokens.issue(old)
        client = web_client(old, server.api_url, renew=lambda: foreign)
        assert isinstance(client, RenewingClient)
        api = SlackApi(client)
        await api.call("auth.test")
        client._identity = ("T0ELSEWHERE", "U0OTHER")  # as if it had begun elsewhere
        server.tokens.revoke(old)

        with pytest.raises(TokenRefused):
            await api.call("chat.postMessage", channel="C0SUPPORT", text="to strangers")
        assert client.token == old
        assert "to strangers" not in [post.text for post in server.workspace.posts.all()]


async def test_a_refused_token_that_its_file_still_holds_is_refused() -> None:
    async with WorkspaceServer() as server:
        old = server.world.app.bot_token
        api = SlackApi(web_client(old, server.api_url, renew=lambda: old))
        server.tokens.revoke(old)

        with pytest.raises(TokenRefused):
            await api.call("auth.test")
        assert "token_revoked" in api.refused


async def test_a_new_app_token_opens_the_next_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with WorkspaceServer() as server:
        tokens, old = server.tokens, server.world.app.app_token
        fresh = tokens.issue(old)
        doors = Doors(app_token=old, ping_interval_s=0.2, renew_app_token=lambda: fresh)
        async with connected(server, tmp_path, doors=doors) as rig:
            asked = counted(server, monkeypatch)
            tokens.revoke(old)
            server.sockets.disconnect("refresh_requested")
            await server.workspace.post("U0EMMA", "C0SUPPORT", "Are you there?")
            await rig.heard(1)
            server.sockets.disconnect("refresh_requested")
            await server.workspace.post("U0EMMA", "C0SUPPORT", "And now?")
            await rig.heard(2)

    assert 1 <= asked.count(old) <= 2
    assert asked.count(fresh) >= 2


def counted(server: WorkspaceServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows with each token that is shown."""
    shown: list[str] = []
    owner = server.tokens.owner

    def looked_on(token: str) -> App:
        shown.append(token)
        return owner(token)

    monkeypatch.setattr(server.tokens, "owner", looked_on)
    return shown


class Signed:
    """A door with a signing secret that stands in a file, on a clock that the test moves."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)
        self.file = "old"
        self.reads = 0
        self.door = HttpDoor(
            host="127.0.0.1",
            port=0,
            ready=lambda: (True, ""),
            clock=lambda: self.now,
            signing_secret="old",
            renew=self.read,
        )

    def read(self) -> str:
        self.reads += 1
        return self.file

    async def status(self, session: aiohttp.ClientSession, secret: str) -> int:
        """Return what the door says to a request with this secret's signature; 503: let in, and nobody is there."""
        stamp = str(int(self.now.timestamp()))
        headers = {
            "Content-Type": "application/json",
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": signature(secret.encode(), stamp, b"{}").decode(),
        }
        async with session.post(f"{self.door.url}/slack/events", data=b"{}", headers=headers) as response:
            return response.status


@asynccontextmanager
async def signed() -> AsyncIterator[tuple[Signed, aiohttp.ClientSession]]:
    door = Signed()
    await door.door.open()
    try:
        async with aiohttp.ClientSession() as session:
            yield door, session
    finally:
        await door.door.close()


async def test_a_new_signing_secret_is_taken_from_its_file_and_the_old_one_is_over() -> None:
    async with signed() as (door, session):
        assert await door.status(session, "old") == 503
        door.file = "new"

        assert await door.status(session, "new") == 503
        assert await door.status(session, "old") == 401


async def test_whoever_signs_wrong_again_and_again_has_the_file_read_every_ten_seconds_alone() -> None:
    async with signed() as (door, session):
        assert [await door.status(session, "guess") for _ in range(5)] == [401] * 5
        assert door.reads == 1
        door.now += timedelta(seconds=11)
        assert await door.status(session, "guess") == 401

        assert door.reads == 2
