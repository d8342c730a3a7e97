"""The HTTP door: Slack's signed requests (when a signing secret is set), health and metrics in any case."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import hmac
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncBoltRequest

from hermes_bot.edge.renewing import Renew, never
from hermes_bot.edge.slack_app import SlackApp, refused
from hermes_bot.errors import HermesError, SettingsError

BODY_BYTES = 1_048_576
BODY_LIMIT_S = 10.0
MAX_SKEW_S = 300
FORM_TYPE = "application/x-www-form-urlencoded"
PATHS = ("/slack/events", "/slack/interactions", "/slack/commands")

log = logging.getLogger(__name__)

PROBE_LIMIT_S = 5.0
BAD_SIGNATURE = "invalid_signature"
RENEW_EVERY = timedelta(seconds=10)

Ready = Callable[[], tuple[bool, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """What lies behind the edge: `trouble` says why it is not ready, empty when all is well.

    `metrics` gives the body and the content type of `/metrics`; `paused` whether nothing is executed at the moment.
    """

    trouble: Callable[[], Awaitable[str]]
    metrics: Callable[[], Awaitable[tuple[bytes, str]]]
    paused: Callable[[], bool]


class HttpDoor:
    """Serves `/healthz`, `/readyz` and `/metrics`, and `/slack/...` once `serve` has given it the app."""

    def __init__(
        self,
        *,
        host: str,
        port: int,
        ready: Ready,
        clock: Callable[[], datetime],
        signing_secret: str = "",
        renew: Renew = never,
        probes: Probes | None = None,
        body_limit_s: float = BODY_LIMIT_S,
        ages: Callable[[], Mapping[str, float | None]] = dict,
    ) -> None:
        self._host = host
        self._port = port
        self._ready = ready
        self._clock = clock
        self._secret = signing_secret.encode()
        self._renew = renew
        self._renewed_at: datetime | None = None
        self._probes = probes
        self._body_limit_s = body_limit_s
        self._ages = ages
        self._app: SlackApp | None = None
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Where it listens, with the port that was really taken."""
        addresses = self._runner.addresses if self._runner is not None else []
        port = addresses[0][1] if addresses else self._port
        return f"http://{self._host}:{port}"

    async def open(self) -> None:
        """Listen; raise SettingsError when the port is in use."""
        application = web.Application(client_max_size=BODY_BYTES)
        application.router.add_get("/healthz", self._healthz)
        application.router.add_get("/readyz", self._readyz)
        if self._probes is not None:
            application.router.add_get("/metrics", self._metrics)
        if self._secret:
            for path in PATHS:
                application.router.add_post(path, self._slack)
                application.router.add_get(path, self._looked_at)
        runner = web.AppRunner(application, access_log=None, auto_decompress=False)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._host, self._port).start()
        except OSError as error:
            await runner.cleanup()
            reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be had ({error.strerror})"
            raise SettingsError(
                f"port {self._port} on {self._host} {reason}; choose another with --port or http.port", key="http.port"
            ) from error
        self._runner = runner

    def serve(self, app: SlackApp) -> None:
        """Pass Slack's requests to the app from now on; before, they are answered with 503."""
        self._app = app

    def refuse(self) -> None:
        """Answer Slack's requests with 503 from now on."""
        self._app = None

    async def close(self) -> None:
        """Stop listening."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def _healthz(self, _request: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def _readyz(self, _request: web.Request) -> web.Response:
        ready, reason = self._ready()
        told: dict[str, object] = {**self._ages()}
        if self._probes is not None:
            told["paused"] = self._probes.paused()
            if ready:
                reason = await _within_limit(self._probes.trouble())
                ready = not reason
        return web.json_response({"ok": ready, "reason": reason, **told}, status=200 if ready else 503)

    async def _metrics(self, _request: web.Request) -> web.Response:
        assert self._probes is not None  # noqa: S101 - the path exists with them only
        try:
            async with asyncio.timeout(PROBE_LIMIT_S):
                body, content_type = await self._probes.metrics()
        except (HermesError, TimeoutError) as error:
            return _error(503, f"{type(error).__name__}: {error}")
        return web.Response(body=body, headers={"Content-Type": content_type})

    async def _looked_at(self, request: web.Request) -> web.Response:
        """Answer Slack's look at our certificate, which may come as a GET; anything else has to be posted."""
        if request.query.get("ssl_check") == "1":
            return web.Response()
        raise web.HTTPMethodNotAllowed(request.method, ["POST"])

    async def _slack(self, request: web.Request) -> web.Response:
        raw = await self._body(request)
        if request.content_type == FORM_TYPE and b"ssl_check=1" in raw.split(b"&"):  # unsigned, and goes no further
            return web.Response()
        refusal = self._refusal(request, raw)
        if refusal == BAD_SIGNATURE and await self._has_another_secret():
            refusal = self._refusal(request, raw)
        if refusal:
            return _error(401, refusal)
        if self._app is None:
            return _error(503, "starting")
        try:
            body = raw.decode("utf-8")
            bolt_request = AsyncBoltRequest(body=body, query=request.query_string, headers=dict(request.headers))
        except Exception as error:  # noqa: BLE001 - an edge: slack-bolt stumbles over odd bodies in many ways
            log.warning("malformed request", extra={"path": request.path, "error": type(error).__name__})
            return await to_aiohttp_response(refused("malformed"))
        return await to_aiohttp_response(await self._app.dispatch(bolt_request))

    async def _body(self, request: web.Request) -> bytes:
        """Return the raw body; who sends it drop by drop, or broken, is let go before anything is believed of them."""
        try:
            async with asyncio.timeout(self._body_limit_s):
                return await request.read()
        except TimeoutError as error:
            raise web.HTTPRequestTimeout from error
        except web.RequestPayloadError as error:
            raise web.HTTPBadRequest from error

    async def _has_another_secret(self) -> bool:
        """Return whether the file holds another secret by now; it is looked at every ten seconds, whoever asks."""
        now = self._clock()
        if self._renewed_at is not None and now - self._renewed_at < RENEW_EVERY:
            return False
        self._renewed_at = now
        fresh = (await asyncio.to_thread(self._renew)).encode()
        if not fresh or fresh == self._secret:
            return False
        log.warning("a signature did not fit; the file of the signing secret holds another one, which is used now")
        self._secret = fresh
        return True

    def _refusal(self, request: web.Request, raw: bytes) -> str:
        """Return why the request is not Slack's, empty when it is (https://docs.slack.dev/authentication)."""
        stamp = request.headers.get("X-Slack-Request-Timestamp", "")
        if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
            return "no_timestamp"
        if not hmac.compare_digest(
            signature(self._secret, stamp, raw), request.headers.get("X-Slack-Signature", "").encode("utf-8", "replace")
        ):
            return BAD_SIGNATURE
        skew_s = self._clock().timestamp() - int(stamp)
        if abs(skew_s) > MAX_SKEW_S:
            log.warning("clock skew: a request of Slack's refused, check this machine's time", extra={"skew_s": skew_s})
            return "clock_skew"
        return ""


async def _within_limit(trouble: Awaitable[str]) -> str:
    """Return what is wrong, also when that cannot be found out."""
    try:
        async with asyncio.timeout(PROBE_LIMIT_S):
            return await trouble
    except TimeoutError:
        return f"no answer within {PROBE_LIMIT_S:g} s"
    except HermesError as error:
        return str(error)


def signature(secret: bytes, timestamp: str, raw: bytes) -> bytes:
    """Return the value of `X-Slack-Signature` for a raw body."""
    signed = b"v0:" + timestamp.encode() + b":" + raw
    return b"v0=" + hmac.new(secret, signed, hashlib.sha256).hexdigest().encode()


def _error(status: int, error: str) -> web.Response:
    return web.json_response({"error": error}, status=status)
