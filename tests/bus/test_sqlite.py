"""What only the sqlite backend promises: the file, its lock, restarts, group commit, trouble with the disk."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hermes_bot.bus import rows, schema
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.inspect import BusFile
from hermes_bot.bus.port import Delivery, Policy, Settlement, State
from hermes_bot.bus.sqlite import PURGE_EVERY_S, SqliteBackend
from hermes_bot.errors import PermanentError, StoreError, TransientError
from hermes_bot.messages.message import Message
from tests.bus.harness import NEVER_S, FakeTime, Recorder, blocking, failing, message, until

DEFAULT = Policy()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "bus.db"


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@asynccontextmanager
async def running(
    path: Path, time: FakeTime, handler: Callable[..., object], policy: Policy = DEFAULT, **options: float
) -> AsyncIterator[Bus]:
    backend = SqliteBackend(path, clock=time.clock, sleep=time.sleep, **{"look_every_s": NEVER_S, **options})  # type: ignore[arg-type]  # numbers only
    bus = Bus(backend, clock=time.clock, sleep=time.sleep, random=lambda: 0.5)
    bus.subscribe("#", "entry", handler, policy)  # type: ignore[arg-type]  # each test passes a handler
    await bus.start()
    try:
        yield bus
    finally:
        await bus.stop(0.01)


def crash_image(path: Path, number: int) -> Path:
    """Copy the database as a kill would leave it; nothing may be writing at this moment."""
    image = path.with_name(f"crashed-{number}.db")
    for suffix in ("", "-wal"):
        image.with_name(image.name + suffix).write_bytes(path.with_name(path.name + suffix).read_bytes())
    return image


async def test_what_was_queued_running_or_retrying_at_a_crash_is_handled_after_it(path: Path, time: FakeTime) -> None:
    handler, _, begun = blocking()

    async def first_life(item: Message, delivery: Delivery) -> Sequence[Message]:
        if item.data["n"] == "retrying":
            raise TransientError("later", retry_after_s=600)
        return await handler(item, delivery)

    async with running(path, time, first_life) as bus:
        for n, context in (("running", "c1"), ("behind", "c1"), ("retrying", "c2"), ("behind the retry", "c2")):
            await bus.publish(message(context_id=context, data={"n": n}))
        await bus.publish(message(data={"n": "delayed"}, not_before=time.now + timedelta(hours=1)))
        await until(lambda: len(begun) == 1)
        await until(lambda: {n["state"] for n in raw(path)} == {"running", "retrying", "queued"})
        image = crash_image(path, 1)
    again = Recorder()
    async with running(image, time, again) as bus:
        await until(lambda: len(again.got) == 2)
        assert again.texts == ["running", "behind"]
        await until(lambda: len(again.got) == 4, lambda: time.jump(600))
        await until(lambda: len(again.got) == 5, lambda: time.jump(60))

    assert again.texts[2:] == ["retrying", "behind the retry", "delayed"]
    assert [item.attempt for item in again.deliveries] == [2, 1, 2, 1, 1]
    assert all(item.redelivered for item in again.deliveries)


def raw(path: Path) -> list[sqlite3.Row]:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return connection.execute("SELECT * FROM deliveries ORDER BY seq").fetchall()


async def test_a_message_that_kills_the_process_each_time_ends_as_a_dead_letter(path: Path, time: FakeTime) -> None:
    lives = 0
    async with running(path, time, blocking()[0], Policy(max_retries=2)) as bus:
        await bus.publish(message())
        await until(lambda: raw(path)[0]["state"] == "running")
        image = crash_image(path, 0)
    while lives < 10:
        handler, _, begun = blocking()
        async with running(image, time, handler, Policy(max_retries=2)):
            await until(lambda: bool(begun) or raw(image)[0]["state"] == "dead")  # noqa: B023 - awaited in this turn
            if not begun:
                break
            lives += 1
            image = crash_image(image, lives)

    assert lives == 2
    assert "the process ended in attempt 3" in raw(image)[0]["error"]


async def test_one_commit_serves_many_publishers(path: Path, time: FakeTime) -> None:
    async with running(path, time, blocking()[0]) as bus:
        writer = bus._backend._open_writer  # type: ignore[attr-defined]  # the count of commits is not part of the port
        before = writer.commits
        await asyncio.gather(*(bus.publish(message(context_id=str(n))) for n in range(500)))

        assert writer.commits - before <= 50


async def test_a_second_process_is_told_who_holds_the_file(path: Path, time: FakeTime) -> None:
    async with running(path, time, Recorder()):
        with pytest.raises(StoreError, match=r"bus\.db is in use by process \d+; stop that one"):
            await SqliteBackend(path).open()

    async with running(path, time, Recorder()):
        pass  # the lock is free again


@pytest.mark.parametrize(
    "spoil, told",
    [
        (lambda path: path.write_bytes(b"not a database, but a letter to a friend" * 100), "not a database"),
        (lambda path: write(path, "CREATE TABLE theirs (x)"), "belongs to another program"),
        (lambda path: write(path, "PRAGMA application_id = 1213353299; PRAGMA user_version = 99"), "version 99"),
        (lambda path: path.mkdir(), "unable to open"),
    ],
)
async def test_a_file_that_cannot_be_used_is_reported_and_left_alone(
    path: Path, spoil: Callable[[Path], object], told: str
) -> None:
    path.parent.mkdir()
    spoil(path)
    before = content(path)

    with pytest.raises(StoreError, match=told) as caught:
        await SqliteBackend(path).open()
    assert str(path) in str(caught.value)
    assert content(path) == before


def content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def write(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


async def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")

    with pytest.raises(StoreError, match=r"data/bus\.db"):
        await SqliteBackend(tmp_path / "data" / "bus.db").open()


async def test_a_full_disk_fails_the_publisher_and_the_bus_goes_on_when_there_is_room(
    path: Path, time: FakeTime
) -> None:
    entry = Recorder()
    async with running(path, time, entry) as bus:
        writer = bus._backend._open_writer  # type: ignore[attr-defined]  # a disk cannot be filled politely
        await writer.submit(lambda c: c.execute("PRAGMA max_page_count = 30").fetchone())
        with pytest.raises(StoreError, match="full"):
            await bus.publish(message(data={"text": "x" * 500_000}))
        await bus.publish(message(data={"n": "small"}))
        await bus.drain(10)

    assert entry.texts == ["small"]


async def test_publishers_are_told_when_another_process_holds_the_file_too_long(
    path: Path, time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "BUSY_TIMEOUT_S", 0.05)
    async with running(path, time, blocking()[0]) as bus:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            told = await asyncio.gather(*(bus.publish(message()) for _ in range(50)), return_exceptions=True)
        await bus.publish(message())

    assert all(isinstance(error, StoreError) and "locked" in str(error) for error in told)
    assert len(raw(path)) == 1


async def test_a_change_that_fails_does_not_fail_its_neighbours_in_the_same_commit(path: Path, time: FakeTime) -> None:
    async with running(path, time, blocking()[0]) as bus:
        writer = bus._backend._open_writer  # type: ignore[attr-defined]  # to put a bad change among good ones
        good, bad = message(), writer.submit(lambda c: c.execute("INSERT INTO nowhere VALUES (1)"))
        await bus.publish(good)

        with pytest.raises(StoreError, match="nowhere"):
            await bad
        assert [row["message_id"] for row in raw(path)] == [good.id]


async def test_a_settlement_waits_until_the_store_takes_it_and_the_handler_is_not_run_again(
    path: Path, time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler, go, begun = blocking()
    failures: list[int] = []

    def broken(batch: list[Any]) -> Exception:
        failures.append(len(batch))
        for job in batch:
            job.error = StoreError("disk I/O error")
        return batch[0].error  # type: ignore[no-any-return]  # a job of the writer

    async with running(path, time, handler) as bus:
        await bus.publish(message())
        await until(lambda: raw(path)[0]["state"] == "running")
        with monkeypatch.context() as patch:
            patch.setattr(bus._backend._open_writer, "_commit", broken)  # type: ignore[attr-defined]  # a disk that fails
            go.set()
            await until(lambda: len(failures) >= 2, lambda: time.jump(60))
        await until(lambda: raw(path)[0]["state"] == "done", lambda: time.jump(60))

    assert len(begun) == 1


async def test_finished_deliveries_are_purged_after_their_time_and_dead_letters_stay(
    path: Path, time: FakeTime
) -> None:
    handler, _ = failing(PermanentError("broken"))
    async with running(path, time, handler, keep_s=25 * 3600) as bus:
        for _ in range(3):
            await bus.publish(message())
        await bus.drain(10)
        time.advance(24 * 3600)
        await until(lambda: len(time._sleepers) >= 3)
        assert len(raw(path)) == 3
        await until(lambda: len(raw(path)) == 1, lambda: time.jump(PURGE_EVERY_S))

        assert raw(path)[0]["state"] == "dead"


async def test_a_command_replays_and_drops_while_the_bus_runs(path: Path, time: FakeTime) -> None:
    handler, seen = failing(PermanentError("one"), PermanentError("two"))
    async with running(path, time, handler, look_every_s=0.5) as bus:
        first, second = message(), message()
        for item in (first, second):
            await bus.publish(item)
        await bus.drain(10)
        with closing(BusFile(path)) as file:
            assert {item.message.id for item in file.find(states=[State.DEAD])} == {first.id, second.id}
            assert file.requeue(first.id, "entry:#")
            assert file.drop(second.id, "entry:#")
            assert not file.drop(second.id, "entry:#")
        before = time.now
        await until(lambda: len(seen) == 3, lambda: time.jump(0.5))
        await bus.drain(10)

        assert (time.now - before).total_seconds() <= 1
        assert await bus._backend.counts() == {("entry", State.DONE): 1, ("entry", State.CANCELLED): 1}


async def test_a_replayed_message_stands_at_the_end_of_its_lane_also_after_a_restart(
    path: Path, time: FakeTime
) -> None:
    handler, _ = failing(PermanentError("one"))
    async with running(path, time, handler) as bus:
        first = message(data={"n": "replayed"})
        await bus.publish(first)
        await bus.drain(10)
    async with running(path, time, blocking()[0]) as bus:
        for n in ("second", "third"):
            await bus.publish(message(data={"n": n}))
        await bus._backend.requeue(first.id, "entry:#")
        image = crash_image(path, 0)
    again = Recorder()
    async with running(image, time, again) as bus:
        await bus.drain(10)

    assert again.texts == ["second", "third", "replayed"]


async def test_what_a_command_replays_while_the_bus_is_down_runs_once_after_the_start(
    path: Path, time: FakeTime
) -> None:
    handler, _ = failing(PermanentError("one"))
    async with running(path, time, handler) as bus:
        sent = message()
        await bus.publish(sent)
        await bus.drain(10)
    with closing(BusFile(path)) as file:
        assert file.requeue(sent.id, "entry:#")
    again = Recorder()
    async with running(path, time, again, look_every_s=0.5) as bus:
        await bus.drain(10)
        time.advance(5)
        await bus.drain(10)

    assert again.got == [sent]


@pytest.mark.parametrize("content", [None, b"", b"not a database" * 100])
def test_a_command_says_when_there_is_no_bus_to_look_into(path: Path, content: bytes | None) -> None:
    path.parent.mkdir()
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(StoreError, match=r"bus\.db"):
        BusFile(path)
    assert path.exists() == (content is not None)


@pytest.mark.parametrize("bad", [object(), "\ud800"])
async def test_a_message_that_is_not_json_is_refused_and_an_output_that_is_not_is_a_dead_letter(
    path: Path, time: FakeTime, bad: object
) -> None:
    entry = Recorder(lambda item: [item.child("answer", {"bad": bad})])
    async with running(path, time, entry) as bus:
        with pytest.raises(PermanentError, match="cannot be stored"):
            await bus.publish(message(data={"bad": bad}))
        await bus.publish(message())
        await bus.drain(10)

    assert [(row["state"], row["attempt"]) for row in raw(path)] == [("dead", 1)]


async def test_a_damaged_row_is_a_store_error_that_says_which(path: Path, time: FakeTime) -> None:
    backend = SqliteBackend(path, clock=time.clock, sleep=time.sleep)
    await backend.open()
    await backend.publish([Delivery(message=message(), subscription="order:#", agent="order", queued_at=time.now)])
    await backend.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE deliveries SET body = CAST('{\"type\": 7}' AS BLOB)")
        connection.commit()

    with pytest.raises(StoreError, match=r"'order:#'.*damaged"):
        await backend.open()
    file = BusFile(path)
    with pytest.raises(StoreError, match=r"'order:#'.*damaged"):
        file.find()
    file.close()


async def test_the_start_reads_only_what_is_unfinished(path: Path, time: FakeTime) -> None:
    backend = SqliteBackend(path, clock=time.clock, sleep=time.sleep)
    await backend.open()
    await backend.close()
    plans: list[str] = []
    with closing(sqlite3.connect(path)) as connection:
        left: list[str] = []
        connection.set_trace_callback(left.append)
        rows.cancel_left(connection, time.now)
        rows.take_outside(connection)
        rows.unfinished(connection)
        connection.set_trace_callback(None)
        for statement in left:
            plans += [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}") if "deliveries" in row[3]]

    assert plans
    assert all("USING INDEX deliveries_unfinished" in plan for plan in plans)


async def test_a_lease_taken_from_a_cancelled_worker_is_not_lost(path: Path, time: FakeTime) -> None:
    backend = SqliteBackend(path, clock=time.clock, sleep=time.sleep)
    await backend.open()
    await backend.publish([Delivery(message=message(), subscription="a:#", agent="a")])
    first = await backend.lease("a")
    await backend.hand_back(first)
    leasing = asyncio.create_task(backend.lease("a"))
    await asyncio.sleep(0)  # it waits for the mark of a redelivery to be durable
    leasing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leasing
    second = await backend.lease("a")
    await backend.settle(second, Settlement(state=State.DONE))
    await backend.close()

    assert (second.message, second.redelivered) == (first.message, True)
