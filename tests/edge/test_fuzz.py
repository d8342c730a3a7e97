"""Mutated payloads of Slack's: the door answers, no listener crashes, and nothing is done that nobody asked for."""

from __future__ import annotations

import copy
import json
import logging
import time
import traceback
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slack_bolt.async_app import AsyncBoltRequest

from hermes_bot.edge.http_door import signature
from tests.edge.rig import Rig

Json = dict[str, Any]
ROUNDS = 150
OPEN = "https://127.0.0.1:1/nobody"

EVENTS: list[Json] = [
    {"type": "message", "user": "U0EMMA", "text": "hi <@U0HERMES>", "ts": "1.1", "channel": "C0SUPPORT"},
    {"type": "message", "user": "U0EMMA", "text": "hi", "ts": "1.2", "thread_ts": "1.1", "channel": "D0EMMA"},
    {"type": "app_mention", "user": "U0EMMA", "text": "<@U0HERMES>", "ts": "1.3", "channel": "C0SUPPORT"},
    {
        "type": "message", "subtype": "file_share", "user": "U0EMMA", "text": "", "ts": "1.4", "channel": "D0EMMA",
        "files": [{"id": "F1", "name": "a.png", "size": 5, "mimetype": "image/png", "url_private": "https://x/y"}],
    },
    {
        "type": "message", "subtype": "message_changed", "hidden": True, "channel": "C0SUPPORT", "ts": "1.6",
        "message": {"user": "U0EMMA", "text": "b", "ts": "1.1", "edited": {"user": "U0EMMA", "ts": "1.6"}},
        "previous_message": {"user": "U0EMMA", "text": "a", "ts": "1.1"},
    },
    {
        "type": "message", "subtype": "message_deleted", "hidden": True, "channel": "C0SUPPORT", "ts": "1.7",
        "deleted_ts": "1.1", "previous_message": {"user": "U0EMMA", "text": "a", "ts": "1.1"},
    },
    {
        "type": "message", "user": "U0EMMA", "text": "", "ts": "1.8", "channel": "C0SUPPORT",
        "blocks": [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [
            {"type": "user", "user_id": "U0HERMES"}, {"type": "link", "url": "https://x", "text": "y"}]}]}],
        "attachments": [{"is_share": True, "text": "forwarded", "fallback": "f"}],
    },
    {"type": "reaction_added", "user": "U0EMMA", "reaction": "eyes", "item": {"type": "message", "ts": "1.1"}},
    {"type": "agent_session_stopped", "user": "U0EMMA", "channel": "D0EMMA", "thread_ts": "1.1", "event_ts": "2.1"},
    {"type": "app_home_opened", "user": "U0EMMA", "channel": "D0EMMA", "tab": "home", "view": {"id": "V1"}},
]  # fmt: skip
HEAD: Json = {
    "user": {"id": "U0OMAR", "team_id": "T0HERMES", "name": "x"},
    "team": {"id": "T0HERMES", "domain": "x"},
    "api_app_id": "A0HERMES",
    "trigger_id": "1.2.x",
}
MESSAGE: Json = {"ts": "1.9", "text": "card", "blocks": [], "thread_ts": "1.1"}
INTERACTIONS: list[Json] = [
    {
        **HEAD, "type": "block_actions", "response_url": OPEN, "channel": {"id": "C0SUPPORT"}, "message": MESSAGE,
        "container": {"type": "message", "message_ts": "1.9", "channel_id": "C0SUPPORT"},
        "actions": [{"type": "button", "action_id": action_id, "block_id": "b", "action_ts": "2.2",
                     "text": {"type": "plain_text", "text": "Go"}, "value": value}],
    }
    for action_id, value in (
        ("approval:approve", '{"approval_id":"AP-1","version":"1"}'), ("approval:edit", '{"approval_id":"AP-1"}'),
        ("handoff:claim", '{"ticket_id":"T-1"}'), ("ticket:reply", '{"ticket_id":"T-1"}'), ("choice:1", "{}"),
    )
] + [
    {
        **HEAD, "type": "view_submission", "view": {
            "id": "V1", "type": "modal", "callback_id": callback_id,
            "private_metadata": '{"approval_id":"AP-1","ticket_id":"T-1"}',
            "state": {"values": {"reason": {"reason": {"type": "plain_text_input", "value": "no"}}}},
        },
    }
    for callback_id in ("approval:reject", "approval:edit", "handoff:return", "ticket:reply", "x")
] + [
    {**HEAD, "type": "shortcut", "callback_id": "explain", "action_ts": "2.3"},
    {
        **HEAD, "type": "message_action", "callback_id": "make_ticket", "action_ts": "2.4", "response_url": OPEN,
        "message_ts": "1.1", "channel": {"id": "C0SUPPORT"}, "message": {"user": "U0EMMA", "text": "x", "ts": "1.1"},
    },
    {**HEAD, "type": "view_closed", "view": {"id": "V1", "type": "modal", "callback_id": "x"}, "is_cleared": False},
    {**HEAD, "type": "block_suggestion", "action_id": "a", "block_id": "b", "value": "x"},
]  # fmt: skip
COMMANDS: list[Json] = [
    {
        "command": "/hermes", "text": text, "user_id": "U0OMAR", "user_name": "x", "team_id": "T0HERMES",
        "channel_id": "C0SUPPORT", "channel_name": "support", "api_app_id": "A0HERMES", "response_url": OPEN,
        "trigger_id": "1.2.x", "token": "x",
    }
    for text in ("help", "tickets", 'route "refund"', "forget me", "")
]  # fmt: skip


def wrapped(event: Json) -> Json:
    """Return the event as Slack sends it."""
    authorizations = [{"team_id": "T0HERMES", "user_id": "U0HERMES", "is_bot": True}]
    return {
        "type": "event_callback",
        "team_id": "T0HERMES",
        "api_app_id": "A0HERMES",
        "event_id": "Ev1",
        "event_time": 1,
        "authorizations": authorizations,
        "event": event,
    }


PAYLOADS = [*map(wrapped, EVENTS), *INTERACTIONS, *COMMANDS]

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.sampled_from(
        ["", "U0OMAR", "U0HERMES", "\ud800", "\x00", "<!channel>", "a:b", "approval:approve", "x" * 5_000, "1.1"]
    ),
    st.lists(st.none() | st.text(max_size=3), max_size=3),
    st.dictionaries(st.text(max_size=3), st.none() | st.text(max_size=3), max_size=3),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything inside."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*path, key))


@st.composite
def mutated(draw: st.DrawFn) -> Json:
    """One of the payloads in which up to four things are missing, odd, or doubled."""
    payload: Json = copy.deepcopy(draw(st.sampled_from(PAYLOADS)))
    for _ in range(draw(st.integers(1, 4))):
        found = list(places(payload))
        if not found:
            break
        *way, last = draw(st.sampled_from(found))
        holder: Any = payload
        for key in way:
            holder = holder[key]
        what = draw(st.sampled_from(["drop", "odd", "double", "wrap"]))
        if what == "drop":
            del holder[last]
        elif what == "odd":
            holder[last] = draw(ODD)
        else:
            holder[last] = [holder[last]] * 2 if what == "double" else {"inner": holder[last]}
    return payload


def speaker(payload: Json) -> str:
    """Return the person in whose name a payload may ask for something; empty where nobody is named."""
    event = payload.get("event")
    event = event if isinstance(event, dict) else {}
    of_event = [event, *(event[key] for key in ("message", "previous_message") if isinstance(event.get(key), dict))]
    user = payload.get("user")
    named = [*(each.get("user") for each in of_event), payload.get("user_id"), user]
    named.append(user.get("id") if isinstance(user, dict) else None)
    return " ".join(each for each in named if isinstance(each, str))


def crashes(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the exceptions that our own code raised; where slack-bolt stumbles, that is caught and told."""
    found = []
    for record in caplog.records:
        error = record.exc_info[1] if record.exc_info else None
        frames = traceback.extract_tb(error.__traceback__) if error is not None else []
        if frames and "hermes_bot" in frames[-1].filename:
            found.append(f"{record.getMessage()}: {error!r} at {frames[-1].filename}:{frames[-1].lineno}")
    return found


def checked(rig: Rig, payload: Json, status: int, caplog: pytest.LogCaptureFixture) -> None:
    """Assert that the answer is one for Slack, that nothing crashed, and that nobody is made to have said a thing."""
    assert status in (200, 400)
    assert crashes(caplog) == []
    for message in rig.published:
        user = str(message.data.get("user", ""))
        assert user in speaker(payload), message
        assert user not in ("U0HERMES", "USLACKBOT")
    assert rig.server.workspace.posts.all() == []


@pytest.fixture
def quiet_log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING)
    return caplog


bounded = settings(
    max_examples=ROUNDS,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@bounded
@given(mutated())
async def test_mutated_payloads_over_a_socket_crash_nothing_and_put_words_in_nobodys_mouth(
    socket_rig: Rig, quiet_log: pytest.LogCaptureFixture, payload: Json
) -> None:
    quiet_log.clear()
    socket_rig.published.clear()
    app = socket_rig.edge._app
    assert app is not None
    try:
        request = AsyncBoltRequest(mode="socket_mode", body=payload, headers={})
    except Exception:  # noqa: BLE001 - slack-bolt trips over the body; the door answers such with nothing
        return
    status = (await app.dispatch(request)).status

    checked(socket_rig, payload, status, quiet_log)


@pytest_asyncio.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@bounded
@given(mutated())
async def test_mutated_payloads_over_http_are_never_a_failure_of_ours(
    http_rig: Rig, session: aiohttp.ClientSession, quiet_log: pytest.LogCaptureFixture, payload: Json
) -> None:
    quiet_log.clear()
    http_rig.published.clear()
    if "command" in payload:  # a form has texts alone
        payload = {key: value if isinstance(value, str) else json.dumps(value) for key, value in payload.items()}
    path, kind, raw = posted(payload)
    stamp = str(int(time.time()))
    secret = http_rig.server.world.app.signing_secret.encode()
    headers = {"Content-Type": kind, "X-Slack-Request-Timestamp": stamp}
    headers["X-Slack-Signature"] = signature(secret, stamp, raw).decode()
    async with session.post(http_rig.edge.http_url + path, data=raw, headers=headers) as response:
        status = response.status

    checked(http_rig, payload, status, quiet_log)


def posted(payload: Json) -> tuple[str, str, bytes]:
    """Return path, content type and body with which Slack would send the payload."""
    form = "application/x-www-form-urlencoded"
    if "event_id" in payload or "event" in payload:
        return "/slack/events", "application/json", json.dumps(payload).encode()
    if "command" in payload:
        return "/slack/commands", form, urlencode(payload, errors="replace").encode()
    return "/slack/interactions", form, urlencode({"payload": json.dumps(payload)}).encode()


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
async def test_the_payloads_as_they_are_are_all_taken(
    socket_rig: Rig, quiet_log: pytest.LogCaptureFixture, payload: Json
) -> None:
    app = socket_rig.edge._app
    assert app is not None
    request = AsyncBoltRequest(mode="socket_mode", body=copy.deepcopy(payload), headers={})

    assert (await app.dispatch(request)).status == 200
    assert crashes(quiet_log) == []
