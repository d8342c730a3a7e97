"""Replays of what the whole bot has handled: the same comes of it, nothing is changed, and differences are told."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, text

from hermes_bot.app import HermesApp, offline
from hermes_bot.app.replay import Replayed
from hermes_bot.bus.inspect import BusFile
from hermes_bot.bus.port import State
from hermes_bot.errors import HermesError
from hermes_bot.messages.message import Message
from hermes_bot.settings import Settings, load

ENVIRONMENT = {"HERMES_ENCODER__PROFILE": "light"}
ROOT = "MSG-01ROOT"
ASKED = {"user": "U1", "text": "Where is my order 10023?", "customer_email": "emma.fischer@example.com"}


@pytest.fixture
def settings(tmp_path: Path, vectors: Path) -> Settings:
    shutil.copytree(vectors, tmp_path / "data" / "cache")
    return load(None, ENVIRONMENT, folder=tmp_path)


@pytest.fixture
async def answered(settings: Settings) -> list[Message]:
    """What the bot answered to a customer, before it was stopped."""
    return await say(settings, ROOT, ASKED["text"])


async def say(settings: Settings, id: str, words: str) -> list[Message]:
    app = HermesApp(settings=settings)
    try:
        await app.start()
        data = ASKED | {"text": words}
        await app.publish(Message(id=id, type="ticket.created", sender="demo", context_id="demo:1", data=data))
        return await app.drain()
    finally:
        await app.stop()


async def replayed(settings: Settings, id: str, *, chain: bool = True) -> Replayed:
    async with offline(settings) as parts:
        return await parts.replay(id, chain=chain)


@asynccontextmanager
async def unchanged(settings: Settings) -> AsyncIterator[None]:
    """Fail when the block changes a row of the store, of the order book or of the bus."""
    before = rows(settings)
    yield
    assert rows(settings) == before


def rows(settings: Settings) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for name in ("hermes.db", "shop.db", "bus.db"):
        engine = create_engine(f"sqlite:///{settings.data.path / name}")
        with engine.connect() as connection:
            for table in tables(connection):
                found[f"{name} {table}"] = connection.execute(text(f'SELECT * FROM "{table}"')).all()  # noqa: S608
        engine.dispose()
    return found


def tables(connection: Connection) -> list[str]:
    return list(connection.scalars(text("SELECT name FROM sqlite_master WHERE type = 'table'")))


async def test_a_chain_comes_out_the_same_and_changes_nothing(settings: Settings, answered: list[Message]) -> None:
    async with unchanged(settings):
        done = await replayed(settings, ROOT)

    assert [message.type for message in answered] == ["reply.ready"]
    assert [(hop.type, hop.agent, hop.state) for hop in done.hops] == [
        ("ticket.created", "entry", "done"),
        ("ticket.order", "order", "done"),
        ("reply.ready", "app", "done"),
    ]
    assert done.differences == []


async def test_one_message_alone_is_told_with_what_it_sent(settings: Settings, answered: list[Message]) -> None:
    done = await replayed(settings, f"{ROOT}-1", chain=False)

    (hop,) = done.hops
    assert (hop.message_id, hop.agent, hop.outputs) == (f"{ROOT}-1", "order", ("reply.ready",))
    assert done.differences == []


async def test_another_order_book_makes_a_difference(settings: Settings, answered: list[Message]) -> None:
    engine = create_engine(settings.orders_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE customers SET email = 'x' || email"))
    engine.dispose()

    done = await replayed(settings, ROOT)
    assert any(each.startswith(f"{ROOT}-1-1 ") for each in done.differences), done.differences


async def test_a_refund_is_asked_for_in_the_replay_alone(settings: Settings) -> None:
    await say(settings, "MSG-01PAY", "I want a refund for order 10023")

    async with unchanged(settings):
        done = await replayed(settings, "MSG-01PAY")
    assert done.differences == []
    assert {hop.agent for hop in done.hops} >= {"entry", "refund"}


async def test_messages_of_a_replay_are_marked(settings: Settings, answered: list[Message]) -> None:
    done = await replayed(settings, ROOT)

    assert not done.message.replay
    child = Message(type="ticket.created", sender="s", context_id="c", replay=True).child("ticket.order")
    assert child.replay


async def test_what_the_bus_no_longer_has_cannot_be_replayed(settings: Settings, answered: list[Message]) -> None:
    with pytest.raises(HermesError, match="no longer has MSG-01GONE"):
        await replayed(settings, "MSG-01GONE")


async def test_the_bus_that_was_replayed_from_holds_what_it_held(settings: Settings, answered: list[Message]) -> None:
    await replayed(settings, ROOT)

    file = BusFile(settings.data.path / "bus.db")
    states = {each.state for each in file.find() if each.message.type != "ticket.due"}  # those wait for their time
    file.close()
    assert states == {State.DONE}
