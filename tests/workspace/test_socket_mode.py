"""Socket Mode: delivery, acks, redelivery and the ends of sockets."""

from contextlib import AsyncExitStack

import aiohttp
import pytest

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import bare_socket, bot_client, running


async def test_a_persons_message_reaches_the_app_and_the_answer_stands_in_the_thread(
    workspace: WorkspaceServer,
) -> None:
    async with running(workspace) as bot:
        ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "where is <my> order?")
        await workspace.workspace.wait_for(lambda: workspace.unsettled == 0)
        answer = await bot.client.chat_postMessage(channel="C0SUPPORT", text="On its way", thread_ts=ts)

    assert bot.events[0]["text"] == "where is &lt;my&gt; order?"
    thread = workspace.workspace.messages("C0SUPPORT", ts)
    assert [message["text"] for message in thread] == ["where is &lt;my&gt; order?", "On its way"]
    assert answer["message"]["thread_ts"] == ts


async def test_the_first_frame_is_hello_and_counts_the_connections(workspace: WorkspaceServer) -> None:
    async with bare_socket(workspace) as first, bare_socket(workspace) as second:
        hellos = [await first.frame(), await second.frame()]

    assert [hello["type"] for hello in hellos] == ["hello", "hello"]
    assert [hello["num_connections"] for hello in hellos] == [1, 2]
    assert hellos[0]["connection_info"] == {"app_id": "A0HERMES"}


async def test_an_event_without_ack_comes_again_after_0_60_and_300_s_and_is_then_given_up(
    timed: WorkspaceServer, clock: SettableClock
) -> None:
    async with bare_socket(timed) as socket:
        await socket.frame()
        start = clock.now()
        await timed.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        tries = [await socket.frame()]
        for pause in (3, 3 + 60, 3 + 300):
            clock.advance(pause)
            tries.append(await socket.frame())
        clock.advance(3)

    assert [one["retry_attempt"] for one in tries] == [0, 1, 2, 3]
    assert [one["retry_reason"] for one in tries] == ["", "timeout", "timeout", "timeout"]
    assert len({one["envelope_id"] for one in tries}) == 1
    assert len({one["payload"]["event_id"] for one in tries}) == 1
    assert [round(sent.at - start) for sent in timed.sockets.deliveries.sent] == [0, 3, 66, 369]
    assert (timed.unsettled, len(timed.sockets.deliveries.lost)) == (0, 1)


async def test_an_acknowledged_event_does_not_come_again(timed: WorkspaceServer, clock: SettableClock) -> None:
    async with bare_socket(timed) as socket:
        await socket.frame()
        await timed.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        await socket.ack(await socket.frame())
        await timed.workspace.wait_for(lambda: timed.unsettled == 0)
        clock.advance(1000)

    assert len(timed.sockets.deliveries.sent) == 1


async def test_an_ack_after_the_limit_does_not_stop_the_next_try(timed: WorkspaceServer, clock: SettableClock) -> None:
    async with bare_socket(timed) as socket:
        await socket.frame()
        await timed.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        await socket.frame()
        clock.advance(3)
        second = await socket.frame()
        clock.advance(3)
        await socket.ack(second)
        await timed.workspace.wait_for(lambda: timed.sockets.deliveries.late_acks == 1)
        clock.advance(60)
        third = await socket.frame()

    assert third["retry_attempt"] == 2


async def test_an_event_that_its_socket_never_wrote_goes_to_the_next_as_a_first_try(timed: WorkspaceServer) -> None:
    async with bare_socket(timed) as socket:
        await socket.frame()
        timed.sockets.disconnect("refresh_requested")
        await timed.workspace.post("U0EMMA", "C0SUPPORT", "just too late")
        goodbye = await socket.frame()
        ended = await socket.ended()
    async with bare_socket(timed) as socket:
        await socket.frame()
        envelope = await socket.frame()

    assert (goodbye["reason"], ended) == ("refresh_requested", True)
    assert (envelope["payload"]["event"]["text"], envelope["retry_attempt"]) == ("just too late", 0)


async def test_an_ack_counts_from_another_socket_of_the_app(workspace: WorkspaceServer) -> None:
    async with bare_socket(workspace) as first:
        await first.frame()
        await workspace.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        envelope = await first.frame()
        async with bare_socket(workspace) as second:
            await second.ack(envelope)
            await workspace.workspace.wait_for(lambda: workspace.unsettled == 0)

    assert len(workspace.sockets.deliveries.sent) == 1


async def test_events_are_held_while_no_socket_is_connected(timed: WorkspaceServer, clock: SettableClock) -> None:
    await timed.workspace.post("U0EMMA", "C0SUPPORT", "is anybody there?")
    clock.advance(3600)
    async with bare_socket(timed) as socket:
        frames = [await socket.frame(), await socket.frame()]

    assert frames[1]["payload"]["event"]["text"] == "is anybody there?"
    assert frames[1]["retry_attempt"] == 0


async def test_an_event_whose_socket_was_cut_before_the_ack_comes_again_on_the_next(
    timed: WorkspaceServer, clock: SettableClock
) -> None:
    async with bare_socket(timed) as socket:
        await socket.frame()
        await timed.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        first = await socket.frame()
        timed.sockets.cut()
        await timed.workspace.wait_for(lambda: timed.sockets.connected == 0)
    clock.advance(3)
    async with bare_socket(timed) as socket:
        await socket.frame()
        second = await socket.frame()

    assert second["envelope_id"] == first["envelope_id"]
    assert second["retry_attempt"] == 1


async def test_each_event_goes_to_one_of_the_sockets_and_to_no_fixed_one(timed: WorkspaceServer) -> None:
    async with AsyncExitStack() as stack:
        sockets = [await stack.enter_async_context(bare_socket(timed)) for _ in range(3)]
        for socket in sockets:
            await socket.frame()
        for number in range(30):
            await timed.workspace.post("U0EMMA", "C0SUPPORT", f"message {number}")
        timed.sockets.disconnect("warning")
        got: list[list[str]] = []
        for socket in sockets:
            texts = []
            while (frame := await socket.frame())["type"] == "events_api":
                texts.append(frame["payload"]["event"]["text"])
            got.append(texts)

    assert sorted(text for texts in got for text in texts) == sorted(f"message {number}" for number in range(30))
    assert all(got)


async def test_the_eleventh_socket_is_sent_away(workspace: WorkspaceServer) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(10):
            socket = await stack.enter_async_context(bare_socket(workspace))
            await socket.frame()
        eleventh = await stack.enter_async_context(bare_socket(workspace))
        frame = await eleventh.frame()

        assert (frame["type"], frame["reason"]) == ("disconnect", "too_many_websockets")
        assert await eleventh.ended()
        assert workspace.sockets.connected == 10


async def test_a_warned_socket_lives_ten_seconds_longer(timed: WorkspaceServer, clock: SettableClock) -> None:
    async with bare_socket(timed) as socket:
        await socket.frame()
        timed.sockets.disconnect("warning")
        warning = await socket.frame()
        clock.advance(9)
        await timed.workspace.post("U0EMMA", "C0SUPPORT", "still here")
        still = await socket.frame()
        clock.advance(1)

        assert warning["reason"] == "warning"
        assert still["type"] == "events_api"
        assert await socket.ended()


@pytest.mark.parametrize("reason", ["refresh_requested", "warning", "link_disabled"])
async def test_the_real_client_comes_back_after_a_disconnect_and_misses_nothing(
    workspace: WorkspaceServer, reason: str
) -> None:
    async with running(workspace) as bot:
        workspace.sockets.disconnect(reason)
        await workspace.workspace.post("U0EMMA", "C0SUPPORT", "hello again")
        await workspace.workspace.wait_for(lambda: workspace.unsettled == 0)

    assert {event["text"] for event in bot.events} == {"hello again"}


async def test_the_real_client_comes_back_after_a_cut(workspace: WorkspaceServer) -> None:
    async with running(workspace) as bot:
        workspace.sockets.cut()
        await workspace.workspace.wait_for(lambda: workspace.sockets.connected == 0)
        await workspace.workspace.post("U0EMMA", "C0SUPPORT", "hello again")
        await workspace.workspace.wait_for(lambda: workspace.unsettled == 0)

    assert [event["text"] for event in bot.events] == ["hello again"]


async def test_the_real_client_finds_out_that_its_socket_is_half_open(workspace: WorkspaceServer) -> None:
    async with running(workspace) as bot:
        workspace.sockets.mute()
        await workspace.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        await workspace.workspace.wait_for(lambda: workspace.unsettled == 0)

    assert [event["text"] for event in bot.events] == ["hello"]


async def test_a_ticket_opens_one_socket_only(workspace: WorkspaceServer) -> None:
    token = workspace.world.app.app_token
    url = (await bot_client(workspace, token).apps_connections_open(app_token=token))["url"]
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(url):
            pass
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(url)

    assert refused.value.status == 401
