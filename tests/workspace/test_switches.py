"""What a test can let go wrong: lost and late acks, slow and limited calls, sockets, tokens, scopes, subscriptions."""

import asyncio
from typing import Any

import pytest
from aiohttp import WSServerHandshakeError
from slack_sdk.errors import SlackApiError

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.faults import Lacks, Slow
from hermes_bot.workspace.people import App, demo_world
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import bare_socket, bot_client
from tests.workspace.receiver import receiving

Json = dict[str, Any]


async def test_a_lost_ack_brings_the_same_event_again(timed: WorkspaceServer, clock: SettableClock) -> None:
    timed.acks.lose()
    async with bare_socket(timed) as socket:
        assert (await socket.frame())["type"] == "hello"
        await timed.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        first = await socket.frame()
        await socket.ack(first)
        clock.advance(3)
        again = await socket.frame()
        await socket.ack(again)
        await timed.workspace.wait_for(lambda: timed.unsettled == 0)

    assert again["payload"]["event_id"] == first["payload"]["event_id"]
    assert (first["retry_attempt"], again["retry_attempt"], again["retry_reason"]) == (0, 1, "timeout")


async def test_a_late_ack_does_not_stop_the_next_try(timed: WorkspaceServer, clock: SettableClock) -> None:
    timed.acks.delay(10)
    async with bare_socket(timed) as socket:
        assert (await socket.frame())["type"] == "hello"
        await timed.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        waiting = clock.waiting()
        await socket.ack(await socket.frame())
        await timed.workspace.wait_for(lambda: clock.waiting() > waiting)
        clock.advance(3)

        assert (await socket.frame())["retry_attempt"] == 1


async def test_the_same_holds_over_http(clock: SettableClock) -> None:
    async with receiving() as receiver, WorkspaceServer(events_url=receiver.url, clock=clock) as server:
        server.acks.lose()
        await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        await server.workspace.wait_for(lambda: clock.waiting() and server.http and len(server.http.sent) == 1)
        clock.advance(0)
        await server.workspace.wait_for(lambda: server.unsettled == 0)

    assert [headers.get("X-Slack-Retry-Reason") for headers, _ in receiver.requests] == [None, "http_timeout"]


async def test_a_bare_server_knows_no_method_but_those_that_are_named() -> None:
    async with WorkspaceServer() as server:
        client = bot_client(server)
        server.faults.only("auth.test")
        assert (await client.auth_test())["ok"]
        with pytest.raises(SlackApiError, match="unknown_method"):
            await client.users_info(user="U0EMMA")
        server.faults.only()

        assert (await client.users_info(user="U0EMMA"))["ok"]


async def test_an_answer_lacks_the_fields_that_a_test_takes_away() -> None:
    async with WorkspaceServer() as server:
        client = bot_client(server)
        server.faults.add(method="users.info", fault=Lacks(("user.profile", "user.locale", "nothing", "ok.not")))

        found = (await client.users_info(user="U0EMMA"))["user"]
        whole = (await client.users_info(user="U0EMMA"))["user"]

    assert found["id"] == "U0EMMA"
    assert "profile" not in found
    assert "profile" in whole


async def test_a_slow_call_took_effect_before_it_answers(timed: WorkspaceServer, clock: SettableClock) -> None:
    timed.faults.add(method="chat.postMessage", fault=Slow(20))
    call = asyncio.ensure_future(bot_client(timed).chat_postMessage(channel="C0SUPPORT", text="hello"))
    await timed.workspace.wait_for(lambda: timed.workspace.messages("C0SUPPORT") and clock.waiting())
    assert not call.done()
    clock.advance(20)

    assert (await call)["ok"] is True


async def test_limits_are_off_until_they_are_turned_on(timed: WorkspaceServer, clock: SettableClock) -> None:
    client = bot_client(timed)
    for _ in range(6):
        await client.chat_postMessage(channel="C0SUPPORT", text="hello")
    timed.limits.on = True
    for _ in range(5):
        await client.chat_postMessage(channel="C0SUPPORT", text="hello")
    with pytest.raises(SlackApiError) as failed:
        await client.chat_postMessage(channel="C0SUPPORT", text="one too many")

    assert failed.value.response.status_code == 429
    assert failed.value.response["error"] == "ratelimited"
    await client.chat_postMessage(channel="C0HANDOFF", text="another channel")
    clock.advance(int(failed.value.response.headers["Retry-After"]))
    await client.chat_postMessage(channel="C0SUPPORT", text="hello")


async def test_a_method_has_its_tier(timed: WorkspaceServer, clock: SettableClock) -> None:
    client = bot_client(timed)
    timed.limits.on = True
    for _ in range(20):
        await client.usergroups_list()
    with pytest.raises(SlackApiError, match="ratelimited"):
        await client.usergroups_list()
    clock.advance(61)

    assert (await client.usergroups_list())["ok"] is True


async def test_which_socket_gets_the_next_envelope_can_be_set(workspace: WorkspaceServer) -> None:
    async with bare_socket(workspace) as first, bare_socket(workspace) as second:
        for socket in (first, second):
            assert (await socket.frame())["type"] == "hello"
        workspace.sockets.choose = lambda count: count - 1
        await workspace.workspace.post("U0EMMA", "C0SUPPORT", "for the last")
        last = await second.frame()
        workspace.sockets.choose = lambda _count: 0
        await workspace.workspace.post("U0EMMA", "C0SUPPORT", "for the first")

        assert last["payload"]["event"]["text"] == "for the last"
        assert (await first.frame())["payload"]["event"]["text"] == "for the first"


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "link_disabled", "too_many_websockets"])
async def test_every_reason_to_disconnect_is_said(workspace: WorkspaceServer, reason: str) -> None:
    async with bare_socket(workspace) as socket:
        assert (await socket.frame())["type"] == "hello"
        workspace.sockets.disconnect(reason)
        frame = await socket.frame()

    assert (frame["type"], frame["reason"]) == ("disconnect", reason)


async def test_nobody_connects_while_sockets_are_refused(workspace: WorkspaceServer) -> None:
    workspace.sockets.refuse()
    with pytest.raises(WSServerHandshakeError):
        async with bare_socket(workspace):
            pass
    workspace.sockets.refuse(on=False)

    async with bare_socket(workspace) as socket:
        assert (await socket.frame())["type"] == "hello"


async def test_a_token_ends_in_three_ways_and_comes_back(workspace: WorkspaceServer) -> None:
    tokens, token, client = workspace.tokens, workspace.world.app.bot_token, bot_client(workspace)
    ends = {"token_revoked": tokens.revoke, "token_expired": tokens.expire, "account_inactive": tokens.deactivate}
    for error, end in ends.items():
        end(token)
        with pytest.raises(SlackApiError, match=error):
            await client.auth_test()
        tokens.restore(token)

    assert (await client.auth_test())["ok"] is True


async def test_a_scope_that_is_missing_is_named_beside_those_that_are_there() -> None:
    app = App(scopes=("users:read", "channels:history"))
    async with WorkspaceServer(world=demo_world(app)) as server:
        client = bot_client(server)
        with pytest.raises(SlackApiError) as failed:
            await client.chat_postMessage(channel="C0SUPPORT", text="hello")
        history = await client.conversations_history(channel="C0SUPPORT")
        with pytest.raises(SlackApiError) as in_dm:
            await client.conversations_history(channel="D0EMMA")
        emma = (await client.users_info(user="U0EMMA"))["user"]

    answer = failed.value.response
    assert (answer["error"], answer["needed"]) == ("missing_scope", "chat:write")
    assert answer["provided"] == "users:read,channels:history"
    assert answer.headers["X-OAuth-Scopes"] == "users:read,channels:history"
    assert (history["ok"], in_dm.value.response["needed"]) == (True, "im:history")
    assert "email" not in emma["profile"]


async def test_an_app_hears_nothing_that_its_scopes_do_not_cover() -> None:
    app = App(scopes=("channels:history",))
    async with WorkspaceServer(world=demo_world(app)) as server:
        ts = await server.workspace.post("U0EMMA", "C0SUPPORT", "@Hermes hello")
        await server.workspace.post("U0EMMA", "D0EMMA", "hello")
        await server.workspace.react("U0EMMA", "C0SUPPORT", ts, "eyes")
        events = [body["event"] for body in server.workspace.couriers.undelivered()]

    assert [(event["type"], event["channel"]) for event in events] == [("message", "C0SUPPORT")]


async def test_an_app_is_told_when_it_gets_too_much(workspace: WorkspaceServer) -> None:
    workspace.workspace.events.too_many()
    (body,) = workspace.workspace.couriers.undelivered()

    assert (body["type"], body["api_app_id"], "event" in body) == ("app_rate_limited", "A0HERMES", False)


async def test_a_connection_lives_as_long_as_was_set(timed: WorkspaceServer, clock: SettableClock) -> None:
    timed.sockets.life_s = 360
    async with bare_socket(timed) as socket:
        assert (await socket.frame())["debug_info"]["approximate_connection_time"] == 360
        clock.advance(350)
        assert (await socket.frame())["reason"] == "warning"
        clock.advance(10)

        assert await socket.ended()


async def test_an_app_hears_only_what_it_subscribed_to() -> None:
    app = App(events=("message.im",))
    async with WorkspaceServer(world=demo_world(app)) as server:
        await server.workspace.post("U0EMMA", "C0SUPPORT", "@Hermes hello")
        ts = await server.workspace.post("U0EMMA", "D0EMMA", "hello")
        await server.workspace.react("U0EMMA", "D0EMMA", ts, "eyes")
        events = [body["event"] for body in server.workspace.couriers.undelivered()]

    assert [(event["type"], event["channel"]) for event in events] == [("message", "D0EMMA")]
