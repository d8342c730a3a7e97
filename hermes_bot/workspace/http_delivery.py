"""Events and interactions over signed HTTP, for an app that is configured with a request URL."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import json
import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

import aiohttp

from hermes_bot.workspace.ack_faults import AckFaults
from hermes_bot.workspace.clock import Clock, within
from hermes_bot.workspace.deliveries import ACK_LIMIT_S, RETRY_AFTER_S
from hermes_bot.workspace.people import App
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.subscriptions import Subscriptions

DELAYED_AFTER_S = (3_600.0,) * 24
_MAX_REDIRECTS = 2
_TAKEN = 2  # of 2xx; what a redirect leads to counts, not the redirect
_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpTry:
    """One request for one event, for tests to look at; `reason` is empty when it was answered with 2xx."""

    event_id: str
    attempt: int
    reason: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int = 0
    body: str = ""
    reason: str = ""
    no_retry: bool = False


@dataclass(frozen=True, slots=True)
class RequestUrls:
    """Where an app wants to be reached; empty: interactions where events go, commands where interactions go."""

    events: str
    interactions: str = ""
    commands: str = ""


class HttpDelivery:
    """The courier that posts to the app's request URLs.

    `wall` dates the signatures, which the app judges by its own, real clock; limits and retries go by `clock`. A test
    lets the two clocks differ by `skew_s`, and signs with another `secret` than the app's. With `delayed_events` an
    event that was not taken comes again every hour of a day, as Slack has it where an app turned Delayed Events on.
    """

    def __init__(
        self,
        app: App,
        clock: Clock,
        wake: Callable[[], None],
        urls: RequestUrls,
        *,
        faults: AckFaults | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._app = app
        self._clock = clock
        self._wake = wake
        self._wall = wall
        self.skew_s = 0.0
        self.secret = app.signing_secret
        self.events_url = urls.events
        self._interactions_url = urls.interactions or urls.events
        self._commands_url = urls.commands or self._interactions_url
        self.faults = faults or AckFaults()
        self.delayed_events = False
        self.subscriptions = Subscriptions(clock)
        self._session: aiohttp.ClientSession | None = None
        self._tasks: dict[asyncio.Task[None], Json] = {}
        self.sent: deque[HttpTry] = deque(maxlen=_REMEMBERED)
        self.lost: deque[Json] = deque(maxlen=_REMEMBERED)

    def unsettled(self) -> int:
        """Return how many events are neither taken by the app nor given up."""
        return len(self._tasks)

    def send_event(self, body: Json) -> None:
        """Deliver an event, with three retries; none to an app whose subscriptions were disabled."""
        if self.subscriptions.disabled:
            self.lost.append(body)
            return
        self.subscriptions.sent()
        task = asyncio.get_running_loop().create_task(self._deliver(body), name=f"deliver-{body['event_id']}")
        self._tasks[task] = body
        task.add_done_callback(self._ended)

    def undelivered(self) -> list[Json]:
        """Return the bodies of those events."""
        return list(self._tasks.values())

    async def send_interaction(self, payload: Json, *, answerable: bool) -> Json:
        """Post an interaction once; return the answer's JSON, {} for an empty one."""
        parsed = await self._ask(self._interactions_url, {"payload": json.dumps(payload)})
        return parsed if answerable and isinstance(parsed, dict) else {}

    async def send_command(self, payload: Json) -> Json:
        """Post a slash command once; return what it answers, a plain text as its text."""
        parsed = await self._ask(self._commands_url, payload)
        return parsed if isinstance(parsed, dict) else {"text": str(parsed)}

    async def _ask(self, url: str, fields: Mapping[str, str]) -> object:
        answer = await self._post(url, urlencode(fields).encode(), "application/x-www-form-urlencoded", {})
        if answer.reason:
            raise Refusal("not_acknowledged")
        try:
            parsed: object = json.loads(answer.body or "{}")
        except ValueError:
            return answer.body
        return parsed

    async def verify(self) -> None:
        """Ask the events URL for the challenge, as Slack does at its configuration; raise Refusal on a wrong answer."""
        challenge = secrets.token_hex(16)
        body = {"token": "local-verification-token", "challenge": challenge, "type": "url_verification"}
        answer = await self._post(self.events_url, json.dumps(body).encode(), "application/json", {})
        if answer.reason or challenge not in answer.body:
            raise Refusal("url_verification_failed", [answer.reason or "the answer does not hold the challenge"])

    async def close(self) -> None:
        """Give up what is on its way."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task]
        self._wake()

    async def _deliver(self, body: Json) -> None:
        raw = json.dumps(body).encode()
        headers: dict[str, str] = {}
        for attempt in itertools.count():
            answer = await self._post(self.events_url, raw, "application/json", headers, body["event_id"])
            now = self._clock.now()
            self.sent.append(HttpTry(event_id=body["event_id"], attempt=attempt, reason=answer.reason, at=now))
            self.subscriptions.tried(taken=not answer.reason)
            self._wake()
            if not answer.reason:
                return
            delays_s = RETRY_AFTER_S + (DELAYED_AFTER_S if self.delayed_events else ())
            if answer.no_retry or attempt == len(delays_s) or self.subscriptions.disabled:
                break
            await self._pause(delays_s[attempt])
            headers = {"X-Slack-Retry-Num": str(attempt + 1), "X-Slack-Retry-Reason": answer.reason}
        self.lost.append(body)

    async def _pause(self, delay_s: float) -> None:
        due: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        timer = self._clock.call_later(delay_s, lambda: _settle(due))
        try:
            await due
        finally:
            timer.cancel()

    async def _post(
        self, url: str, body: bytes, content_type: str, headers: Mapping[str, str], event_id: str = ""
    ) -> _Answer:
        signed = {"Content-Type": content_type, **self._signature(body), **headers}
        fault = self.faults.take(event_id)
        try:
            answer = await within(self._clock, ACK_LIMIT_S, self._request(url, body, signed))
            lost = fault is not None and (fault.delay_s is None or fault.delay_s > ACK_LIMIT_S)
            return _Answer(reason="http_timeout") if lost else answer
        except TimeoutError:
            return _Answer(reason="http_timeout")
        except aiohttp.TooManyRedirects:
            return _Answer(reason="too_many_redirects")
        except aiohttp.ClientSSLError:
            return _Answer(reason="ssl_error")
        except aiohttp.ClientConnectionError:
            return _Answer(reason="connection_failed")
        except aiohttp.ClientError:
            return _Answer(reason="unknown_error")

    async def _request(self, url: str, body: bytes, headers: Mapping[str, str]) -> _Answer:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60))
        async with self._session.post(url, data=body, headers=headers, max_redirects=_MAX_REDIRECTS + 1) as response:
            reason = "" if response.status // 100 == _TAKEN else "http_error"
            no_retry = bool(reason) and response.headers.get("X-Slack-No-Retry") == "1"
            return _Answer(response.status, await response.text(), reason, no_retry)

    def _signature(self, body: bytes) -> dict[str, str]:
        timestamp = str(int(self._wall() + self.skew_s))
        signature = sign(self.secret, timestamp, body)
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": signature}


def _settle(due: asyncio.Future[None]) -> None:
    if not due.done():
        due.set_result(None)


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """Return the `X-Slack-Signature` of a raw body (docs.slack.dev, "Verifying requests from Slack")."""
    base = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
