"""Field cases of kind N, who may speak to the bot over HTTP: N1 and its relatives."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlencode

import aiohttp
import pytest
import pytest_asyncio

from hermes_bot.workspace.http_delivery import HttpDelivery, sign
from tests.scenario.cases import playing
from tests.scenario.field import Json, acknowledged, deliver, held, ticket_count, tickets_of
from tests.scenario.stage import APPROVE, OMAR, SUPPORT, Stage, ask_for_refund, paid_once

pytestmark = pytest.mark.asyncio(loop_scope="module")

JSON_TYPE, FORM_TYPE = "application/json", "application/x-www-form-urlencoded"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with playing("http", tmp_path_factory.mktemp("cases"), vectors) as stage:
        yield stage


def way(stage: Stage) -> HttpDelivery:
    """Return Slack's way to the bot."""
    assert stage.server.http is not None
    return stage.server.http


def urls_of(stage: Stage) -> str:
    """Return where the bot listens."""
    return way(stage).events_url.rpartition("/")[0]


class Replayer:
    """Somebody who has a request of Slack's, with its signature, and sends it whenever they like."""

    def __init__(
        self, stage: Stage, raw: bytes, *, age_s: int = 0, kind: str = JSON_TYPE, signature: str | None = None
    ) -> None:
        self._url = urls_of(stage)
        stamp = str(int(time.time()) - age_s)
        secret = stage.server.world.app.signing_secret
        self.marks = {
            "Content-Type": kind,
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": sign(secret, stamp, raw) if signature is None else signature,
        }
        self._raw = raw

    async def send(self, path: str = "/events") -> int:
        """Return the status of the answer."""
        async with (
            aiohttp.ClientSession() as session,
            session.post(self._url + path, data=self._raw, headers=self.marks) as response,
        ):
            return response.status


async def one_event(stage: Stage, text: str) -> Json:
    """Return the body of an event that was never delivered."""
    with held(stage) as bodies:
        await stage.say("U0EMMA", SUPPORT, text)
    return bodies[0]


@pytest.mark.parametrize("skew_s", [301, -301, 4_000, -4_000])
async def test_n1_a_clock_that_is_off_is_refused_and_the_log_says_so(
    stage: Stage, caplog: pytest.LogCaptureFixture, skew_s: int
) -> None:
    tickets, wrong = ticket_count(stage), int(skew_s * 1.01)  # some seconds more, for machines that take their time
    body = await one_event(stage, "Where is my order?")
    with caplog.at_level(logging.WARNING):
        status = await Replayer(stage, json.dumps(body).encode(), age_s=wrong).send()
    await stage.quiet()

    assert status == 401
    assert "clock skew" in caplog.text
    assert ticket_count(stage) == tickets


@pytest.mark.parametrize("skew_s", [0, 299, -280])
async def test_n1_within_five_minutes_it_is_heard(stage: Stage, skew_s: int) -> None:
    way(stage).skew_s = skew_s
    try:
        talk = await stage.say("U0LINA", SUPPORT, "Where is my order?")
        await stage.answer(talk)
    finally:
        way(stage).skew_s = 0
    assert len(tickets_of(stage, talk)) == 1


async def test_n1_an_old_valid_request_that_is_replayed_has_no_effect(stage: Stage) -> None:
    with held(stage) as bodies:
        talk = await stage.say("U0EMMA", SUPPORT, "Where is my order?")
    raw = json.dumps(bodies[0]).encode()
    fresh, old = Replayer(stage, raw), Replayer(stage, raw, age_s=400)
    assert await fresh.send() == 200
    await stage.answer(talk)
    statuses = [await fresh.send(), await old.send(), await fresh.send(), await old.send()]
    await stage.quiet()

    assert statuses == [200, 401, 200, 401]
    assert len(tickets_of(stage, talk)) == 1
    assert len(stage.replies(talk)) == 1


async def test_n1_a_click_that_is_replayed_approves_nothing_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    buyer = stage.next_buyer()
    talk, card = await ask_for_refund(stage, buyer)
    payloads: list[Json] = []
    send = HttpDelivery.send_interaction

    async def listened(self: HttpDelivery, payload: Json, *, answerable: bool) -> Json:
        payloads.append(payload)
        return await send(self, payload, answerable=answerable)

    with monkeypatch.context() as patch:
        patch.setattr(HttpDelivery, "send_interaction", listened)
        assert (await stage.click(OMAR, card, APPROVE)).ok
    raw = urlencode({"payload": json.dumps(payloads[0])}).encode()
    again = Replayer(stage, raw, kind=FORM_TYPE)
    assert [await again.send("/interactions") for _ in range(3)] == [200] * 3

    await paid_once(stage, buyer, talk, card)


async def test_n1_a_wrong_secret_or_none_is_refused_and_the_right_one_is_heard(stage: Stage) -> None:
    with held(stage) as bodies:
        talk = await stage.say("U0EMMA", SUPPORT, "Where is my order?")
    raw = json.dumps(bodies[0]).encode()
    stamp = str(int(time.time()))
    for wrong in ("", "v0=", "v0=" + "0" * 64, "v1" + sign("another", stamp, raw)[2:], sign("another", stamp, raw)):
        assert await Replayer(stage, raw, signature=wrong).send() == 401
    await stage.quiet()
    assert tickets_of(stage, talk) == []
    deliver(stage, *bodies)
    await stage.answer(talk)

    assert len(tickets_of(stage, talk)) == 1


@pytest.mark.parametrize(
    "raw, kind, path",
    [
        (b"", JSON_TYPE, "/events"),
        (b"{", JSON_TYPE, "/events"),
        (b"[]", JSON_TYPE, "/events"),
        (b"null", JSON_TYPE, "/events"),
        (b'"text"', JSON_TYPE, "/events"),
        (b"\xff\xfe", JSON_TYPE, "/events"),
        (b"payload=", FORM_TYPE, "/interactions"),
        (b"payload=%7B", FORM_TYPE, "/interactions"),
        (b"payload=[]", FORM_TYPE, "/interactions"),
        (b"a=b", FORM_TYPE, "/commands"),
        (b"\0" * 64, "application/octet-stream", "/commands"),
        (b"[" * 20_000, JSON_TYPE, "/events"),
    ],
)
async def test_n1_what_makes_no_sense_is_refused_and_never_a_failure_of_ours(
    stage: Stage, raw: bytes, kind: str, path: str
) -> None:
    tickets = ticket_count(stage)
    status = await Replayer(stage, raw, kind=kind).send(path)

    assert 200 <= status < 500
    assert ticket_count(stage) == tickets


async def test_n1_slack_can_verify_the_address(stage: Stage) -> None:
    await way(stage).verify()


async def asked(url: str, method: str, raw: bytes = b"", kind: str = "") -> int:
    """Return the status of an answer to somebody who signs nothing."""
    headers = {"Content-Type": kind} if kind else {}
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url, data=raw or None, headers=headers) as response,
    ):
        return response.status


@pytest.mark.parametrize("path", ["/events", "/interactions", "/commands"])
async def test_n_slacks_look_at_the_certificate_is_answered_unsigned_in_each_of_its_forms(
    stage: Stage, path: str
) -> None:
    url, tickets = urls_of(stage) + path, ticket_count(stage)
    looks = [await asked(f"{url}?ssl_check=1&token=x", "GET")]
    for raw in (b"ssl_check=1", b"token=x&ssl_check=1", b"ssl_check=1&command=%2Fhermes&text=help&user_id=U0EMMA"):
        looks.append(await asked(url, "POST", raw, FORM_TYPE))
    others = [await asked(url, "GET"), await asked(f"{url}?ssl_check=0", "GET"), await asked(url, "PUT", b"x")]
    in_an_event = json.dumps({"type": "event_callback", "event": {"text": "a&ssl_check=1&b"}}).encode()

    assert looks == [200] * 4
    assert others == [405] * 3
    assert await asked(url, "POST", in_an_event, JSON_TYPE) == 401
    assert await asked(url, "POST", b"ssl_check=1", JSON_TYPE) == 401
    assert ticket_count(stage) == tickets


@pytest.mark.parametrize("path", ["/events", "/interactions"])
@pytest.mark.parametrize("kind", [JSON_TYPE, f"{JSON_TYPE}; charset=utf-8", "text/plain", FORM_TYPE])
async def test_n_the_signature_is_over_the_bytes_as_they_came(stage: Stage, path: str, kind: str) -> None:
    with held(stage) as bodies:
        talk = await stage.say("U0LINA", SUPPORT, "我的订单在哪里? שלום \u200d👍🏽 Where is my order?")
    raw = (json.dumps(bodies[0], ensure_ascii=False, indent=3) + " \r\n").encode()
    assert await Replayer(stage, raw, kind=kind).send(path) == 200

    assert await stage.answer(talk)


async def test_n_a_retry_mark_is_no_reason_to_drop_what_was_never_taken(stage: Stage) -> None:
    with held(stage) as bodies:
        talk = await stage.say("U0LINA", SUPPORT, "Where is my order?")
    retry = Replayer(stage, json.dumps(bodies[0] | {"event_time": 1_600_000_000}).encode())
    retry.marks |= {"X-Slack-Retry-Num": "3", "X-Slack-Retry-Reason": "http_timeout"}
    assert [await retry.send(), await retry.send()] == [200, 200]
    await stage.answer(talk)
    await stage.quiet()

    assert len(stage.replies(talk)) == 1


async def test_n_what_makes_no_sense_is_not_sent_again(stage: Stage) -> None:
    way(stage).sent.clear()
    deliver(stage, {"type": "event_callback", "event_id": "Ev0SENSELESS", "event": {"type": 7}})
    await acknowledged(stage)

    assert [(each.attempt, each.reason) for each in way(stage).sent] == [(0, "http_error")]
