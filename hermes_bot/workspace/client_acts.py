"""What a person does on the page: write, edit, delete, react, click, send a form."""

from __future__ import annotations

from aiohttp import web

from hermes_bot.workspace.client_body import Body
from hermes_bot.workspace.interactions import Outcome
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.workspace import Workspace


class ClientActs:
    """The POST half of the client API."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def post(self, request: web.Request) -> web.StreamResponse:
        """Write a message or a reply."""
        body = await Body.of(request)
        ts = await self._workspace.post(
            body.text("user"),
            body.text("channel"),
            body.text("text"),
            body.text("thread_ts"),
            broadcast=body.any("broadcast") is True,
        )
        return web.json_response({"ok": True, "ts": ts})

    async def upload(self, request: web.Request) -> web.StreamResponse:
        """Share a file, or keep it for a view; its content is the body, everything else stands in the query."""
        query = request.query
        content = await request.read()
        if not content:
            raise Refusal("no_file_data")
        if "channel" not in query:
            return web.json_response(
                {"ok": True, "file": self._kept(query.get("user", ""), query.get("name", ""), content)}
            )
        ts = await self._workspace.upload(
            query.get("user", ""),
            query.get("channel", ""),
            query.get("name", ""),
            content,
            text=query.get("text", ""),
            thread_ts=query.get("thread_ts", ""),
        )
        return web.json_response({"ok": True, "ts": ts})

    def _kept(self, user: str, name: str, content: bytes) -> Json:
        """Return a file that stands in a field of a view and is shared with nobody yet."""
        owner = self._workspace.roster.member(user).id
        team = self._workspace.roster.team_of(owner)
        return self._workspace.files.wire(self._workspace.files.add(name, content, user=owner, team=team).id)

    async def edit(self, request: web.Request) -> web.StreamResponse:
        """Change one's own message."""
        body = await Body.of(request)
        await self._workspace.edit(body.text("user"), body.text("channel"), body.text("ts"), body.text("text"))
        return web.json_response({"ok": True})

    async def delete(self, request: web.Request) -> web.StreamResponse:
        """Take one's own message away."""
        body = await Body.of(request)
        await self._workspace.delete(body.text("user"), body.text("channel"), body.text("ts"))
        return web.json_response({"ok": True})

    async def action(self, request: web.Request) -> web.StreamResponse:
        """Click an element of a message or of an open view."""
        body = await Body.of(request)
        user, action_id, block_id = body.text("user"), body.text("action_id"), body.text("block_id")
        if body.text("view_id"):
            outcome = await self._workspace.click_in_view(
                user,
                body.text("view_id"),
                action_id,
                block_id,
                value=body.any("value"),
                values=body.values("state"),
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

    async def options(self, request: web.Request) -> web.StreamResponse:
        """Ask the app what it offers for a text typed into one of its selects."""
        body = await Body.of(request)
        place = {name: body.text(name) for name in ("channel", "ts", "view_id")}
        options = await self._workspace.suggest(body.text("user"), body.text("action_id"), body.text("value"), **place)
        return web.json_response({"ok": True, "options": options})

    async def view(self, request: web.Request) -> web.StreamResponse:
        """Send or close a view."""
        body = await Body.of(request)
        if body.text("action") == "close":
            return _shown_outcome(await self._workspace.close_view(body.text("user"), body.text("view_id")))
        if body.text("action") != "submit":
            raise Refusal("invalid_arguments")
        return _shown_outcome(
            await self._workspace.submit(body.text("user"), body.text("view_id"), body.values("values"))
        )

    async def react(self, request: web.Request) -> web.StreamResponse:
        """Add a reaction, or take it away."""
        body = await Body.of(request)
        await self._workspace.react(
            body.text("user"), body.text("channel"), body.text("ts"), body.text("name"), on=body.any("on") is not False
        )
        return web.json_response({"ok": True})

    async def look(self, request: web.Request) -> web.StreamResponse:
        """Have read a conversation, or a thread, up to a message."""
        body = await Body.of(request)
        channel = self._workspace.roster.joined_by(body.text("user"), body.text("channel")).id
        post = self._workspace.posts.seen(body.text("user"), channel, body.text("ts"))
        self._workspace.read_marks.look(body.text("user"), channel, body.text("thread_ts"), post.ts)
        return web.json_response({"ok": True})

    async def command(self, request: web.Request) -> web.StreamResponse:
        """Send a slash command."""
        body = await Body.of(request)
        return _shown_outcome(
            await self._workspace.command(
                body.text("user"), body.text("channel"), body.text("command"), body.text("text")
            )
        )

    async def shortcut(self, request: web.Request) -> web.StreamResponse:
        """Use a shortcut of a message, or one of the workspace."""
        body = await Body.of(request)
        return _shown_outcome(
            await self._workspace.shortcut(
                body.text("user"), body.text("callback_id"), body.text("channel"), body.text("ts")
            )
        )

    async def home(self, request: web.Request) -> web.StreamResponse:
        """Open the app's "home" or "messages" tab; the app is told."""
        body = await Body.of(request)
        await self._workspace.open_home(body.text("user"), body.text("tab"), body.text("app"))
        return web.json_response({"ok": True})

    async def stop(self, request: web.Request) -> web.StreamResponse:
        """Press Stop beside an agent's work."""
        body = await Body.of(request)
        stopped = await self._workspace.stop(body.text("user"), body.text("channel"), body.text("thread_ts"))
        return web.json_response({"ok": True, "stopped": stopped})


def _shown_outcome(outcome: Outcome) -> web.Response:
    optional: Json = {"error": outcome.error, "errors": dict(outcome.errors)}
    return web.json_response({"ok": outcome.ok} | {key: value for key, value in optional.items() if value})
