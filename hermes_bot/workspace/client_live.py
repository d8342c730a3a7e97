"""The page's live sockets: each change that a person may see, pushed as it happens."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from aiohttp import WSCloseCode, web

from hermes_bot.workspace import client_shown
from hermes_bot.workspace.feed import Change
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.sockets import CLOSE_LIMIT_S
from hermes_bot.workspace.workspace import Workspace

_BACKLOG = 1000


class LiveSockets:
    """The sockets that are open, one a person and page."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._sockets: set[web.WebSocketResponse] = set()

    async def close(self) -> None:
        """End every socket."""
        await asyncio.gather(*(socket.close(code=WSCloseCode.GOING_AWAY) for socket in self._sockets))

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Push what the person may see, until the page leaves."""
        user = self._workspace.roster.member(request.query.get("user", "")).id
        self._workspace.read_marks.begin(user)
        socket = web.WebSocketResponse(heartbeat=30, timeout=CLOSE_LIMIT_S)
        await socket.prepare(request)
        frames: asyncio.Queue[Json | None] = asyncio.Queue()
        stop = self._workspace.feed.listen(lambda change: self._offer(frames, user, change))
        self._sockets.add(socket)
        writer = asyncio.get_running_loop().create_task(_write(socket, frames), name=f"live-{user}")
        try:
            async for _frame in socket:
                pass
        finally:
            stop()
            self._sockets.discard(socket)
            writer.cancel()
            with suppress(asyncio.CancelledError):
                await writer
        return socket

    def _offer(self, frames: asyncio.Queue[Json | None], user: str, change: Change) -> None:
        frame = self._frame(user, change)
        if frame is None:
            return
        if frames.qsize() >= _BACKLOG:  # far too slow: it is closed, connects again and reads what it missed
            while not frames.empty():
                frames.get_nowait()
            frame = None
        frames.put_nowait(frame)

    def _frame(self, user: str, change: Change) -> Json | None:
        """Return what the person's page is told of a change, None when it is none of theirs."""
        if change.only_for and change.only_for != user:
            return None
        if change.kind == "state":
            return {"type": "state"}
        if change.post is None and not change.channel:
            return {"type": change.kind, "view": change.view}
        place = change.post.channel if change.post is not None else change.channel
        if user not in self._workspace.roster.channel(place).members:
            return None
        if change.post is None:
            return {"type": change.kind, "channel": place, **change.data}
        post = change.post
        message = client_shown.message(post, user, self._workspace, deleted=change.kind == "deleted")
        return {"type": change.kind, "channel": post.channel, "thread_ts": post.thread_ts, "message": message}


async def _write(socket: web.WebSocketResponse, frames: asyncio.Queue[Json | None]) -> None:
    try:
        while (frame := await frames.get()) is not None:
            await socket.send_json(frame)
        await socket.close(code=WSCloseCode.TRY_AGAIN_LATER)
    except ConnectionError:
        return  # the page is gone; the loop over its frames ends with it
