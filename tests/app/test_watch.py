"""The watched bus as the bot runs it: what was done stands in the journal, and in spans where an endpoint is set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hermes_bot.app.build import build_bus
from hermes_bot.app.watch import Watch
from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import Delivery
from hermes_bot.messages.message import Message, utc_now
from hermes_bot.observe.records import Record
from hermes_bot.settings import Settings
from hermes_bot.settings.models import DataSettings, ObserveSettings
from hermes_bot.store.database import Database
from hermes_bot.store.schema import migrate
from tests.otlp import receiving


async def worked(folder: Path, observe: ObserveSettings) -> list[Record]:
    """Return the journal of a chain of two messages, after everything was stopped."""
    settings = Settings(data=DataSettings(path=folder), observe=observe)
    database = Database(settings.store_url)
    await database.open()
    await migrate(database)
    watch = Watch(settings, database, utc_now)
    bus = build_bus(settings, MemoryBackend(), watch, utc_now)

    async def entry(message: Message, _delivery: Delivery) -> Sequence[Message]:
        return [message.child("ticket.order", {"text": "my parcel"})]

    async def order(_message: Message, _delivery: Delivery) -> Sequence[Message]:
        return []

    bus.subscribe("ticket.created", "entry", entry)
    bus.subscribe("ticket.order", "order", order)
    await watch.start(bus.publish)
    await bus.start()
    await bus.publish(Message(id="MSG-01A", type="ticket.created", sender="slack", context_id="c1"))
    await bus.drain(20)
    await bus.stop(5)
    await watch.stop()
    records = await watch.journal.of(message_ids=["MSG-01A", "MSG-01A-1"])
    await database.close()
    return records


async def test_every_attempt_stands_in_the_journal_without_anybodys_words(tmp_path: Path) -> None:
    first, second = await worked(tmp_path, ObserveSettings())

    assert (first.agent, first.outcome, first.attempt, first.outputs) == (
        *("entry", "done", 1),
        (("MSG-01A-1", "ticket.order"),),
    )
    assert (second.agent, second.sender, second.trace_id) == ("order", "entry", first.trace_id)
    assert min(first.bytes_in, first.bytes_out, second.bytes_in) > 50
    assert first.duration_ms >= 0
    assert "parcel" not in repr((first, second))


async def test_with_an_endpoint_each_handled_delivery_is_a_span_of_the_messages_own_trace(tmp_path: Path) -> None:
    with receiving() as receiver:
        first, _ = await worked(tmp_path, ObserveSettings(otlp_endpoint=receiver.url))

    spans = {span.name: span for span in receiver.spans}
    assert set(spans) == {"ticket.created entry", "ticket.order order"}
    assert {span.trace_id.hex() for span in spans.values()} == {first.trace_id}
    assert spans["ticket.order order"].parent_span_id == spans["ticket.created entry"].span_id


async def test_what_is_not_sampled_is_not_sent(tmp_path: Path) -> None:
    with receiving() as receiver:
        await worked(tmp_path, ObserveSettings(otlp_endpoint=receiver.url, sample_ratio=0.0))

    assert receiver.spans == []


async def test_an_endpoint_that_is_away_costs_spans_and_nothing_else(tmp_path: Path) -> None:
    with receiving() as receiver:
        away = receiver.url

    assert len(await worked(tmp_path, ObserveSettings(otlp_endpoint=away))) == 2
