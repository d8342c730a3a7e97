"""Words leave the messages that a bus keeps; what was handled stays known."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes_bot.bus.erasure import Erased, blanked
from hermes_bot.bus.inspect import BusFile
from hermes_bot.bus.port import Backend, Delivery, Settlement, State
from hermes_bot.bus.redis_backend import RedisBackend
from hermes_bot.bus.sqlite import SqliteBackend
from hermes_bot.messages.message import Chain, Hop, Message, utc_now
from tests.servers import Redis


def message(context: str, text: str) -> Message:
    hop = Hop(at=utc_now(), agent="entry", type="ticket.created", outcome="ticket.order")
    chain = Chain(text=text, hops=(hop,))
    data = {"text": text, "ticket_id": "T-1", "user": "U1"}
    return Message(type="ticket.order", sender="entry", context_id=context, data=data, context_chain=chain)


def concerns(message: Message) -> bool:
    return message.context_id.startswith("mine")


async def publish(backend: Backend, *messages: Message) -> None:
    await backend.publish(
        [Delivery(message=each, subscription="order", agent="order", queued_at=utc_now()) for each in messages]
    )


async def settle(backend: Backend, state: State = State.DONE) -> Delivery:
    delivery = await backend.lease("order")
    result = message(delivery.message.context_id, "the answer") if state is State.DONE else None
    await backend.settle(
        delivery, Settlement(state=state, error=f"because of {delivery.message.data['text']}", result=result)
    )
    return delivery


def test_a_blank_message_keeps_ids_and_the_way_it_went() -> None:
    before = message("mine", "secretword")
    after = blanked(before)

    assert after.data == {"ticket_id": "T-1"}
    assert (after.id, after.context_id, after.context_chain.hops) == (
        before.id,
        before.context_id,
        before.context_chain.hops,
    )
    assert "secretword" not in repr(after)
    assert blanked(after) == after


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SqliteBackend]:
    backend = SqliteBackend(tmp_path / "bus.db", clock=utc_now)
    await backend.open()
    yield backend
    await backend.close()


async def test_sqlite_finished_messages_are_blanked_beside_the_bot_and_others_are_left(
    sqlite: SqliteBackend, tmp_path: Path
) -> None:
    done, dead = message("mine", "secretword"), message("mine too", "secretword")
    other, waiting = message("theirs", "secretword"), message("mine three", "secretword")
    await publish(sqlite, done, dead, other, waiting)
    await settle(sqlite)
    await settle(sqlite, State.DEAD)
    await settle(sqlite)
    file = BusFile(tmp_path / "bus.db")

    erased, again = file.erase(concerns), file.erase(concerns)
    found = {each.message.id: each for each in file.find()}
    file.close()
    assert erased == Erased(2, 1, frozenset({"mine three"}))
    assert again.blanked == 0
    assert (found[done.id].state, found[dead.id].state) == (State.DONE, State.CANCELLED)
    assert (found[done.id].error, found[done.id].message.data) == ("", {"ticket_id": "T-1"})
    assert found[other.id].message.data["text"] == "secretword"
    assert found[waiting.id].message.data["text"] == "secretword"
    result = await sqlite.result(done.task, "order")
    assert result is not None
    assert result.data == {"ticket_id": "T-1"}
    await publish(sqlite, done)
    assert sqlite.queue_size("order") == 1, "a repeat of what was handled is still known"


async def test_sqlite_what_waits_is_cancelled_where_no_bot_runs(sqlite: SqliteBackend, tmp_path: Path) -> None:
    waiting, other = message("mine", "secretword"), message("theirs", "secretword")
    await publish(sqlite, waiting, other)
    await sqlite.close()
    file = BusFile(tmp_path / "bus.db")

    erased = file.erase(concerns)
    states = {each.message.id: each.state for each in file.find()}
    file.close()
    assert erased == Erased(1, 0)
    assert states == {waiting.id: State.CANCELLED, other.id: State.QUEUED}


async def test_redis_finished_messages_are_blanked_and_others_are_left(redis_server: Redis) -> None:
    backend = RedisBackend(redis_server.url, prefix="erasure", clock=utc_now)
    await backend.open()
    try:
        done, dead = message("mine", "secretword"), message("mine too", "secretword")
        other, waiting = message("theirs", "otherword"), message("mine three", "secretword")
        await publish(backend, done, dead, other)
        await settle(backend)
        await settle(backend, State.DEAD)
        await settle(backend)
        await publish(backend, waiting)

        erased = await backend.erase(concerns)
        found = {each.message.id: each for each in await backend.find()}
        assert erased == Erased(2, 1, frozenset({"mine three"}))
        assert (await backend.erase(concerns)).blanked == 0
        assert (found[done.id].state, found[dead.id].state) == (State.DONE, State.CANCELLED)
        assert found[done.id].message.data == {"ticket_id": "T-1"}
        assert found[other.id].message.data["text"] == "otherword"
        assert await backend.result(done.task, "order") is None
        assert await backend.cancel("mine three") == 1
        assert await backend.erase(concerns) == Erased(1, 0)
        with redis_server.client() as client:
            stored = [client.dump(key) or b"" for key in client.scan_iter("*")]
        assert not any(b"secretword" in each for each in stored)
    finally:
        await backend.close()
