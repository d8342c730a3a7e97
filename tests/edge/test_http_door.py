"""The HTTP door: only Slack gets in, and nothing malformed ever ends in a 500."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_bot.edge.http_door import BODY_BYTES, HttpDoor, signature
from hermes_bot.edge.slack_app import well_formed
from tests.edge.rig import Rig

DOC_SECRET = b"8f742231b10e8888abcd99yyyzzz85a5"
DOC_BODY = (
    b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
    b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
    b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
    b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)
EVENT = {
    "type": "event_callback",
    "team_id": "T0HERMES",
    "event_id": "Ev1",
    "event": {"type": "message", "channel": "C0SUPPORT", "user": "U0EMMA", "ts": "1700000000.000100", "text": "hi"},
}
JSON_TYPE, FORM_TYPE = "application/json", "application/x-www-form-urlencoded"


def now() -> int:
    return int(datetime.now(UTC).timestamp())


class Client:
    """Posts to the door as Slack does, or nearly."""

    def __init__(self, rig: Rig, session: aiohttp.ClientSession) -> None:
        self._rig = rig
        self._session = session

    async def post(
        self, raw: bytes, *, stamp: str = "", path: str = "/slack/events", kind: str = JSON_TYPE, signed: bytes = b""
    ) -> tuple[int, str]:
        """Return status and body; `signed` overrides the signature."""
        stamp = stamp or str(now())
        secret = self._rig.server.world.app.signing_secret.encode()
        headers = {
            "Content-Type": kind,
            "X-Slack-Request-Timestamp": stamp,
            "x-slack-signature": (signed or signature(secret, stamp, raw)).decode(),
        }
        async with self._session.post(self._rig.edge.http_url + path, data=raw, headers=headers) as response:
            return response.status, await response.text()

    async def get(self, path: str) -> tuple[int, Any]:
        async with self._session.get(self._rig.edge.http_url + path) as response:
            return response.status, await response.json()


@pytest_asyncio.fixture
async def client(http_rig: Rig) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        yield Client(http_rig, session)


def test_the_signature_is_the_one_of_slacks_documentation() -> None:
    expected = b"v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"

    assert signature(DOC_SECRET, "1531420618", DOC_BODY) == expected


@pytest.mark.parametrize("age_s, status", [(0, 200), (295, 200), (-295, 200), (302, 401), (-302, 401)])
async def test_a_request_counts_for_five_minutes(client: Client, http_rig: Rig, age_s: int, status: int) -> None:
    answer, _ = await client.post(json.dumps(EVENT).encode(), stamp=str(now() - age_s))

    assert answer == status
    assert len(http_rig.published) == (1 if status == 200 else 0)


async def test_a_clock_that_is_wrong_is_named_in_the_log(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    await client.post(json.dumps(EVENT).encode(), stamp=str(now() - 302))

    assert "clock skew" in caplog.text


@pytest.mark.parametrize("stamp", ["yesterday", "17e8", "-5", "1" * 40, "１７"])
async def test_a_timestamp_that_is_no_number_is_refused(client: Client, stamp: str) -> None:
    status, _ = await client.post(b"{}", stamp=stamp)

    assert status == 401


@pytest.mark.parametrize("signed", [b"v0=00", b"v1=", b" ", b"\xc3\xa9"])
async def test_a_wrong_signature_is_refused(client: Client, http_rig: Rig, signed: bytes) -> None:
    status, _ = await client.post(json.dumps(EVENT).encode(), signed=signed)

    assert status == 401
    assert http_rig.published == []


MALFORMED = [
    b"",
    b"{",
    b"[]",
    b"[1, 2]",
    b"null",
    b"7",
    b"\xff\xfe",
    b"{}",
    b'{"type": "event_callback"}',
    b'{"type": "event_callback", "event": []}',
    b'{"type": "event_callback", "event": {"type": 7}}',
    b'{"type": "event_callback", "event": {"type": "message"}, "authorizations": 7}',
    b'{"type": "block_actions", "actions": []}',
    b'{"type": "block_actions", "actions": ["x"], "user": 7}',
    b'{"type": "view_submission"}',
    b"[" * 100_000,
]


@pytest.mark.parametrize("raw", MALFORMED)
@pytest.mark.parametrize("kind", [JSON_TYPE, FORM_TYPE])
async def test_a_malformed_body_is_a_400(client: Client, http_rig: Rig, raw: bytes, kind: str) -> None:
    body = raw if kind == JSON_TYPE else b"payload=" + raw

    status, _ = await client.post(body, kind=kind, path="/slack/interactions")

    assert status == 400
    assert http_rig.published == []


async def test_a_body_that_is_too_large_is_a_413(http_rig: Rig) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(BODY_BYTES // 65_536 + 1):
            yield b"x" * 65_536

    url = f"{http_rig.edge.http_url}/slack/events"
    async with aiohttp.ClientSession() as session, session.post(url, data=chunks()) as response:
        status = response.status

    assert status == 413


DROPS = b"Content-Length: 100\r\n\r\nabc"
BROKEN = b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"


@pytest.mark.parametrize("rest, status", [(DROPS, b"408"), (BROKEN, b"401")], ids=["drop by drop", "broken gzip"])
async def test_a_body_that_does_not_come_is_not_waited_for_and_one_that_is_packed_is_not_unpacked(
    rest: bytes, status: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    door = HttpDoor(
        host="127.0.0.1",
        port=0,
        ready=lambda: (True, ""),
        clock=lambda: datetime.now(UTC),
        signing_secret="s",
        body_limit_s=0.1,
    )
    await door.open()
    try:
        async with asyncio.timeout(60):
            reader, writer = await asyncio.open_connection("127.0.0.1", int(door.url.rpartition(":")[2]))
            writer.write(b"POST /slack/events HTTP/1.1\r\nHost: localhost\r\n" + rest)
            answer = await reader.readline()
        writer.close()
    finally:
        await door.close()

    assert status in answer
    assert "Traceback" not in caplog.text


async def test_a_full_bus_is_a_503_so_that_slack_delivers_again(client: Client, http_rig: Rig) -> None:
    http_rig.to_fail = 1

    first, _ = await client.post(json.dumps(EVENT).encode())
    second, _ = await client.post(json.dumps(EVENT).encode())

    assert (first, second) == (503, 200)
    assert len(http_rig.published) == 1


async def test_the_url_is_verified_with_slacks_challenge(http_rig: Rig) -> None:
    assert http_rig.server.http is not None

    await http_rig.server.http.verify()


@pytest.mark.parametrize("raw", [b"ssl_check=1&token=x", b"ssl_check=1&payload=" + json.dumps(EVENT).encode()])
async def test_an_unsigned_ssl_check_is_answered_and_goes_no_further(client: Client, http_rig: Rig, raw: bytes) -> None:
    status, _ = await client.post(raw, kind=FORM_TYPE, signed=b"v0=00")

    assert status == 200
    assert http_rig.published == []


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "app_rate_limited", "team_id": "T0HERMES"},
        {"type": "shortcut", "callback_id": "x", "user": {"id": "U1"}},
        {"type": "message_action", "callback_id": "x", "user": {"id": "U1"}},
        {"type": "view_closed", "view": {"callback_id": "x"}, "user": {"id": "U1"}},
        {"type": "view_submission", "view": {"type": "modal", "callback_id": "x"}, "user": {"id": "U1"}},
        {"type": "something_new"},
    ],
)
async def test_what_nobody_wants_is_acknowledged(client: Client, payload: dict[str, Any]) -> None:
    status, _ = await client.post(urlencode({"payload": json.dumps(payload)}).encode(), kind=FORM_TYPE)

    assert status == 200


async def test_a_command_is_acknowledged(client: Client) -> None:
    body = urlencode({"command": "/hermes", "text": "help", "user_id": "U0EMMA", "team_id": "T0HERMES"}).encode()

    status, _ = await client.post(body, kind=FORM_TYPE, path="/slack/commands")

    assert status == 200


async def test_a_click_without_channel_message_and_response_url_does_not_crash(client: Client, http_rig: Rig) -> None:
    action = {"action_id": "approval:approve", "value": json.dumps({"approval_id": "APR-1"}), "action_ts": "1.1"}
    payload = {"type": "block_actions", "user": {"id": "U0OMAR"}, "actions": [action]}

    status, _ = await client.post(urlencode({"payload": json.dumps(payload)}).encode(), kind=FORM_TYPE)

    assert status == 200
    assert len(http_rig.published) == 1


async def test_health_is_told_and_readiness_says_why_not(client: Client, http_rig: Rig) -> None:
    before = await client.get("/readyz")
    await http_rig.edge.stop_listening()
    after = await client.get("/readyz")

    assert before == (200, {"ok": True, "reason": "", "last_event_s": None})
    assert after == (503, {"ok": False, "reason": "stopping", "last_event_s": None})
    assert await client.get("/healthz") == (200, {"ok": True})


async def test_in_socket_mode_there_is_no_door_for_slacks_requests(socket_rig: Rig) -> None:
    async with aiohttp.ClientSession() as session:
        client = Client(socket_rig, session)

        health, _ = await client.get("/healthz")
        status, _ = await client.post(json.dumps(EVENT).encode())

    assert (health, status) == (200, 404)


async def test_the_answer_before_the_start_is_503() -> None:
    door = HttpDoor(
        host="127.0.0.1",
        port=0,
        ready=lambda: (False, "waiting for Slack"),
        clock=lambda: datetime.now(UTC),
        signing_secret="s",
    )
    await door.open()
    stamp = str(now())
    headers = {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": signature(b"s", stamp, b"{}").decode()}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{door.url}/slack/events", data=b"{}", headers=headers) as response,
    ):
        status = response.status
    await door.close()

    assert status == 503


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = [
    "type",
    "event",
    "team_id",
    "authorizations",
    "user",
    "actions",
    "view",
    "team",
    "channel",
    "message",
    "enterprise",
]


CLICK = {
    "type": "block_actions",
    "user": {"id": "U0OMAR", "team_id": "T0HERMES"},
    "actions": [{"action_id": "approval:approve", "value": "{}", "action_ts": "1.1"}],
}
SUBMISSION = {
    "type": "view_submission",
    "user": {"id": "U0OMAR"},
    "view": {"id": "V1", "type": "modal", "callback_id": "approval:reject"},
}
COMMAND = {"command": "/hermes", "text": "help", "user_id": "U0EMMA"}


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    base=st.sampled_from([EVENT, CLICK, SUBMISSION, COMMAND]),
    changes=st.dictionaries(st.sampled_from(NAMES), JSON, max_size=4),
)
async def test_mutated_requests_never_end_in_a_500(
    client: Client, base: dict[str, Any], changes: dict[str, Any]
) -> None:
    status, _ = await client.post(json.dumps(base | changes).encode())

    assert status in (200, 400)


@given(JSON)
def test_any_json_is_well_formed_or_not(body: Any) -> None:
    assert well_formed(body) in (True, False)
