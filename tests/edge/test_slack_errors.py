"""What goes wrong with a call to Slack is told apart in one place."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from hermes_bot.edge.slack_errors import OutcomeUnknown, RateLimited, TokenRefused, mapped, retry_after_s
from hermes_bot.errors import SlackRefused


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
        ({"Retry-After": "0"}, 1),
        ({"Retry-After": ""}, 1),
        ({"Retry-After": "nan"}, 1),
        ({"Retry-After": "Tue, 01 Dec 2026 02:00:00 +99999999999999999999"}, 1),
        ({"Retry-After": []}, 1),
        ({"Retry-After": " 2.5 "}, 2.5),
        ({"Retry-After": "604800"}, 300),
        ({"Retry-After": "1e999"}, 300),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:09 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 9),
        ({"Retry-After": "Wed, 21 Oct 2020 07:28:00 GMT"}, 1),
        ({"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}, 300),
        ({"Retry-After": "Wed, 99 Oct 2026 07:28:00 GMT"}, 1),
    ],
)
def test_a_rate_limit_says_how_long_to_wait(headers: dict[str, Any], seconds: float) -> None:
    error = mapped("chat.postMessage", answered(429, {"ok": False, "error": "ratelimited"}, headers))

    assert isinstance(error, RateLimited)
    assert error.wait_s == error.retry_after_s == seconds


def test_a_rate_limit_without_a_body_is_one_too() -> None:
    error = mapped("chat.postMessage", answered(429, ""))

    assert isinstance(error, RateLimited)
    assert error.wait_s == 1


@pytest.mark.parametrize("code", ["ratelimited", "rate_limited", "message_limit_exceeded"])
def test_a_rate_limit_that_only_the_body_tells_of_is_one_too(code: str) -> None:
    error = mapped("chat.postMessage", answered(200, {"ok": False, "error": code}, {"Retry-After": "4"}))

    assert isinstance(error, RateLimited)
    assert error.wait_s == 4


@given(st.text())
def test_whatever_the_header_says_the_wait_is_bounded(told: str) -> None:
    assert 1 <= retry_after_s({"Retry-After": told}) <= 300


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
        ("SLACK_APP_TOKEN_FILE", "Slack refused the app token: invalid_auth. Check SLACK_APP_TOKEN_FILE."),
    ],
)
def test_a_refused_token_is_told_in_one_sentence(variable: str, sentence: str) -> None:
    error = mapped("auth.test", answered(200, {"ok": False, "error": "invalid_auth"}), variable=variable)

    assert isinstance(error, TokenRefused)
    assert str(error) == sentence
