"""What goes wrong with a call to Slack is told apart in one place."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from hermes_bot.edge.slack_errors import OutcomeUnknown, TokenRefused, mapped
from hermes_bot.errors import SlackRefused, TransientError


def answered(status: int, body: Any, headers: dict[str, Any] | None = None) -> SlackApiError:
    response = AsyncSlackResponse(
        client=AsyncWebClient(),
        http_verb="POST",
        api_url="https://slack.com/api/chat.postMessage",
        req_args={},
        data=body,
        headers=headers or {},
        status_code=status,
    )
    return SlackApiError("failed", response)  # type: ignore[no-untyped-call]  # slack_sdk has no annotation here


@pytest.mark.parametrize(
    "headers, seconds",
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after": ["3"]}, 3),
        ({}, 1),
        ({"Retry-After": "soon"}, 1),
        ({"Retry-After": "-4"}, 1),
    ],
)
def test_a_rate_limit_says_how_long_to_wait(headers: dict[str, Any], seconds: float) -> None:
    error = mapped("chat.postMessage", answered(429, {"ok": False, "error": "ratelimited"}, headers))

    assert isinstance(error, TransientError)
    assert not isinstance(error, OutcomeUnknown)
    assert error.retry_after_s == seconds


def test_a_rate_limit_without_a_body_is_one_too() -> None:
    error = mapped("chat.postMessage", answered(429, ""))

    assert (type(error), error.retry_after_s if isinstance(error, TransientError) else 0) == (TransientError, 1)


@pytest.mark.parametrize(
    "error",
    [
        answered(500, "oops"),
        answered(503, {"ok": False, "error": "service_unavailable"}),
        answered(200, {"ok": False, "error": "internal_error"}),
        aiohttp.ServerDisconnectedError(),
        TimeoutError(),
        ConnectionResetError(),
    ],
)
def test_when_slack_does_not_say_the_outcome_is_unknown(error: Exception) -> None:
    assert isinstance(mapped("chat.postMessage", error), OutcomeUnknown)


@pytest.mark.parametrize("code", ["not_in_channel", "is_archived", "channel_not_found", "invalid_blocks"])
def test_a_refusal_carries_slacks_own_code(code: str) -> None:
    error = mapped("chat.postMessage", answered(200, {"ok": False, "error": code}))

    assert isinstance(error, SlackRefused)
    assert error.error == code


def test_a_missing_scope_is_named() -> None:
    error = mapped("users.info", answered(200, {"ok": False, "error": "missing_scope", "needed": "users:read"}))

    assert "users:read" in str(error)


@pytest.mark.parametrize(
    "variable, sentence",
    [
        ("SLACK_BOT_TOKEN", "Slack refused the bot token: invalid_auth. Check SLACK_BOT_TOKEN."),
        ("SLACK_APP_TOKEN", "Slack refused the app token: invalid_auth. Check SLACK_APP_TOKEN."),
    ],
)
def test_a_refused_token_is_told_in_one_sentence(variable: str, sentence: str) -> None:
    error = mapped("auth.test", answered(200, {"ok": False, "error": "invalid_auth"}), variable=variable)

    assert isinstance(error, TokenRefused)
    assert str(error) == sentence
