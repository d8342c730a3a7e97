"""Cancelling a conversation and pausing the bus, here and from another process."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from hermes_bot.bus.bus import GATE_POLL_S
from hermes_bot.bus.inspect import BusFile
from hermes_bot.bus.port import Delivery, Policy, State
from hermes_bot.bus.sqlite import LOOK_EVERY_S, SqliteBackend
from hermes_bot.errors import TransientError
from hermes_bot.messages.message import Message
from tests.bus.harness import FakeTime, Harness, Recorder, blocking, failing, message, until


async def settle_down() -> None:
    """Let everything happen that can without time passing."""
    for _ in range(200):
        await asyncio.sleep(0)


async def test_cancel_ends_what_runs_waits_is_retried_or_delayed_in_one_context_only(harness: Harness) -> None:
    handler, go, begun = blocking()
    fails, _ = failing(*[TransientError("later", retry_after_s=1000)])
    harness.bus.subscribe("work", "entry", handler)
    harness.bus.subscribe("bad", "other", fails)
    await harness.bus.start()
    sent = [await harness.publish("work") for _ in range(3)]
    delayed = await harness.publish("work", not_before=harness.time.now + timedelta(hours=1))
    retried = await harness.publish("bad")
    elsewhere = await harness.publish("work", context_id="c2")
    await until(lambda: len(begun) == 2 and len(harness.hops) == 1)
    await harness.bus.cancel("c1")
    await until(lambda: len(harness.hops) == 2)

    states = await harness.states()
    gone = {(item.id, agent) for item, agent in [*((s, "entry") for s in (*sent, delayed)), (retried, "other")]}
    assert {key for key, state in states.items() if state is State.CANCELLED} == gone
    assert [item.id for item in begun] == [sent[0].id, elsewhere.id]
    go.set()
    await harness.finish()
    assert (await harness.states())[elsewhere.id, "entry"] is State.DONE


async def test_a_cancelled_context_takes_new_messages(harness: Harness) -> None:
    handler, go, begun = blocking()
    harness.bus.subscribe("#", "entry", handler)
    await harness.bus.start()
    await harness.publish()
    await until(lambda: len(begun) == 1)

    await harness.bus.cancel("c1")
    harness.time.advance(1)
    later = await harness.publish()
    await until(lambda: len(begun) == 2)
    go.set()
    await harness.finish()
    assert (await harness.states())[later.id, "entry"] is State.DONE


async def test_a_cancelled_handler_sends_nothing_and_frees_its_worker(harness: Harness) -> None:
    stopped: list[str] = []

    async def handler(item: Message, delivery: Delivery) -> Sequence[Message]:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append(item.context_id)
            raise
        return [item.child("never")]

    harness.bus.subscribe("never", "leaf", leaf := Recorder())
    harness.bus.subscribe("work", "entry", handler, Policy(concurrency=1, timeout_s=3600))
    await harness.bus.start()
    await harness.publish("work", context_id="c1")
    await settle_down()
    await harness.publish("work", context_id="c2")
    await harness.bus.cancel("c1")
    await until(lambda: stopped == ["c1"])
    await until(lambda: len(harness.hops) == 1)
    await harness.bus.cancel("c2")
    await harness.finish()

    assert set((await harness.states()).values()) == {State.CANCELLED}
    assert leaf.got == []


async def test_a_pause_lets_nothing_begin_keeps_everything_and_lasts_over_a_restart(harness: Harness) -> None:
    entry = Recorder()
    harness.bus.subscribe("#", "entry", entry)
    await harness.bus.start()
    await harness.bus.pause()
    sent = [await harness.publish(context_id=f"c{n}", data={"n": n}, ttl_s=60) for n in range(5)]
    await settle_down()
    assert entry.got == []

    await harness.bus.stop(1)
    harness.build().subscribe("#", "entry", entry)
    await harness.bus.start()
    harness.time.advance(50)
    await settle_down()
    assert entry.got == []
    assert harness.bus.paused_since is not None

    await harness.bus.resume()
    await harness.finish()
    assert {item.id for item in entry.got} == {item.id for item in sent}
    assert set((await harness.states()).values()) == {State.DONE}


async def test_the_bus_stops_at_once_while_it_is_paused(harness: Harness) -> None:
    harness.bus.subscribe("#", "entry", Recorder())
    await harness.bus.start()
    await settle_down()
    await harness.bus.pause()

    async with asyncio.timeout(60):
        await harness.bus.stop(1)


async def test_a_pause_does_not_count_for_the_ttl(harness: Harness) -> None:
    entry = Recorder()
    harness.bus.subscribe("#", "entry", entry)
    await harness.bus.start()
    await harness.bus.pause()
    await harness.publish(ttl_s=60)
    harness.time.advance(500)
    await harness.bus.resume()
    await harness.finish()

    assert len(entry.got) == 1


async def test_a_running_handler_ends_in_its_own_time_when_the_bus_is_paused(harness: Harness) -> None:
    handler, go, begun = blocking()
    harness.bus.subscribe("#", "entry", handler)
    await harness.bus.start()
    await harness.publish()
    await until(lambda: len(begun) == 1)
    await harness.bus.pause()
    go.set()
    await until(lambda: len(harness.hops) == 1)

    assert (await harness.only()).state is State.DONE


async def test_what_waits_can_be_cancelled_while_the_bus_is_paused(harness: Harness) -> None:
    entry = Recorder()
    harness.bus.subscribe("#", "entry", entry)
    await harness.bus.start()
    await harness.bus.pause()
    await harness.publish()
    await settle_down()
    await harness.bus.cancel("c1")
    await harness.bus.resume()
    await harness.finish()

    assert (await harness.only()).state is State.CANCELLED
    assert entry.got == []


def sqlite_harness(path: Path, time: FakeTime) -> Harness:
    return Harness(lambda _: SqliteBackend(path, clock=time.clock, sleep=time.sleep), time=time)


async def test_another_process_cancels_pauses_and_resumes_within_a_second(tmp_path: Path) -> None:
    time = FakeTime()
    harness = sqlite_harness(tmp_path / "bus.db", time)
    handler, go, begun = blocking()
    harness.bus.subscribe("#", "entry", handler)
    await harness.bus.start()
    await harness.publish(context_id="c1")
    await harness.publish(context_id="c1")
    await until(lambda: len(begun) == 1)
    file = BusFile(tmp_path / "bus.db", clock=time.clock)

    assert LOOK_EVERY_S + GATE_POLL_S < 1
    assert file.cancel("c1") == 2
    await until(lambda: len(harness.hops) == 1, lambda: time.jump(0.5))
    assert set((await harness.states()).values()) == {State.CANCELLED}
    file.pause()
    await until(lambda: harness.bus.paused_since is not None, lambda: time.jump(0.5))
    assert file.paused_since() == harness.bus.paused_since
    go.set()
    await harness.publish(context_id="c2")
    await settle_down()
    assert len(begun) == 1
    file.resume()
    await until(lambda: len(begun) == 2, lambda: time.jump(0.5))
    await harness.finish()
    await harness.bus.stop(1)
    file.close()


async def test_what_is_cancelled_while_the_bus_is_down_does_not_begin_after_the_start(tmp_path: Path) -> None:
    time, entry = FakeTime(), Recorder()
    harness = sqlite_harness(tmp_path / "bus.db", time)
    handler, _, begun = blocking()
    harness.bus.subscribe("#", "entry", handler)
    await harness.bus.start()
    for context in ("c1", "c1", "c2"):
        await harness.publish(context_id=context)
    await until(lambda: len(begun) == 2)
    await harness.bus.stop(0)
    file = BusFile(tmp_path / "bus.db", clock=time.clock)
    time.advance(1)
    assert file.cancel("c1") == 2
    file.close()

    harness.build().subscribe("#", "entry", entry)
    await harness.bus.start()
    await harness.finish()
    await harness.bus.stop(1)
    assert [item.context_id for item in entry.got] == ["c2"]
    states = [item.state for item in await harness.backend.find()]
    assert sorted(states) == [State.CANCELLED, State.CANCELLED, State.DONE]


async def test_a_crash_before_a_cancelled_handler_was_settled_does_not_bring_it_back(tmp_path: Path) -> None:
    time, path = FakeTime(), tmp_path / "bus.db"
    backend = SqliteBackend(path, clock=time.clock, sleep=time.sleep)
    await backend.open()
    item = message()
    await backend.publish([Delivery(message=item, subscription="a:#", agent="a", queued_at=time.now)])
    await backend.lease("a")
    await backend.cancel("c1")
    await backend.close()  # as a kill: nothing settled it

    again = SqliteBackend(path, clock=time.clock, sleep=time.sleep)
    await again.open()
    assert not again.agents()
    assert [each.state for each in await again.find()] == [State.CANCELLED]
    await again.close()
