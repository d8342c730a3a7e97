"""The client API: what the page of the local workspace, and tests that play a person, speak over HTTP.

It listens on the same port as the Web API and is JSON throughout. It is for the user's own browser alone: a request
whose `Host` is not this machine, or whose `Origin` is another site, is refused with 403 (see `origin`), and a POST must
carry `Content-Type: application/json` (415 otherwise). A refusal is `{"ok": false, "error": "<code>"}` with status 400,
403 (`not_in_channel`: the person is not a member) or 404 (`user_not_found`, `channel_not_found`, `message_not_found`,
`view_not_found`).

Pages
    GET /                 page/index.html
    GET /page/<path>      any other file of the folder page/

Reading
    GET /client/people
        {"team": {"id", "name"}, "bot": {"id", "name"}, "people": [{"id", "name", "role", "dm"}],
         "groups": [{"id", "handle", "members": [user ids]}]}
        role: "customer" | "operator" | "admin" | "member"; dm: id of the person's conversation with the bot.
    GET /client/state?user=U
        {"channels": [{"id", "name", "kind": "channel" | "dm", "private", "topic", "archived", "members": [user ids]}]}
        Only conversations that U is a member of. A DM is named after its other side.
    GET /client/messages?user=U&channel=C[&thread_ts=TS]
        {"messages": [MESSAGE]} oldest first: without thread_ts the root messages of the channel, with it the parent
        and its replies. Ephemeral messages that U was sent there are merged in by time.
    GET /client/views?user=U
        {"views": [VIEW]} the modals that U has open, the topmost last.

MESSAGE
    {"ts", "user", "bot": bool, "username", "text", "blocks": [], "thread_ts": "" or the parent's ts, "reply_count",
     "latest_reply": "" or ts, "edited": bool, "deleted": bool, "reactions": [{"name", "count", "users"}],
     "ephemeral": bool, "files": []}
    text and blocks are Slack's own: `&lt; &gt; &amp;` escaped, `<@U…>`, `<#C…|name>`, `<https://…|label>`, `:emoji:`.
    deleted is true for a thread's parent that was deleted while it had replies, and in the frame "deleted".
VIEW
    Slack's view object: {"id", "type": "modal", "title", "submit", "close", "blocks", "callback_id", "hash", …}.

Acting
    POST /client/post    {"user", "channel", "text", "thread_ts"?}         -> {"ok": true, "ts"}
        text is what the person typed: it is escaped here, and `@Name` of a person, the bot or a group becomes a token.
    POST /client/action  {"user", "channel", "ts", "action_id", "block_id"?, "value"?, "state"?}  -> {"ok", "error"?}
        A click on a button of a message or ephemeral. value: the chosen option's value, for selects, radio buttons
        and overflow menus. For an element in a modal send "view_id" in place of channel and ts. The answer comes when
        the app acknowledged; error is "not_acknowledged" when it did not within 3 s, "no_connection" when no app is
        connected; a click on what is no longer there gives "message_not_found" or "action_not_found".
    POST /client/view    {"user", "view_id", "action": "submit" | "close", "values"?}  -> {"ok", "error"?, "errors"?}
        values: {block_id: {action_id: value}}; value is a string (text, date, one option's value), a list of strings
        (checkboxes, multi selects) or null. errors: {block_id: sentence} to show beside the inputs; the modal stays.
    POST /client/react   {"user", "channel", "ts", "name", "on": bool}     -> {"ok": true}

Live
    WS /client/live?user=U pushes one JSON object a frame:
        {"type": "message",     "channel", "thread_ts", "message"}   a new message, root or reply
        {"type": "changed",     "channel", "thread_ts", "message"}   edited; also a parent whose reply count changed
        {"type": "reaction",    "channel", "thread_ts", "message"}   its reactions changed
        {"type": "deleted",     "channel", "thread_ts", "message"}   gone; message.ts says which
        {"type": "ephemeral",   "channel", "thread_ts", "message"}   a new message for U alone; later "changed" or
                                                                     "deleted" frames of it carry message.ephemeral
        {"type": "view_opened", "view"}                              opened, or redrawn when the id is already open
        {"type": "view_closed", "view"}
        {"type": "state"}                                            the list of conversations changed: read it again
    Frames from the client are ignored. Nothing is replayed: after a reconnect, read the messages again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from aiohttp import WSCloseCode, web

from hermes_bot.workspace import wire
from hermes_bot.workspace.feed import Change
from hermes_bot.workspace.interactions import Outcome
from hermes_bot.workspace.origin import Handler
from hermes_bot.workspace.people import Channel
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.sockets import CLOSE_LIMIT_S
from hermes_bot.workspace.workspace import Workspace

PAGE = Path(__file__).parent / "page"
_STATUS: Mapping[str, int] = {
    "not_in_channel": 403,
    "user_not_found": 404,
    "channel_not_found": 404,
    "message_not_found": 404,
    "thread_not_found": 404,
    "view_not_found": 404,
}
_PAGE_HEADERS = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY"}
_LIVE_BACKLOG = 1000


class ClientApi:
    """Serves the page, `/client/…` and the live sockets."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._sockets: set[web.WebSocketResponse] = set()

    def routes(self) -> list[web.AbstractRouteDef]:
        """Return the routes to add to the server."""
        return [
            web.get("/", self._guarded(self._page)),
            web.get("/page/{path:.+}", self._guarded(self._page)),
            web.get("/archives/{channel}/{post}", self._guarded(self._permalink)),
            web.get("/client/people", self._guarded(self._people)),
            web.get("/client/state", self._guarded(self._state)),
            web.get("/client/messages", self._guarded(self._messages)),
            web.get("/client/views", self._guarded(self._views)),
            web.post("/client/post", self._guarded(self._post)),
            web.post("/client/action", self._guarded(self._action)),
            web.post("/client/view", self._guarded(self._view)),
            web.post("/client/react", self._guarded(self._react)),
            web.get("/client/live", self._guarded(self._live)),
        ]

    async def close(self) -> None:
        """End the live sockets."""
        await asyncio.gather(*(socket.close(code=WSCloseCode.GOING_AWAY) for socket in self._sockets))

    def _guarded(self, handler: Handler) -> Handler:
        """Return the handler with refusals as JSON; a form that another site could send is none of ours."""

        async def guarded(request: web.Request) -> web.StreamResponse:
            if request.method == "POST" and request.content_type != "application/json":
                return _refused("json_wanted", 415)
            try:
                return await handler(request)
            except Refusal as refusal:
                return _refused(refusal.error, _STATUS.get(refusal.error, 400))

        return guarded

    async def _page(self, request: web.Request) -> web.StreamResponse:
        file = (PAGE / request.match_info.get("path", "index.html")).resolve()
        if not file.is_relative_to(PAGE.resolve()) or not file.is_file():
            return _refused("file_not_found", 404)
        return web.FileResponse(file, headers=_PAGE_HEADERS)

    async def _permalink(self, request: web.Request) -> web.StreamResponse:
        ts = request.match_info["post"].removeprefix("p")
        raise web.HTTPFound(f"/?channel={request.match_info['channel']}&ts={ts[:-6]}.{ts[-6:]}")

    async def _people(self, _request: web.Request) -> web.StreamResponse:
        app = self._workspace.app
        people = [
            {"id": one.id, "name": one.name, "role": one.role, "dm": self._workspace.open_dm(one.id)}
            for one in self._workspace.roster.members()
            if not one.bot and not one.deactivated
        ]
        groups = [
            {"id": group.id, "handle": group.handle, "members": list(group.members)}
            for group in self._workspace.roster.groups()
        ]
        team, bot = {"id": app.team, "name": app.team_name}, {"id": app.user, "name": app.name}
        return web.json_response({"team": team, "bot": bot, "people": people, "groups": groups})

    async def _state(self, request: web.Request) -> web.StreamResponse:
        user = self._workspace.roster.member(request.query.get("user", "")).id
        mine = [one for one in self._workspace.roster.channels() if user in one.members]
        return web.json_response({"channels": [self._shown_channel(one, user) for one in mine]})

    def _shown_channel(self, channel: Channel, user: str) -> Json:
        other = next((one for one in channel.members if one != user), user)
        name = channel.name if channel.kind == "channel" else self._workspace.roster.member(other).name
        return {
            "id": channel.id,
            "name": name,
            "kind": channel.kind,
            "private": channel.private,
            "topic": channel.topic,
            "archived": channel.archived,
            "members": list(channel.members),
        }

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        user, thread_ts = request.query.get("user", ""), request.query.get("thread_ts", "")
        channel = self._workspace.roster.joined_by(user, request.query.get("channel", ""))
        posts = self._workspace.posts
        said = self._workspace.thread(channel.id, thread_ts) if thread_ts else posts.roots(channel.id)
        own = [post for post in posts.ephemerals(user, channel.id) if post.thread_ts == thread_ts]
        merged = sorted([*said, *own], key=lambda post: post.ts)
        return web.json_response({"messages": [wire.shown(post, self._workspace.roster, posts) for post in merged]})

    async def _views(self, request: web.Request) -> web.StreamResponse:
        user = self._workspace.roster.member(request.query.get("user", "")).id
        return web.json_response({"views": self._workspace.modals(user)})

    async def _post(self, request: web.Request) -> web.StreamResponse:
        body = await _Body.of(request)
        ts = await self._workspace.post(
            body.text("user"), body.text("channel"), body.text("text"), body.text("thread_ts")
        )
        return web.json_response({"ok": True, "ts": ts})

    async def _action(self, request: web.Request) -> web.StreamResponse:
        body = await _Body.of(request)
        user, action_id, block_id = body.text("user"), body.text("action_id"), body.text("block_id")
        if body.text("view_id"):
            outcome = await self._workspace.click_in_view(
                user, body.text("view_id"), action_id, block_id, value=body.any("value")
            )
        else:
            outcome = await self._workspace.click(
                user,
                body.text("channel"),
                body.text("ts"),
                action_id,
                block_id,
                value=body.any("value"),
                values=body.values("state"),
            )
        return _shown_outcome(outcome)

    async def _view(self, request: web.Request) -> web.StreamResponse:
        body = await _Body.of(request)
        if body.text("action") == "close":
            return _shown_outcome(await self._workspace.close_view(body.text("user"), body.text("view_id")))
        if body.text("action") != "submit":
            raise Refusal("invalid_arguments")
        return _shown_outcome(
            await self._workspace.submit(body.text("user"), body.text("view_id"), body.values("values"))
        )

    async def _react(self, request: web.Request) -> web.StreamResponse:
        body = await _Body.of(request)
        await self._workspace.react(
            body.text("user"), body.text("channel"), body.text("ts"), body.text("name"), on=body.any("on") is not False
        )
        return web.json_response({"ok": True})

    async def _live(self, request: web.Request) -> web.StreamResponse:
        user = self._workspace.roster.member(request.query.get("user", "")).id
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
        if frames.qsize() >= _LIVE_BACKLOG:  # far too slow: it is closed, connects again and reads what it missed
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
        if change.post is None:
            return {"type": change.kind, "view": change.view}
        post = change.post
        if user not in self._workspace.roster.channel(post.channel).members:
            return None
        message = wire.shown(post, self._workspace.roster, self._workspace.posts, deleted=change.kind == "deleted")
        return {"type": change.kind, "channel": post.channel, "thread_ts": post.thread_ts, "message": message}


class _Body:
    """A JSON body with typed access; a wrong kind raises `invalid_arguments`."""

    def __init__(self, values: Json) -> None:
        self._values = values

    @classmethod
    async def of(cls, request: web.Request) -> _Body:
        """Return the request's body."""
        try:
            values = await request.json()
            json.dumps(values, ensure_ascii=False).encode()  # half a character can be written in JSON and kept nowhere
        except (ValueError, RecursionError):
            raise Refusal("invalid_json") from None
        if not isinstance(values, dict):
            raise Refusal("json_not_object")
        return cls(values)

    def any(self, name: str) -> Any:
        """Return the field, None when it is not there."""
        return self._values.get(name)

    def text(self, name: str) -> str:
        """Return a string field, empty when it is not there."""
        value = self._values.get(name) or ""
        if not isinstance(value, str):
            raise Refusal("invalid_arguments")
        return value

    def values(self, name: str) -> dict[str, dict[str, Any]]:
        """Return what was filled in, as `{block_id: {action_id: value}}`."""
        value = self._values.get(name) or {}
        if not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()):
            raise Refusal("invalid_arguments")
        return value


async def _write(socket: web.WebSocketResponse, frames: asyncio.Queue[Json | None]) -> None:
    try:
        while (frame := await frames.get()) is not None:
            await socket.send_json(frame)
        await socket.close(code=WSCloseCode.TRY_AGAIN_LATER)
    except ConnectionError:
        return  # the page is gone; the loop over its frames ends with it


def _refused(error: str, status: int) -> web.Response:
    return web.json_response({"ok": False, "error": error}, status=status)


def _shown_outcome(outcome: Outcome) -> web.Response:
    optional: Json = {"error": outcome.error, "errors": dict(outcome.errors)}
    return web.json_response({"ok": outcome.ok} | {key: value for key, value in optional.items() if value})
