"""How far each person has read: what they missed, on which pages, and over a restart."""

from pathlib import Path
from typing import Any

import aiohttp

from hermes_bot.workspace.server import WorkspaceServer

Json = dict[str, Any]


class Page:
    """What the page asks the workspace, as one person."""

    def __init__(self, server: WorkspaceServer, session: aiohttp.ClientSession, user: str = "U0EMMA") -> None:
        self._server = server
        self._session = session
        self._user = user

    async def missed(self) -> list[str]:
        """The texts that the person has not read."""
        async with self._session.get(f"{self._server.url}/client/missed", params={"user": self._user}) as answer:
            return [one["message"]["text"] for one in (await answer.json())["missed"]]

    async def look(self, channel: str, ts: str, **more: str) -> Json:
        """Read up to a message."""
        body = {"user": self._user, "channel": channel, "ts": ts, **more}
        async with self._session.post(f"{self._server.url}/client/look", json=body) as answer:
            said: Json = await answer.json()
            return said

    def sit_down(self) -> aiohttp.client._WSRequestContextManager:
        """The live socket of the page."""
        return self._session.ws_connect(f"{self._server.url}/client/live?user={self._user}")


async def test_others_messages_are_missed_from_the_first_time_that_the_seat_is_taken(
    workspace: WorkspaceServer,
) -> None:
    people = workspace.workspace
    async with aiohttp.ClientSession() as session:
        page = Page(workspace, session)
        await people.post("U0OMAR", "C0SUPPORT", "long ago")
        before = await page.missed()
        async with page.sit_down():
            await people.post("U0OMAR", "C0SUPPORT", "new")
            await people.post("U0EMMA", "C0SUPPORT", "my own")
            await people.post("U0OMAR", "C0HANDOFF", "not for customers")

            assert (before, await page.missed()) == ([], ["new"])


async def test_a_conversation_and_its_threads_are_read_apart(workspace: WorkspaceServer) -> None:
    people = workspace.workspace
    async with aiohttp.ClientSession() as session:
        page = Page(workspace, session)
        async with page.sit_down():
            root = await people.post("U0OMAR", "C0SUPPORT", "root")
            reply = await people.post("U0ADA", "C0SUPPORT", "reply", root)
            later = await people.post("U0OMAR", "C0SUPPORT", "later")
            await page.look("C0SUPPORT", later)
            after_the_room = await page.missed()
            await page.look("C0SUPPORT", reply, thread_ts=root)
            await page.look("C0SUPPORT", root)

            assert (after_the_room, await page.missed()) == (["reply"], [])


async def test_the_persons_other_pages_are_told_and_nobody_else(workspace: WorkspaceServer) -> None:
    async with aiohttp.ClientSession() as session:
        emma, lina = Page(workspace, session), Page(workspace, session, "U0LINA")
        async with emma.sit_down() as hers, lina.sit_down() as others:
            ts = await workspace.workspace.post("U0OMAR", "C0SUPPORT", "news")
            await emma.look("C0SUPPORT", ts)
            await emma.look("C0SUPPORT", ts)
            await workspace.workspace.post("U0OMAR", "C0SUPPORT", "more")
            told = [(await hers.receive_json())["type"] for _ in range(3)]

            assert told == ["message", "looked", "message"]
            assert [(await others.receive_json())["type"] for _ in range(2)] == ["message", "message"]


async def test_nobody_marks_what_they_may_not_see(workspace: WorkspaceServer) -> None:
    ts = await workspace.workspace.post("U0OMAR", "C0HANDOFF", "for the staff")
    async with aiohttp.ClientSession() as session:
        page = Page(workspace, session)

        assert (await page.look("C0HANDOFF", ts))["error"] == "not_in_channel"
        assert (await page.look("C0SUPPORT", ts))["error"] == "message_not_found"


async def test_marks_outlive_the_process(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    async with WorkspaceServer(state_path=file) as server, aiohttp.ClientSession() as session:
        page = Page(server, session)
        async with page.sit_down():
            read = await server.workspace.post("U0OMAR", "C0SUPPORT", "read")
            await page.look("C0SUPPORT", read)
            await server.workspace.post("U0OMAR", "C0SUPPORT", "not read")
    async with WorkspaceServer(state_path=file) as server, aiohttp.ClientSession() as session:
        assert await Page(server, session).missed() == ["not read"]
