"""Keeps other web sites out: a page from elsewhere must not reach the workspace through the user's browser.

A browser names the site that asks in `Origin`; a name that was bent to this machine (DNS rebinding) stands in `Host`.
The app's own clients send a `Host` of this machine and no `Origin`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Middleware

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def is_from_here(host: str, origin: str | None, hosts: frozenset[str]) -> bool:
    """Return whether a request names one of `hosts` and comes from no other site."""
    try:
        named = urlsplit(f"//{host}")
        asking = urlsplit(origin).netloc if origin is not None else named.netloc
    except ValueError:
        return False
    return named.hostname in hosts and asking == named.netloc


def same_origin_only(host: str) -> Middleware:
    """Return the middleware that answers 403 to everybody else; `host` is what the server listens on."""
    hosts = _LOOPBACK | {host}

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not is_from_here(request.headers.get("Host", ""), request.headers.get("Origin"), hosts):
            return web.json_response({"ok": False, "error": "forbidden_origin"}, status=403)
        return await handler(request)

    return guard
