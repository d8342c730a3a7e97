"""What only the redis backend promises: many processes, leases, outages, repeats. On a real server, in real time."""

import asyncio
import logging
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest
from redis import exceptions

from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Delivery, Handler, Policy, Settlement, State
from hermes_bot.bus.redis_backend import PURGE_EVERY_S, RedisBackend
from hermes_bot.bus.redis_link import Link
from hermes_bot.errors import BusFull, PermanentError, StoreError
from hermes_bot.messages.message import Message, utc_now
from tests.bus.conftest import redis_on_fake_time
from tests.bus.harness import Harness, Recorder, blocking, failing, message
from tests.servers import Redis, running_redis

LEASE_S = 0.3
DEFAULT = Policy()


@pytest.fixture
def prefix() -> str:
    return f"t{uuid.uuid4().hex}"


@pytest.fixture
def own_redis() -> Iterator[Redis]:
    """A server that a test may stop or starve."""
    with running_redis() as server:
        yield server


def backend_on(server: Redis, prefix: str, **values: float) -> RedisBackend:
    return RedisBackend(server.url, prefix=prefix, **{"lease_s": LEASE_S, "poll_s": 0.05, **values})  # type: ignore[arg-type]  # numbers only


@asynccontextmanager
async def running(backend: RedisBackend, handler: Handler, policy: Policy = DEFAULT) -> AsyncIterator[Bus]:
    bus = Bus(backend, random=lambda: 0.5, publish_wait_s=0.1)
    bus.subscribe("#", "entry", handler, policy)
    await bus.start()
    try:
        yield bus
    finally:
        await bus.stop(0.1)


async def paced(holds: Callable[[], object], limit_s: float = 20) -> None:
    """Return when `holds()`; gives servers and other processes of the machine a chance meanwhile."""
    async with asyncio.timeout(limit_s):
        while not holds():  # noqa: ASYNC110 - other processes set no event here
            await asyncio.sleep(0.002)


async def one_leased(backend: RedisBackend, **fields: Any) -> Delivery:
    """Publish one message and lease it."""
    item = message(**fields)
    await backend.publish([Delivery(message=item, subscription="entry:#", agent="entry")])
    return await backend.lease("entry")


class Lanes:
    """A handler that notes who handled what, and whether two of one lane ran at once."""

    def __init__(self) -> None:
        self.seen: defaultdict[str, list[int]] = defaultdict(list)
        self.by_worker: defaultdict[str, int] = defaultdict(int)
        self._inside: set[str] = set()

    def of(self, worker: str) -> Handler:
        async def handler(item: Message, delivery: Delivery) -> Sequence[Message]:
            assert item.context_id not in self._inside, "two of one lane at once"
            self._inside.add(item.context_id)
            await asyncio.sleep(0)
            self._inside.discard(item.context_id)
            self.seen[item.context_id].append(item.data["n"])
            self.by_worker[worker] += 1
            return ()

        return handler


async def test_two_workers_share_an_agent_and_keep_its_lanes(redis_server: Redis, prefix: str) -> None:
    lanes = Lanes()
    async with AsyncExitStack() as stack:
        buses = [
            await stack.enter_async_context(running(backend_on(redis_server, prefix), lanes.of(name))) for name in "ab"
        ]
        for n in range(120):
            await buses[n % 2].publish(message(context_id=f"c{n % 6}", data={"n": n}))
        await buses[0].drain(20)

    assert lanes.seen == {f"c{lane}": list(range(lane, 120, 6)) for lane in range(6)}
    assert min(lanes.by_worker["a"], lanes.by_worker["b"]) > 10


async def test_what_a_dead_worker_held_is_tried_again_by_another(redis_server: Redis, prefix: str) -> None:
    dead = backend_on(redis_server, prefix)
    await dead.open()
    sent = await one_leased(dead)
    again = Recorder()
    async with running(backend_on(redis_server, prefix), again):
        await paced(lambda: again.got)

    assert (again.got[0], again.deliveries[0].attempt, again.deliveries[0].redelivered) == (sent.message, 2, True)
    await dead.close()


async def test_who_lost_its_lease_changes_nothing_any_more(
    redis_server: Redis, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    asleep = backend_on(redis_server, prefix)
    await asleep.open()
    held = await one_leased(asleep)
    handler, go, begun = blocking()
    async with running(backend_on(redis_server, prefix), handler) as bus:
        await paced(lambda: begun)
        output = Delivery(message=message("late"), subscription="entry:#", agent="entry")
        await asleep.settle(held, Settlement(state=State.DEAD, outputs=(output,)))
        states = {item.message.id: item.state for item in await asleep.find()}
        go.set()
        await bus.drain(20)

    assert states == {held.message.id: State.RUNNING}
    assert "a lease was lost" in caplog.text
    assert [item.state for item in await asleep.find()] == [State.DONE]
    await asleep.close()


async def test_a_handler_may_take_longer_than_the_lease(redis_server: Redis, prefix: str) -> None:
    attempts: list[int] = []

    async def handler(item: Message, delivery: Delivery) -> Sequence[Message]:
        attempts.append(delivery.attempt)
        begun_at = monotonic()
        await paced(lambda: monotonic() > begun_at + 4 * LEASE_S)
        return ()

    async with (
        running(backend_on(redis_server, prefix), handler) as bus,
        running(backend_on(redis_server, prefix), handler),
    ):
        await bus.publish(message())
        await bus.drain(20)

    assert attempts == [1]


async def test_a_restart_of_redis_loses_nothing_and_stops_nobody(own_redis: Redis, prefix: str) -> None:
    entry = Recorder()
    async with running(backend_on(own_redis, prefix), entry) as bus:
        before = [message(context_id=f"c{n}", not_before=utc_now() + timedelta(seconds=0.5)) for n in range(20)]
        for item in before:
            await bus.publish(item)
        own_redis.stop()
        meanwhile = asyncio.create_task(bus.publish(message(context_id="meanwhile")), name="publish")
        await asyncio.sleep(0)
        await asyncio.to_thread(own_redis.start)
        await meanwhile
        await paced(lambda: len(entry.got) == 21)
        await bus.drain(20)

    assert {item.id for item in entry.got} > {item.id for item in before}


async def test_killed_connections_lose_and_double_nothing(redis_server: Redis, prefix: str) -> None:
    entry = Recorder()
    with redis_server.client() as disturber:
        async with running(backend_on(redis_server, prefix), entry, Policy(concurrency=8)) as bus:
            for n in range(100):
                await bus.publish(message(context_id=f"c{n % 10}", data={"n": n}))
                if n % 10 == 0:
                    for kind in ("normal", "pubsub"):
                        disturber.execute_command("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")
            await bus.drain(20)

    assert sorted(entry.texts) == list(range(100))


async def test_a_server_that_does_not_answer_for_a_while_is_waited_for(own_redis: Redis, prefix: str) -> None:
    entry = Recorder()
    with own_redis.client() as disturber:
        async with running(backend_on(own_redis, prefix, answer_limit_s=0.1), entry) as bus:
            await bus.publish(message(data={"n": 0}))
            disturber.execute_command("CLIENT", "PAUSE", "400", "ALL")
            for n in range(1, 10):
                await bus.publish(message(context_id=f"c{n}", data={"n": n}))
            await bus.drain(20)

    assert sorted(entry.texts) == list(range(10))


async def test_without_redis_a_publisher_is_told_within_its_limit(own_redis: Redis, prefix: str) -> None:
    async with running(backend_on(own_redis, prefix, retry_for_s=0.2), Recorder()) as bus:
        own_redis.kill()

        with pytest.raises(StoreError, match="does not answer"):
            await bus.publish(message())
        own_redis.start()


async def test_when_memory_runs_out_publishing_fails_and_handling_goes_on(own_redis: Redis, prefix: str) -> None:
    handler, go, begun = blocking()
    with own_redis.client() as admin:
        async with running(backend_on(own_redis, prefix), handler, Policy(concurrency=1)) as bus:
            for n in range(5):
                await bus.publish(message(context_id=f"c{n}"))
            await paced(lambda: begun)
            admin.config_set("maxmemory", 1)
            with pytest.raises(StoreError, match="used memory"):
                await bus.publish(message(context_id="refused"))
            go.set()
            await bus.drain(20)
            admin.config_set("maxmemory", 0)
            await bus.publish(message(context_id="later"))
            await bus.drain(20)

    assert [item.context_id for item in begun] == ["c0", "c1", "c2", "c3", "c4", "later"]


async def test_a_delayed_message_outlives_the_process_that_took_it(redis_server: Redis, prefix: str) -> None:
    async with running(backend_on(redis_server, prefix), Recorder()) as bus:
        sent = message(not_before=utc_now() + timedelta(seconds=0.2))
        await bus.publish(sent)
    entry = Recorder()
    async with running(backend_on(redis_server, prefix), entry):
        await paced(lambda: entry.got)

    assert entry.got == [sent]
    assert sent.not_before is not None
    assert utc_now() >= sent.not_before


async def test_a_task_that_one_process_knows_no_other_adds_again(redis_server: Redis, prefix: str) -> None:
    backends = [backend_on(redis_server, prefix) for _ in range(2)]
    for backend in backends:
        await backend.open()
    copies = [Delivery(message=message(task_id="slack:T:C:1"), subscription="entry:#", agent="entry") for _ in backends]
    added = [await backend.publish([copy]) for backend, copy in zip(backends, copies, strict=True)]
    for backend in backends:
        await backend.close()

    assert added == [[True], [False]]


async def test_busses_of_other_prefixes_do_not_meet(redis_server: Redis, prefix: str) -> None:
    ours, theirs = Recorder(), Recorder()
    async with (
        running(backend_on(redis_server, prefix), ours) as bus,
        running(backend_on(redis_server, f"{prefix}-2"), theirs),
    ):
        await bus.publish(message())
        await bus.drain(20)

    assert (len(ours.got), len(theirs.got)) == (1, 0)


async def test_a_full_queue_is_full_for_every_process(redis_server: Redis, prefix: str) -> None:
    handler, go, _ = blocking()
    policy = Policy(max_queue_size=3)
    elsewhere = backend_on(redis_server, prefix)
    async with (
        running(backend_on(redis_server, prefix), handler, policy) as first,
        running(elsewhere, handler, policy) as second,
    ):
        for _ in range(3):
            await first.publish(message())
        await paced(lambda: elsewhere.queue_size("entry") == 3)

        with pytest.raises(BusFull):
            await second.publish(message())
        go.set()


async def test_a_pause_reaches_every_process_and_outlives_them(redis_server: Redis, prefix: str) -> None:
    entry = Recorder()
    async with (
        running(backend_on(redis_server, prefix), entry) as first,
        running(backend_on(redis_server, prefix), entry) as second,
    ):
        await first.pause()
        await paced(lambda: second.paused_since is not None)
    async with running(backend_on(redis_server, prefix), entry) as third:
        assert third.paused_since is not None
        await third.publish(message())
        assert entry.got == []
        await third.resume()
        await third.drain(20)

    assert len(entry.got) == 1


@pytest.mark.parametrize("lost", ["publish", "lease", "settle", "hand_back"])
async def test_a_step_whose_answer_was_lost_is_taken_once(
    redis_server: Redis, prefix: str, lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose = [lost]
    invoke = Link._invoke

    async def losing(link: Link, *parts: Any) -> Any:
        answer = await invoke(link, *parts)
        if lose and lose[0].encode() in parts[-1]:
            lose.pop()
            raise exceptions.ConnectionError("lost")
        return answer

    monkeypatch.setattr(Link, "_invoke", losing)
    backend = backend_on(redis_server, prefix, lease_s=3600)
    await backend.open()
    delivery = Delivery(message=message(), subscription="entry:#", agent="entry")
    added = await backend.publish([delivery])
    leased = await asyncio.wait_for(backend.lease("entry"), 10)
    if lost == "hand_back":
        await backend.hand_back(leased)
        leased = await asyncio.wait_for(backend.lease("entry"), 10)
    output = Delivery(message=message("next"), subscription="other:#", agent="other")
    await backend.settle(leased, Settlement(state=State.DONE, outputs=(output,)))
    counts = await backend.counts()
    await backend.close()

    assert not lose
    assert (added, leased.attempt) == ([True], 1)
    assert counts == {("entry", State.DONE): 1, ("other", State.QUEUED): 1}


async def test_finished_deliveries_are_forgotten_and_dead_letters_kept(redis_server: Redis) -> None:
    harness = Harness(lambda time: redis_on_fake_time(redis_server, time))
    handler, _ = failing(PermanentError("broken"))
    harness.bus.subscribe("#", "entry", handler)
    await harness.bus.start()
    dead, done = await harness.publish(), await harness.publish()
    await harness.finish()
    harness.time.advance(7 * 24 * PURGE_EVERY_S)
    await harness.bus.stop(1)
    await harness.bus.start()
    async with asyncio.timeout(60):
        while len(await harness.backend.find()) > 1:
            pass

    assert await harness.states() == {(dead.id, "entry"): State.DEAD}
    assert not await harness.backend.find(message_id=done.id)
    assert await harness.backend.counts() == {("entry", State.DEAD): 1}
    await harness.bus.stop(1)


async def test_nothing_is_left_behind_in_redis_but_what_is_kept(redis_server: Redis, prefix: str) -> None:
    async with running(backend_on(redis_server, prefix), Recorder()) as bus:
        for n in range(5):
            await bus.publish(message(context_id=f"c{n}"))
        await bus.drain(20)
    with redis_server.client() as client:
        keys = {key.decode().split(":", 1)[1].split(":")[0] for key in client.scan_iter(f"{{{prefix}}}:*")}
        (stream,) = client.scan_iter(f"{{{prefix}}}:q:*")
        length, consumers = client.xlen(stream), client.xinfo_consumers(stream, "workers")

    assert keys == {"meta", "seq", "d", "t", "q", "ids", "order", "finals", "counts", "streams"}
    assert (length, consumers) == (0, [])


async def test_a_bus_of_a_newer_version_is_refused(redis_server: Redis, prefix: str) -> None:
    with redis_server.client() as client:
        client.hset(f"{{{prefix}}}:meta", "version", 99)

    with pytest.raises(StoreError, match="install a newer program"):
        await backend_on(redis_server, prefix).open()


async def test_a_redis_that_throws_keys_away_is_refused(own_redis: Redis, prefix: str) -> None:
    with own_redis.client() as client:
        client.config_set("maxmemory-policy", "allkeys-lru")

    with pytest.raises(StoreError, match="noeviction"):
        await backend_on(own_redis, prefix).open()


async def test_a_redis_without_an_append_only_file_is_warned_of(
    own_redis: Redis, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    with own_redis.client() as client:
        client.config_set("appendonly", "no")
    backend = backend_on(own_redis, prefix)
    with caplog.at_level(logging.WARNING):
        await backend.open()
    await backend.close()

    assert "set appendonly yes" in caplog.text


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "http://127.0.0.1"])
async def test_an_address_without_redis_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        await RedisBackend(url.replace("//", "//user:secret@")).open()

    assert "secret" not in str(caught.value)


async def test_a_bus_may_be_stopped_at_any_moment_after_its_start(redis_server: Redis, prefix: str) -> None:
    for turns in range(60):
        async with asyncio.timeout(60), running(backend_on(redis_server, prefix), Recorder()):
            for _ in range(turns):
                await asyncio.sleep(0)
