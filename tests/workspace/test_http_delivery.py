"""Events and interactions over signed HTTP, checked with Slack's own verifier and with a real bolt app."""

import json
from functools import partial
from typing import Any

from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.http_delivery import HttpDelivery, sign
from hermes_bot.workspace.people import App
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import bot_client
from tests.workspace.receiver import receiving

Json = dict[str, Any]
BUTTON = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}, "value": "1"}
CARD = [{"type": "actions", "elements": [BUTTON]}]


def http(server: WorkspaceServer) -> HttpDelivery:
    assert server.http is not None
    return server.http


def test_the_signature_is_that_of_slacks_documentation() -> None:
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F"
        b"96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )

    expected = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    assert sign("8f742231b10e8888abcd99yyyzzz85a5", "1531420618", body) == expected


async def test_an_event_is_signed_and_delivered_once_when_it_is_taken() -> None:
    async with receiving() as receiver, WorkspaceServer(events_url=receiver.url) as server:
        await server.workspace.post("U0EMMA", "C0SUPPORT", "你好 <b>")
        await server.workspace.wait_for(lambda: server.unsettled == 0)

    ((headers, body),) = receiver.requests
    verifier = SignatureVerifier(server.world.app.signing_secret)
    assert verifier.is_valid_request(body, headers)
    assert not verifier.is_valid_request(body + b" ", headers)
    assert json.loads(body)["event"]["text"] == "你好 &lt;b&gt;"
    assert not {"X-Slack-Retry-Num", "X-Slack-Retry-Reason"} & set(headers)


async def test_a_wrong_date_and_a_strangers_signature_are_not_valid() -> None:
    async with receiving() as receiver, WorkspaceServer(events_url=receiver.url) as server:
        http(server).skew_s = -301
        await server.workspace.post("U0EMMA", "C0SUPPORT", "old")
        await server.workspace.wait_for(lambda: server.unsettled == 0)
        http(server).skew_s, http(server).secret = 0, "guessed"
        await server.workspace.post("U0EMMA", "C0SUPPORT", "forged")
        await server.workspace.wait_for(lambda: server.unsettled == 0)

    verifier = SignatureVerifier(server.world.app.signing_secret)
    assert [verifier.is_valid_request(body, headers) for headers, body in receiver.requests] == [False, False]


async def test_an_event_that_is_not_taken_comes_again_three_times(clock: SettableClock) -> None:
    async with receiving() as receiver, WorkspaceServer(events_url=receiver.url, clock=clock) as server:
        receiver.answer = lambda _body: web.Response(status=500)
        await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        for tries, pause in ((1, 0), (2, 60), (3, 300)):
            await server.workspace.wait_for(partial(_waits_after, server, clock, tries))
            clock.advance(pause)
        await server.workspace.wait_for(lambda: server.unsettled == 0)

    marks = [
        (headers.get("X-Slack-Retry-Num"), headers.get("X-Slack-Retry-Reason")) for headers, _ in receiver.requests
    ]
    assert marks == [(None, None), ("1", "http_error"), ("2", "http_error"), ("3", "http_error")]
    assert len({json.loads(body)["event_id"] for _, body in receiver.requests}) == 1
    assert len(http(server).lost) == 1


def _waits_after(server: WorkspaceServer, clock: SettableClock, tries: int) -> bool:
    return len(http(server).sent) == tries and clock.waiting() > 0


async def test_no_retry_stops_the_retries() -> None:
    async with receiving() as receiver, WorkspaceServer(events_url=receiver.url) as server:
        receiver.answer = lambda _body: web.Response(status=500, headers={"X-Slack-No-Retry": "1"})
        await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        await server.workspace.wait_for(lambda: server.unsettled == 0)

    assert len(receiver.requests) == 1
    assert len(http(server).lost) == 1


async def test_an_app_that_is_not_there_is_tried_again(clock: SettableClock) -> None:
    async with receiving() as receiver:
        pass
    async with WorkspaceServer(events_url=receiver.url, clock=clock) as server:
        await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        await server.workspace.wait_for(lambda: len(http(server).sent) == 1)

    assert http(server).sent[0].reason == "connection_failed"


async def test_the_request_url_is_verified_by_its_challenge() -> None:
    async with receiving() as receiver, WorkspaceServer(events_url=receiver.url) as server:
        receiver.answer = lambda body: web.Response(text=json.loads(body)["challenge"])
        await http(server).verify()

    headers, body = receiver.requests[0]
    assert json.loads(body)["type"] == "url_verification"
    assert SignatureVerifier(server.world.app.signing_secret).is_valid_request(body, headers)


async def test_a_real_bolt_app_takes_events_clicks_and_commands_over_http() -> None:
    seen: list[Json] = []

    async def keep(body: Json, ack: Any) -> None:
        seen.append(body)
        await ack()

    async def answer(body: Json, ack: Any) -> None:
        seen.append({"type": "command"} | body)
        await ack("at your service")

    async with receiving() as receiver, WorkspaceServer(events_url=receiver.url) as server:
        bolt = AsyncApp(client=bot_client(server), signing_secret=App().signing_secret, process_before_response=True)
        bolt.event("message")(keep)
        bolt.action("go")(keep)
        bolt.command("/hermes")(answer)
        door = web.Application()
        door.add_routes([web.post("/slack/events", bolt.server().handle_post_requests)])
        receiver_runner = web.AppRunner(door, access_log=None)
        await receiver_runner.setup()
        await web.TCPSite(receiver_runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{receiver_runner.addresses[0][1]}/slack/events"
        async with WorkspaceServer(events_url=url) as second:
            bolt.client.base_url = second.api_url
            await http(second).verify()
            await second.workspace.post("U0EMMA", "C0SUPPORT", "hello")
            await second.workspace.wait_for(lambda: second.unsettled == 0)
            posted = await bot_client(second).chat_postMessage(channel="C0SUPPORT", text="card", blocks=CARD)
            outcome = await second.workspace.click("U0OMAR", "C0SUPPORT", posted["ts"], "go")
            asked = await second.workspace.command("U0OMAR", "C0SUPPORT", "/hermes", "你好 & <b>")
            await second.workspace.wait_for(lambda: second.unsettled == 0)
        await receiver_runner.cleanup()

    assert (outcome.ok, asked.ok) == (True, True)
    assert [body["type"] for body in seen] == ["event_callback", "block_actions", "command"]
    assert (seen[-1]["text"], seen[-1]["channel_id"]) == ("你好 & <b>", "C0SUPPORT")
    assert [one["text"] for one in second.workspace.ephemerals("U0OMAR")] == ["at your service"]
