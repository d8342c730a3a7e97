"""Socket Mode: the app's WebSocket connections, one of which gets each envelope."""

from __future__ import annotations

import asyncio
import json
import random
import secrets
from collections.abc import Callable

from aiohttp import WSCloseCode, WSMsgType, web

from hermes_bot.workspace.ack_faults import AckFaults
from hermes_bot.workspace.clock import Clock, NoTimer, Timer
from hermes_bot.workspace.deliveries import Deliveries
from hermes_bot.workspace.ids import Ids
from hermes_bot.workspace.people import App
from hermes_bot.workspace.posts import Json

MAX_CONNECTIONS = 10
WARNING_BEFORE_CLOSE_S = 10.0
CLOSE_LIMIT_S = 1.0
SHORT_LIFE_S = 360.0


class Connection:
    """One socket of the app."""

    def __init__(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        self._socket = socket
        self._request = request
        self._frames: asyncio.Queue[Json | None] = asyncio.Queue()
        self.mute = False

    def send(self, frame: Json) -> None:
        """Write the frame after those before it."""
        self._frames.put_nowait(frame)

    def finish(self) -> None:
        """Close in good order once everything before is written."""
        self._frames.put_nowait(None)

    def cut(self) -> None:
        """Break the connection without a goodbye."""
        if self._request.transport is not None:
            self._request.transport.abort()

    def unwritten(self) -> list[Json]:
        """Return the frames that were never written."""
        left: list[Json] = []
        while not self._frames.empty():
            frame = self._frames.get_nowait()
            if frame is not None:
                left.append(frame)
        return left

    async def run(self, ack: Callable[[str, Json], None]) -> None:
        """Read and write until either side ends the connection."""
        async with asyncio.TaskGroup() as tasks:
            writer = tasks.create_task(self._write(), name="socket-writer")
            await self._read(ack)
            writer.cancel()

    async def _write(self) -> None:
        try:
            while (frame := await self._frames.get()) is not None:
                if not self.mute:
                    await self._socket.send_str(json.dumps(frame))
            await self._socket.close(code=WSCloseCode.GOING_AWAY)
        except ConnectionError:
            return  # the reader sees the end too; what was not acknowledged is sent again

    async def _read(self, ack: Callable[[str, Json], None]) -> None:
        async for frame in self._socket:
            if self.mute:
                continue
            if frame.type == WSMsgType.PING:
                await self._pong(frame.data)
            elif frame.type == WSMsgType.TEXT:
                body = _parsed(frame.data)
                if isinstance(body.get("envelope_id"), str):
                    payload = body.get("payload")
                    ack(body["envelope_id"], payload if isinstance(payload, dict) else {})

    async def _pong(self, data: bytes) -> None:
        try:
            await self._socket.pong(data)
        except ConnectionError:
            return  # the connection ended meanwhile; the loop over its frames ends with it


class Sockets:
    """All sockets of an app. `cut`, `mute`, `disconnect` and `refuse` are the faults that tests set.

    `choose` says which of n sockets gets the next envelope: by chance, as in Slack, unless a test sets it. `life_s` is
    how long a connection lives, an hour in Slack; 0, as at first, lets it live on.
    """

    def __init__(
        self,
        app: App,
        clock: Clock,
        ids: Ids,
        chance: random.Random,
        wake: Callable[[], None],
        faults: AckFaults | None = None,
    ) -> None:
        self._app = app
        self._clock = clock
        self.choose: Callable[[int], int] = chance.randrange
        self.life_s = 0.0
        self._refused = False
        self._wake = wake
        self._tickets: set[str] = set()
        self._connections: list[Connection] = []
        self.deliveries = Deliveries(clock, ids, self._push, wake, faults or AckFaults())

    @property
    def connected(self) -> int:
        """How many sockets are open."""
        return len(self._connections)

    def ticket(self) -> str:
        """Return a ticket that is good for one connection."""
        ticket = secrets.token_hex(16)
        self._tickets.add(ticket)
        return ticket

    def send_event(self, body: Json) -> None:
        """Deliver an event, at least once."""
        self.deliveries.send_event(body)

    def undelivered(self) -> list[Json]:
        """Return the events that are neither acknowledged nor given up."""
        return self.deliveries.undelivered()

    def unsettled(self) -> int:
        """Return how many those are."""
        return self.deliveries.unsettled()

    async def send_command(self, payload: Json) -> Json:
        """Deliver a slash command, at most once."""
        return await self.deliveries.send_command(payload)

    def refuse(self, *, on: bool = True) -> None:
        """Let no socket connect from now on, until it is taken back."""
        self._refused = on

    def knows(self, ticket: str) -> bool:
        """Return whether this ticket was given out here and not used yet."""
        return ticket in self._tickets

    async def send_interaction(self, payload: Json, *, answerable: bool) -> Json:
        """Deliver an interaction, at most once."""
        return await self.deliveries.send_interaction(payload, answerable=answerable)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve one socket of the app until it ends."""
        ticket = request.query.get("ticket", "")
        if self._refused:
            return web.json_response({"ok": False, "error": "service_unavailable"}, status=503)
        if ticket not in self._tickets:
            return web.json_response({"ok": False, "error": "invalid_ticket"}, status=401)
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(autoping=False, timeout=CLOSE_LIMIT_S)
        await socket.prepare(request)
        connection = Connection(socket, request)
        if len(self._connections) >= MAX_CONNECTIONS:
            connection.send(self._goodbye("too_many_websockets"))
            connection.finish()
            await connection.run(self.deliveries.ack)
            return socket
        self._connections.append(connection)
        connection.send(self._hello())
        timer = self._age(connection, SHORT_LIFE_S if request.query.get("debug_reconnects") == "true" else self.life_s)
        self.deliveries.resume()
        self._wake()
        try:
            await connection.run(self.deliveries.ack)
        finally:
            timer.cancel()
            self._forget(connection)
        return socket

    def cut(self) -> None:
        """Break every connection without a goodbye."""
        for connection in list(self._connections):
            connection.cut()

    def mute(self) -> None:
        """Leave every connection half open: it stays, but nothing goes through it any more, pongs included."""
        for connection in self._connections:
            connection.mute = True

    def disconnect(self, reason: str = "refresh_requested") -> None:
        """Send every connection the `disconnect` frame, then close it: after a "warning" 10 s later."""
        for connection in list(self._connections):
            self._ask_to_leave(connection, reason)

    def close(self) -> None:
        """Ask every connection to end, because the workspace stops."""
        self.deliveries.close()
        for connection in list(self._connections):
            connection.finish()

    def _ask_to_leave(self, connection: Connection, reason: str) -> None:
        connection.send(self._goodbye(reason))
        if reason == "warning":
            self._clock.call_later(WARNING_BEFORE_CLOSE_S, connection.finish)
        else:
            connection.finish()

    def _age(self, connection: Connection, life_s: float) -> Timer:
        if not life_s:
            return NoTimer()
        warn_after_s = life_s - WARNING_BEFORE_CLOSE_S
        return self._clock.call_later(warn_after_s, lambda: self._ask_to_leave(connection, "warning"))

    def _push(self, frame: Json) -> bool:
        if not self._connections:
            return False
        self._connections[self.choose(len(self._connections))].send(frame)
        self._wake()
        return True

    def _forget(self, connection: Connection) -> None:
        self._connections.remove(connection)
        for frame in connection.unwritten():
            if "envelope_id" in frame:
                self.deliveries.returned(frame)
        self._wake()

    def _hello(self) -> Json:
        debug = {
            "host": "local",
            "started": "",
            "build_number": 0,
            "approximate_connection_time": int(self.life_s) or 3600,
        }
        return {
            "type": "hello",
            "num_connections": len(self._connections),
            "connection_info": {"app_id": self._app.id},
            "debug_info": debug,
        }

    def _goodbye(self, reason: str) -> Json:
        return {"type": "disconnect", "reason": reason, "debug_info": {"host": "local"}}


def _parsed(text: str) -> Json:
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
