"""The Web API: takes a call apart, checks its token, lets a fault happen where a test set one, and runs the method."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from hermes_bot.errors import HermesError
from hermes_bot.workspace.args import Args, arguments_of, token_of
from hermes_bot.workspace.clock import Clock
from hermes_bot.workspace.content import content_of
from hermes_bot.workspace.faults import (
    ApiError,
    Fault,
    Faults,
    Lacks,
    RateLimited,
    ReplyLost,
    ServerError,
    Slow,
    TokenRevoked,
)
from hermes_bot.workspace.methods import (
    agents,
    chat,
    conversations,
    files,
    history,
    identity,
    reactions,
    scheduled,
    streaming,
    users,
    views,
)
from hermes_bot.workspace.methods.method import EVERY_METHOD, Call, Method
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.rate_limits import RateLimits
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.tokens import Tokens
from hermes_bot.workspace.workspace import Workspace

_MODULES = (agents, chat, conversations, files, history, identity, reactions, scheduled, streaming, users, views)
METHODS: Mapping[str, Method] = {name: method for module in _MODULES for name, method in module.METHODS.items()}
MAX_BODY_BYTES = 25_000_000


class UndeclaredError(HermesError):
    """A method answered with an error that it does not declare, and so perhaps one that Slack never gives."""


class WebApi:
    """Serves `/api/<method>` and the response URLs."""

    def __init__(self, workspace: Workspace, tokens: Tokens, faults: Faults, limits: RateLimits) -> None:
        self._workspace = workspace
        self._tokens = tokens
        self._faults = faults
        self._limits = limits

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
        fault = self._faults.take(name, str(values.get("channel") or values.get("channel_id") or ""))
        if isinstance(fault, (RateLimited, ServerError)):
            return _broken(fault)
        token = token_of(request, values)
        if isinstance(fault, TokenRevoked):
            self._tokens.revoke(token)
        try:
            body, headers = self._run(name, values, token, fault)
        except _TooFast as error:
            return _broken(RateLimited(error.wait_s))
        if isinstance(fault, ReplyLost) and request.transport is not None:
            request.transport.abort()
        if isinstance(fault, Slow):
            await _pause(self._workspace.clock, fault.delay_s)
        return _answer(body, headers=headers)

    def _run(
        self, name: str, values: Mapping[str, Any], token: str, fault: Fault | None
    ) -> tuple[Json, dict[str, str]]:
        method = METHODS.get(name)
        if method is None or not self._faults.knows(name):
            return _refused(Refusal("unknown_method")), {}
        headers: dict[str, str] = {}
        try:
            app = self._workspace.app
            if method.token_kind != "none":  # noqa: S105 - a kind, not a token
                app = self._tokens.check(token, method.token_kind)
            headers["X-OAuth-Scopes"] = ",".join(app.scopes if app.scopes is not None else EVERY_SCOPE)
            call = Call(self._workspace, Args(self._limits.bounded(name, values)), app)
            wait_s = self._limits.wait_s(app.id, name, method.tier, str(values.get("channel", "")))
            if wait_s:
                raise _TooFast(wait_s)
            method.check_scopes(call)
            if isinstance(fault, ApiError):
                return _refused(Refusal(fault.error)), headers
            body = {"ok": True} | method.run(call)
            return fault.left_of(body) if isinstance(fault, Lacks) else body, headers
        except Refusal as refusal:
            if refusal.error not in EVERY_METHOD | method.errors and name != "api.test":
                raise UndeclaredError(f"{name} answered {refusal.error}") from refusal
            return _refused(refusal), headers

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


class _TooFast(HermesError):
    def __init__(self, wait_s: int) -> None:
        super().__init__("ratelimited")
        self.wait_s = wait_s


EVERY_SCOPE = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:join",
    "channels:manage",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "groups:write",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "mpim:write",
    "reactions:read",
    "reactions:write",
    "team:read",
    "usergroups:read",
    "users:read",
    "users:read.email",
)
"""What an app without a list of its own was granted."""


async def _pause(clock: Clock, delay_s: float) -> None:
    due: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    timer = clock.call_later(delay_s, lambda: None if due.done() else due.set_result(None))
    try:
        await due
    finally:
        timer.cancel()


def _refused(refusal: Refusal) -> Json:
    body: Json = {"ok": False, "error": refusal.error} | refusal.more
    if refusal.messages:
        body["response_metadata"] = {"messages": list(refusal.messages)}
        body["errors"] = list(refusal.messages)
    return body


def _answer(body: Json, *, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    text = json.dumps(body, ensure_ascii=False)
    return web.Response(text=text, status=status, headers=headers, content_type="application/json", charset="utf-8")


def _broken(fault: RateLimited | ServerError) -> web.Response:
    if isinstance(fault, ServerError):
        return web.Response(text="<html>server error</html>", status=fault.status, content_type="text/html")
    response = _answer({"ok": False, "error": "ratelimited"}, status=429)
    if fault.retry_after_s is not None:
        response.headers["Retry-After"] = f"{fault.retry_after_s:g}"
    return response
