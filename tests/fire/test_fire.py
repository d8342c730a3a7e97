"""The short form of `make fire`: the same scenes, smaller. What the whole found stands in docs/fire.md."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from hermes_bot.bus.port import Delivery
from hermes_bot.messages.message import Message
from tests.fire import clocks, on_redis, on_sqlite, soak
from tests.fire.ledger import FIRST, Ledger, context_of, ledger_at, task_of
from tests.fire.report import Report
from tests.servers import Redis, running_redis


@pytest.fixture(scope="module")
def server() -> Iterator[Redis]:
    """A redis of its own: these scenes stop and empty it."""
    with running_redis() as server:
        yield server


@pytest.mark.parametrize(
    "scene",
    [
        pytest.param(partial(on_sqlite.kills, times=8), id="kill -9"),
        pytest.param(partial(on_sqlite.full_disk, full_s=1.0), id="disk full"),
        pytest.param(partial(on_sqlite.locked_file, times=2), id="file locked"),
        pytest.param(partial(on_sqlite.long_queue, number=3_000), id="long queue"),
        pytest.param(partial(clocks.jumps, name="memory", messages=300), id="clock, memory"),
        pytest.param(partial(clocks.jumps, name="sqlite", messages=300), id="clock, sqlite"),
        pytest.param(partial(clocks.jumps, name="sqlite", messages=300, limits=True), id="clock, with time limits"),
        pytest.param(partial(soak.steady, seconds=4, judged=False), id="steady load"),
    ],
)
def test_nothing_acknowledged_is_lost_or_done_twice(scene: Callable[[Path], Report], tmp_path: Path) -> None:
    assert scene(tmp_path).problems == ()


@pytest.mark.parametrize(
    "scene",
    [
        pytest.param(partial(on_redis.worker_kills, times=4, lease_s=5.0), id="kill -9 of a worker"),
        pytest.param(partial(on_redis.troubles, rounds=1), id="troubles of redis"),
    ],
)
def test_nothing_is_lost_or_done_twice_on_redis(
    scene: Callable[[Path, Redis], Report], tmp_path: Path, server: Redis
) -> None:
    with server.client() as client:
        client.flushall()

    assert scene(tmp_path, server).problems == ()


def test_a_clock_that_jumps_changes_nothing_on_redis_whose_time_is_its_own(tmp_path: Path, server: Redis) -> None:
    assert clocks.jumps(tmp_path, "redis", messages=300, url=server.url).problems == ()


@contextmanager
def ledger_with_faults(path: Path) -> Iterator[Ledger]:
    """Nothing has an effect; 32 runs before 16, and again after it without being told."""
    with ledger_at(path) as ledger:
        for n in (0, 16, 32):
            ledger.acked(n)
        for n in (32, 16, 32):
            message = Message(type=FIRST, sender="test", context_id=context_of(n), task_id=task_of(n, FIRST))
            ledger.attempt(message, Delivery(message=message, subscription=FIRST, agent=FIRST), 1, "first-1")
        yield ledger


def test_a_ledger_tells_what_was_lost_doubled_or_out_of_order(tmp_path: Path) -> None:
    with ledger_with_faults(tmp_path / "ledger.db") as ledger:
        found = " ".join(ledger.audit(killed={1}).problems)

    for fault in ("lost", "not in flight", "was not told", "in the order"):
        assert fault in found
