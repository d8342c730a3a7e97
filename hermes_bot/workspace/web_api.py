"""The Web API: takes a call apart, checks its token, lets a fault happen where a test set one, and runs the method."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from hermes_bot.workspace.args import Args, arguments_of, token_of
from hermes_bot.workspace.content import content_of
from hermes_bot.workspace.faults import ApiError, Fault, Faults, RateLimited, ReplyLost, ServerError, TokenRevoked
from hermes_bot.workspace.methods import chat, conversations, history, identity, reactions, users, views
from hermes_bot.workspace.methods.method import Method
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.tokens import Tokens
from hermes_bot.workspace.workspace import Workspace

METHODS: Mapping[str, Method] = {
    name: method
    for module in (chat, conversations, history, identity, reactions, users, views)
    for name, method in module.METHODS.items()
}
MAX_BODY_BYTES = 4_000_000


class WebApi:
    """Serves `/api/<method>` and the response URLs."""

    def __init__(self, workspace: Workspace, tokens: Tokens, faults: Faults) -> None:
        self._workspace = workspace
        self._tokens = tokens
        self._faults = faults

    def routes(self) -> list[web.AbstractRouteDef]:
        """Return the routes to add to the server."""
        return [
            web.route("*", "/api/{method}", self._call),
            web.post("/response/{secret}", self._respond),
        ]

    async def _call(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        try:
            values = await arguments_of(request)
        except Refusal as refusal:
            return _answer(_refused(refusal))
        fault = self._faults.take(name, str(values.get("channel", "")))
        if isinstance(fault, (RateLimited, ServerError)):
            return _broken(fault)
        token = token_of(request, values)
        if isinstance(fault, TokenRevoked):
            self._tokens.revoke(token)
        body = self._run(name, values, token, fault)
        if isinstance(fault, ReplyLost) and request.transport is not None:
            request.transport.abort()
        return _answer(body)

    def _run(self, name: str, values: Mapping[str, Any], token: str, fault: Fault | None) -> Json:
        method = METHODS.get(name)
        if method is None:
            return _refused(Refusal("unknown_method"))
        try:
            self._tokens.check(token, method.token_kind)
            if isinstance(fault, ApiError):
                return _refused(Refusal(fault.error))
            return {"ok": True} | method.run(self._workspace, Args(values))
        except Refusal as refusal:
            return _refused(refusal)

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        try:
            values = await arguments_of(request)
            args = Args(values)
            said = any(args.given(name) for name in ("text", "blocks", "attachments"))
            content = content_of(args, lambda: self._workspace.ids.next("b")) if said else None
            self._workspace.response_urls.respond(request.match_info["secret"], values, content)
        except Refusal as refusal:
            return _answer(_refused(refusal), status=404 if refusal.error.endswith("_url") else 400)
        return _answer({"ok": True})


def _refused(refusal: Refusal) -> Json:
    body: Json = {"ok": False, "error": refusal.error}
    if refusal.messages:
        body["response_metadata"] = {"messages": list(refusal.messages)}
        body["errors"] = list(refusal.messages)
    return body


def _answer(body: Json, *, status: int = 200) -> web.Response:
    text = json.dumps(body, ensure_ascii=False)
    return web.Response(text=text, status=status, content_type="application/json", charset="utf-8")


def _broken(fault: RateLimited | ServerError) -> web.Response:
    if isinstance(fault, ServerError):
        return web.Response(text="<html>server error</html>", status=fault.status, content_type="text/html")
    response = _answer({"ok": False, "error": "ratelimited"}, status=429)
    if fault.retry_after_s is not None:
        response.headers["Retry-After"] = f"{fault.retry_after_s:g}"
    return response
