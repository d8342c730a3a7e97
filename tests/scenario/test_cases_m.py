"""Field cases of kind M, the life of the socket: M1 and its relatives."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from hermes_bot.workspace.faults import ApiError, RateLimited, ServerError
from tests.scenario.cases import playing
from tests.scenario.field import acknowledged, deliver, tickets_of, tries_of
from tests.scenario.stage import APPROVE, OMAR, SUPPORT, Stage, ask_for_refund, paid_once

pytestmark = pytest.mark.asyncio(loop_scope="module")

OPEN = "apps.connections.open"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with playing("socket", tmp_path_factory.mktemp("cases"), vectors) as stage:
        yield stage


async def heard_once(stage: Stage) -> None:
    """Say something, and assert that it becomes one ticket with one reply."""
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    assert "was delivered" in await stage.answer(talk)
    await stage.quiet()
    assert len(tickets_of(stage, talk)) == 1
    assert len(stage.replies(talk)) == 1


async def test_m1_a_new_connection_that_fails_twice_is_there_at_last_and_events_flow(stage: Stage) -> None:
    faults = stage.server.faults
    faults.add(method=OPEN, fault=ServerError(500))
    faults.add(method=OPEN, fault=RateLimited(1))
    stage.server.sockets.disconnect()
    await stage.until(lambda: not faults.waiting())

    await heard_once(stage)


@pytest.mark.parametrize("error", ["internal_error", "service_unavailable", "request_timeout"])
async def test_m1_whatever_slack_answers_for_a_while_events_flow_again(stage: Stage, error: str) -> None:
    stage.server.faults.add(method=OPEN, fault=ApiError(error))
    stage.server.sockets.disconnect()

    await heard_once(stage)


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "too_many_websockets", "new_of_2027", ""])
async def test_m1_after_a_goodbye_for_any_reason_events_flow_again(stage: Stage, reason: str) -> None:
    stage.server.sockets.disconnect(reason)

    await heard_once(stage)


async def test_m_frames_that_make_no_sense_are_let_go_and_the_next_event_is_heard(stage: Stage) -> None:
    (connection,) = stage.server.sockets._connections
    frames: list[dict[str, Any]] = [
        {"type": "something_new", "envelope_id": "E1", "payload": {}},
        {"type": "events_api", "envelope_id": "E2"},
        {"type": "interactive", "envelope_id": "E3", "payload": []},
        {"type": "slash_commands", "envelope_id": "E4", "payload": {}},
        {"type": "events_api", "payload": {"type": "event_callback"}},
        {"envelope_id": "E5", "payload": {}},
        {"type": "error", "error": {"code": 1, "msg": "x"}},
        {"type": "hello", "num_connections": 2},
        {"type": "goodbye"},
        {"type": "events_api", "envelope_id": "E6", "payload": {"type": "event_callback", "event": {"type": 7}}},
    ]
    for frame in frames:
        connection.send(frame)
    for raw in ("", "{", "no JSON", "[]", "null", "{}"):
        await connection._socket.send_str(raw)
    await connection._socket.send_bytes(b"\0\1")
    await connection._socket.ping(b"x")

    await heard_once(stage)


async def test_m_what_makes_no_sense_is_acknowledged_or_slack_would_send_it_again(stage: Stage) -> None:
    deliver(stage, {"type": "event_callback", "event_id": "Ev0SENSELESS", "event": {"type": 7}})
    await acknowledged(stage)

    assert tries_of(stage, "Ev0SENSELESS") == 1


async def test_m1_what_happens_while_no_socket_is_there_is_heard_later(stage: Stage) -> None:
    buyer = stage.next_buyer()
    stage.server.sockets.refuse()
    stage.server.sockets.cut()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    stage.server.sockets.refuse(on=False)
    assert "was delivered" in await stage.answer(talk)
    await stage.quiet()

    assert len(tickets_of(stage, talk)) == 1
    assert len(stage.replies(talk)) == 1


async def test_m1_a_socket_that_breaks_between_work_and_card_loses_nothing(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk, card = await ask_for_refund(stage, buyer)
    stage.server.sockets.cut()
    await stage.until(lambda: stage.server.sockets.connected)
    await stage.quiet()
    assert (await stage.click(OMAR, card, APPROVE)).ok

    await paid_once(stage, buyer, talk, card)


async def test_m1_again_and_again_no_connection_is_left_behind(stage: Stage) -> None:
    sockets = stage.server.sockets
    for number in range(5):
        (sockets.cut if number % 2 else sockets.disconnect)()
        await heard_once(stage)
    await acknowledged(stage)

    assert sockets.connected == 1
