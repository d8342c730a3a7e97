"""What is found among deliveries, the same on every backend."""

from datetime import timedelta

from hermes_bot.bus.port import Wanted
from tests.bus.harness import Harness, Recorder, blocking, message


async def test_a_chain_is_the_message_and_all_that_followed_and_nothing_of_its_neighbours(harness: Harness) -> None:
    harness.bus.subscribe("ticket.created", "entry", Recorder(lambda got: [got.child("ticket.order")]))
    harness.bus.subscribe("ticket.order", "order", Recorder())
    await harness.bus.start()
    first = await harness.publish(id="MSG-1")
    await harness.publish(id="MSG-12", context_id="c2")
    await harness.finish()

    chain = await harness.backend.find(wanted=Wanted(chain=first.id))
    assert {delivery.message.id for delivery in chain} == {"MSG-1", "MSG-1-1"}
    assert [item.message.id for item in await harness.backend.find(wanted=Wanted(chain="MSG-1-1"))] == ["MSG-1-1"]


async def test_deliveries_are_found_by_type_agent_and_by_how_long_they_wait(harness: Harness) -> None:
    harness.bus.subscribe("ticket.*", "entry", Recorder())
    harness.bus.subscribe("ticket.order", "order", Recorder())
    await harness.bus.start()
    await harness.publish("ticket.created")
    late = harness.time.now + timedelta(minutes=30, microseconds=250_000)
    await harness.bus.publish(message("ticket.order", "c2", not_before=late))

    async def found(wanted: Wanted) -> set[tuple[str, str]]:
        return {(item.message.type, item.agent) for item in await harness.backend.find(wanted=wanted)}

    assert await found(Wanted(type="ticket.created")) == {("ticket.created", "entry")}
    assert await found(Wanted(agent="order")) == {("ticket.order", "order")}
    assert await found(Wanted(queued_before=harness.time.now)) == set()
    soon = harness.time.now + timedelta(minutes=10)
    assert await found(Wanted(queued_before=soon)) == {("ticket.created", "entry")}
    assert len(await found(Wanted(queued_before=soon + timedelta(hours=1)))) == 3


async def test_the_delivery_that_waits_longest_is_known_by_agent(harness: Harness) -> None:
    handler, go, _ = blocking()
    harness.bus.subscribe("ticket.created", "entry", handler)
    harness.bus.subscribe("ticket.order", "order", Recorder())
    await harness.bus.start()
    first = harness.time.now
    await harness.publish("ticket.created")
    harness.time.advance(60)
    await harness.publish("ticket.created")
    await harness.publish("ticket.order", "c3", not_before=first + timedelta(hours=1))

    found = await harness.backend.oldest()
    go.set()
    await harness.finish()
    assert found["entry"] == first
    assert abs(found["order"] - first - timedelta(hours=1)) < timedelta(milliseconds=1)
    assert "entry" not in await harness.backend.oldest()
