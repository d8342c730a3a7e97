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
            body.text("user"), body.text("channel"), body.text("text"), body.text("thread_ts")
        )
        return web.json_response({"ok": True, "ts": ts})

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


def _shown_outcome(outcome: Outcome) -> web.Response:
    optional: Json = {"error": outcome.error, "errors": dict(outcome.errors)}
    return web.json_response({"ok": outcome.ok} | {key: value for key, value in optional.items() if value})
