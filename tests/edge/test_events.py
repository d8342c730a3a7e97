"""What people write reaches the bus once, and is acknowledged only then."""

from __future__ import annotations

import asyncio

import pytest

from hermes_bot.messages.payloads import Inbound, read
from hermes_bot.workspace.clock import SettableClock
from tests.edge.rig import Rig


async def test_a_message_is_acknowledged_after_it_was_published(rig: Rig) -> None:
    unsettled: list[int] = []
    publish = rig.publish

    async def watched(message: object) -> None:
        unsettled.append(rig.server.unsettled)
        await publish(message)  # type: ignore[arg-type]  # the edge publishes messages

    rig.publish = watched  # type: ignore[method-assign]  # looks on while the edge publishes
    await rig.server.workspace.post("U0EMMA", "C0SUPPORT", "Where is my order?")
    (message,) = await rig.heard(1)
    await rig.server.workspace.wait_for(lambda: rig.server.unsettled == 0)

    assert unsettled == [1]
    assert read(message, Inbound).text == "Where is my order?"


async def test_a_message_that_the_bus_did_not_take_is_delivered_again(rig: Rig, clock: SettableClock) -> None:
    rig.to_fail = 1

    await rig.server.workspace.post("U0EMMA", "C0SUPPORT", "Where is my order?")
    await rig.server.workspace.wait_for(lambda: rig.failures == 1)
    if rig.server.http is None:
        clock.advance(3)
    else:
        http = rig.server.http
        await rig.server.workspace.wait_for(lambda: http.sent)
        clock.advance(0)
    messages = await rig.heard(1)

    assert [read(message, Inbound).text for message in messages] == ["Where is my order?"]
    await rig.server.workspace.wait_for(lambda: rig.server.unsettled == 0)


async def test_mention_and_message_are_one_task(rig: Rig) -> None:
    await rig.server.workspace.post("U0EMMA", "C0SUPPORT", "@Hermes where is my order?")
    messages = await rig.heard(2)

    assert len({message.task_id for message in messages}) == 1
    assert [read(message, Inbound).text for message in messages] == ["where is my order?"] * 2


async def test_half_a_character_is_no_reason_to_lose_what_stands_beside_it(rig: Rig) -> None:
    said = {"type": "message", "channel": "C0SUPPORT", "channel_type": "channel", "user": "U0EMMA", "ts": "1.000100"}
    rig.server.workspace.events.emit(said | {"text": "half \ud800 a character", "event_ts": "1.000100"})
    (message,) = await rig.heard(1)
    await rig.server.workspace.wait_for(lambda: rig.server.unsettled == 0)

    assert read(message, Inbound).text == "half ? a character"


async def test_our_own_echo_and_other_events_are_acknowledged_and_start_nothing(rig: Rig) -> None:
    workspace = rig.server.workspace
    ticket = await rig.ticket()
    await rig.heard(1)

    await rig.api.call("chat.postMessage", channel="C0SUPPORT", thread_ts=ticket.thread_ts, text="I am here")
    await workspace.react("U0EMMA", "C0SUPPORT", ticket.thread_ts, "thumbsup")
    workspace.events.emit(
        {"type": "message", "subtype": "bot_message", "channel": "C0SUPPORT", "text": "x", "ts": "1.1"}
    )
    workspace.events.emit({"type": "team_rename", "name": "New"})
    await workspace.wait_for(lambda: rig.server.unsettled == 0)

    assert len(rig.published) == 1


async def test_what_is_written_where_cards_are_posted_opens_nothing(rig: Rig) -> None:
    await rig.server.workspace.post("U0OMAR", "C0HANDOFF", "I'll take that one")
    await rig.server.workspace.wait_for(lambda: rig.server.unsettled == 0)

    assert rig.published == []


async def test_many_messages_at_once_are_all_heard(rig: Rig) -> None:
    posts = [rig.server.workspace.post("U0EMMA", "C0SUPPORT", f"message {number}") for number in range(40)]

    await asyncio.gather(*posts)
    messages = await rig.heard(40)

    assert {read(message, Inbound).text for message in messages} == {f"message {number}" for number in range(40)}


async def test_nothing_is_lost_when_the_socket_is_cut(socket_rig: Rig, clock: SettableClock) -> None:
    workspace, sockets = socket_rig.server.workspace, socket_rig.server.sockets

    for number in range(6):
        await workspace.post("U0EMMA", "C0SUPPORT", f"message {number}")
        if number % 2:
            sockets.cut()
            await workspace.wait_for(lambda: sockets.connected > 0)
    await workspace.wait_for(lambda: sockets.connected > 0)
    for seconds in (3, 60, 3):
        clock.advance(seconds)
        await workspace.wait_for(lambda: sockets.connected > 0)
    await workspace.wait_for(lambda: len({message.task_id for message in socket_rig.published}) == 6)

    assert not sockets.deliveries.lost


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_events_flow_again_after_slack_asks_for_a_new_socket(
    socket_rig: Rig, clock: SettableClock, reason: str
) -> None:
    workspace, sockets = socket_rig.server.workspace, socket_rig.server.sockets

    sockets.disconnect(reason)
    clock.advance(11)
    await workspace.post("U0EMMA", "C0SUPPORT", "still there?")
    messages = await socket_rig.heard(1)

    assert read(messages[0], Inbound).text == "still there?"


async def test_a_socket_that_went_deaf_is_replaced(socket_rig: Rig, clock: SettableClock) -> None:
    workspace, sockets = socket_rig.server.workspace, socket_rig.server.sockets
    sockets.mute()

    await workspace.post("U0EMMA", "C0SUPPORT", "can you hear me?")
    await workspace.wait_for(lambda: sockets.connected == 0)
    await workspace.wait_for(lambda: sockets.connected == 1)
    clock.advance(3)
    messages = await socket_rig.heard(1)

    assert read(messages[0], Inbound).text == "can you hear me?"
