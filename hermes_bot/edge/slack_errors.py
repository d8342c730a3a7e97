"""One place that turns what can go wrong with a call to Slack into our own errors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from hermes_bot.errors import SlackRefused, TransientError
from hermes_bot.messages.message import utc_now
from hermes_bot.settings.slack_access import APP_TOKEN, BOT_TOKEN

DEFAULT_RETRY_AFTER_S = 1.0
MAX_RETRY_AFTER_S = 300.0
TOKEN_RETRY_AFTER_S = 30.0

RATE_LIMITED = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
UNSURE = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"})
TOKEN_REFUSED = frozenset(
    {
        "not_authed",
        "invalid_auth",
        "account_inactive",
        "token_revoked",
        "token_expired",
        "not_allowed_token_type",
        "no_permission",
        "access_denied",
        "forbidden_team",
    }
)


class OutcomeUnknown(TransientError):
    """Slack may or may not have done what was asked: look for the trace before asking again."""


class RateLimited(TransientError):
    """Slack turned the call away, which had no effect, for `wait_s` seconds."""

    def __init__(self, method: str, wait_s: float) -> None:
        super().__init__(f"slack: {method}: rate limited", retry_after_s=wait_s)
        self.wait_s = wait_s


class TokenRefused(TransientError):
    """Slack refused a token. Fatal at the start; later it may be replaced, so that deliveries are kept.

    `variable` is the one that gives the token, or that names its file.
    """

    def __init__(self, error: str, *, variable: str = BOT_TOKEN) -> None:
        token = "app token" if variable.startswith(APP_TOKEN) else "bot token"
        super().__init__(f"Slack refused the {token}: {error}. Check {variable}.", retry_after_s=TOKEN_RETRY_AFTER_S)
        self.error = error
        self.variable = variable


FOREIGN = (SlackClientError, aiohttp.ClientError, TimeoutError, OSError, AttributeError, ValueError)
"""What slack_sdk lets through: its own errors, the connection's, and what it stumbles over in a body that is odd."""


def mapped(method: str, error: Exception, *, variable: str = BOT_TOKEN) -> TransientError | SlackRefused:
    """Return our error for one that a call of `method` raised; never raises."""
    if not isinstance(error, SlackApiError):
        return OutcomeUnknown(f"slack: {method}: {type(error).__name__}: {error}")
    status, headers, body = _parts(error)
    code = str(body.get("error") or "")
    if status == 429 or code in RATE_LIMITED:
        return RateLimited(method, retry_after_s(headers))
    if status >= 500 or not code or code in UNSURE:
        return OutcomeUnknown(f"slack: {method}: HTTP {status} {code}".rstrip())
    if code in TOKEN_REFUSED and not (code == "no_permission" and method.startswith("agents.")):
        return TokenRefused(code, variable=variable)
    needed = body.get("needed")
    return SlackRefused(method, f"{code} (needed: {needed})" if needed else code)


def retry_after_s(headers: Mapping[str, Any], now: datetime | None = None) -> float:
    """Return the seconds that `Retry-After` asks for, as a number or a date (RFC 9110, section 10.2.3).

    A second at least, also where it is missing or unreadable; five minutes at most: to ask once more costs one call.
    """
    told = _header(headers, "retry-after")
    try:
        seconds = float(told)
    except ValueError:
        date = _date(told)
        since = _date(_header(headers, "date")) or now or utc_now()
        seconds = (date - since).total_seconds() if date is not None else DEFAULT_RETRY_AFTER_S
    if math.isnan(seconds):
        return DEFAULT_RETRY_AFTER_S
    return min(max(seconds, DEFAULT_RETRY_AFTER_S), MAX_RETRY_AFTER_S)


def _header(headers: Mapping[str, Any], wanted: str) -> str:
    raw = next((value for name, value in headers.items() if str(name).lower() == wanted), "")
    return str(raw[0] if isinstance(raw, list) and raw else raw).strip()


def _date(text: str) -> datetime | None:
    """Return the time of an HTTP date; one without a zone is in UTC."""
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _parts(error: SlackApiError) -> tuple[int, Mapping[str, Any], Mapping[str, Any]]:
    """Return status, headers and body; the response is a SlackResponse, an aiohttp response or a plain mapping."""
    response: Any = error.response
    if isinstance(response, Mapping):
        return 200, {}, response
    status = getattr(response, "status_code", None) or getattr(response, "status", None) or 200
    body = getattr(response, "data", None)
    return int(status), getattr(response, "headers", None) or {}, body if isinstance(body, Mapping) else {}
