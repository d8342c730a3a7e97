"""Traces of real messages: on the bus, in the journal, by message, child and ticket."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hermes_bot.app.alarms import Alarms
from hermes_bot.app.reports import Reports
from hermes_bot.app.tracing import root_of, trace
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import Backend, Delivery, Policy
from hermes_bot.bus.redis_backend import RedisBackend
from hermes_bot.bus.sqlite import SqliteBackend
from hermes_bot.errors import HermesError, PermanentError, TransientError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import Inbound
from hermes_bot.observe.context import bound
from hermes_bot.observe.metrics import Metrics
from hermes_bot.observe.trace import Node, Step, Trace
from hermes_bot.store.database import Database
from hermes_bot.store.journal import Journal
from hermes_bot.store.schema import migrate
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tools.toolbox import ToolCall
from tests.bus.harness import blocking, until
from tests.servers import Redis

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ROOT = "MSG-01ABC"


class Rig:
    """A bus that is watched, its journal and the tickets."""

    def __init__(self, backend: Backend, database: Database) -> None:
        self.backend = backend
        self.journal = Journal(database, clock=lambda: NOW, keep_days=30, max_rows=1000)
        self.tickets = Tickets(database, clock=lambda: NOW, continue_window_s=900)
        alarms = Alarms(window_s=300, ratio=0.05, min_count=20, clock=lambda: NOW)
        self.reports = Reports(journal=self.journal, metrics=Metrics(), alarms=alarms, clock=lambda: NOW)
        self.bus = Bus(backend, on_hop=self.reports.hop)
        self.fails: list[Exception] = []
        policy = Policy(backoff_start_s=0.001, backoff_max_s=0.001)
        self.bus.subscribe("ticket.created", "entry", self._entry, policy)
        self.bus.subscribe("ticket.order", "order", self._order, policy)

    async def _entry(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        if self.fails:
            raise self.fails.pop()
        return [message.child("ticket.order", {"text": "x" * 100})]

    async def _order(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        with bound(message_id=message.id, trace_id=message.trace_id, agent="order", attempt=delivery.attempt):
            call = ToolCall(tool="find_order", level="L0", agent="order", seconds=0.25, outcome="done")
            self.reports.tool_call(call)
        return []

    async def send(self, id: str = ROOT) -> Message:
        message = Message(type="ticket.created", sender="slack", context_id="c1", id=id)
        await self.bus.publish(message)
        return message

    async def open_once(self, wanted: str, state: str) -> list[tuple[Node, Step]]:
        """Return the open deliveries once one is in that state: that an attempt began is written beside it."""
        async with asyncio.timeout(60):
            found = (await self.trace(wanted)).open
            while state not in {step.state for _, step in found}:
                await asyncio.sleep(0)
                found = (await self.trace(wanted)).open
        return found

    async def trace(self, wanted: str = ROOT) -> Trace:
        await self.journal.flush()
        return await trace(wanted, self.backend, self.journal, self.tickets)


@asynccontextmanager
async def rig_on(backend: Backend, folder: Path) -> AsyncIterator[Rig]:
    database = Database(f"sqlite:///{folder}/hermes.db")
    await database.open()
    await migrate(database)
    rig = Rig(backend, database)
    await rig.bus.start()
    try:
        yield rig
    finally:
        await rig.bus.stop(2)
        await database.close()


@pytest.fixture(params=["memory", "sqlite", "redis"])
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    """A running, watched bus."""
    backend: Backend = MemoryBackend() if request.param == "memory" else SqliteBackend(tmp_path / "bus.db")
    if request.param == "redis":
        server: Redis = request.getfixturevalue("redis_server")
        backend = RedisBackend(server.url, prefix=uuid.uuid4().hex)
    async with rig_on(backend, tmp_path) as made:
        yield made


async def test_a_finished_chain_is_told_whole_from_any_of_its_messages(rig: Rig) -> None:
    message = await rig.send()
    await rig.bus.drain(10)

    for wanted in (ROOT, f"{ROOT}-1"):
        found = await rig.trace(wanted)
        (root,) = found.roots
        assert [(node.message_id, node.type) for node in found.nodes] == [
            (ROOT, "ticket.created"),
            (f"{ROOT}-1", "ticket.order"),
        ]
        assert [step.state for _, step in found.steps] == ["done", "done"]
        (attempt,) = root.steps[0].attempts
        assert attempt.outputs == ((f"{ROOT}-1", "ticket.order"),)
        assert attempt.bytes_out > 100
        assert (attempt.trace_id, attempt.tokens_in, attempt.cost_usd) == (message.trace_id, 0, None)
        (call,) = root.children[0].steps[0].calls
        assert (call.name, call.level, call.outcome, call.duration_ms) == ("find_order", "L0", "done", 250.0)


async def test_retries_are_told_one_by_one_with_their_errors(rig: Rig) -> None:
    rig.fails = [TransientError("second"), TransientError("first")]
    await rig.send()
    await rig.bus.drain(10)

    ((_, step), _) = (await rig.trace()).steps
    assert [(each.attempt, each.outcome, each.error) for each in step.attempts] == [
        (1, "retrying", "TransientError: first"),
        (2, "retrying", "TransientError: second"),
        (3, "done", ""),
    ]


async def test_a_running_and_a_waiting_message_are_found_where_they_are(rig: Rig) -> None:
    handler, go, begun = blocking()
    rig.bus.subscribe("ticket.slow", "slow", handler)
    for id in ("MSG-01A", "MSG-01B"):
        await rig.bus.publish(Message(id=id, type="ticket.slow", sender="s", context_id="c9"))
    await until(lambda: bool(begun))

    ((node, step),) = await rig.open_once("MSG-01A", "running")
    assert (node.message_id, step.agent) == ("MSG-01A", "slow")
    ((_, waiting),) = (await rig.trace("MSG-01B")).open
    assert waiting.state == "queued"
    go.set()
    await rig.bus.drain(10)


async def test_a_dead_message_tells_its_cause(rig: Rig) -> None:
    rig.fails = [PermanentError("cannot be done")]
    await rig.send()
    await rig.bus.drain(10)

    ((_, step),) = (await rig.trace()).failed
    assert (step.state, step.error) == ("dead", "PermanentError: cannot be done")


async def test_a_ticket_is_told_by_all_its_messages(rig: Rig) -> None:
    inbound = Inbound(team="T", channel="C", channel_type="channel", ts="1.1", user="U1", text="hi")
    for id in (ROOT, "MSG-01DEF"):
        located = await rig.tickets.locate(inbound, context_id="c1", message_id=id, language="en")
        await rig.send(id=id)
    await rig.bus.drain(10)

    found = await rig.trace(located.ticket.id)
    assert [root.message_id for root in found.roots] == [ROOT, "MSG-01DEF"]


async def test_what_a_click_settled_belongs_to_what_was_asked(rig: Rig) -> None:
    asked = await rig.send()

    async def settle(message: Message, _delivery: Delivery) -> Sequence[Message]:
        return [message.child("approval.settled", trace_id=asked.trace_id)]

    async def done(_message: Message, _delivery: Delivery) -> Sequence[Message]:
        return []

    rig.bus.subscribe("approval.clicked", "approvals", settle)
    rig.bus.subscribe("approval.settled", "refund", done)
    await rig.bus.publish(Message(id="MSG-01CLICK", type="approval.clicked", sender="slack", context_id="c1"))
    await rig.bus.drain(10)

    found = await rig.trace()
    assert sorted(root.message_id for root in found.roots) == [ROOT, "MSG-01CLICK"]
    assert "MSG-01CLICK-1" in {node.message_id for node in found.nodes}


async def test_without_its_last_journal_entries_a_message_is_told_by_what_the_bus_keeps(tmp_path: Path) -> None:
    async with rig_on(SqliteBackend(tmp_path / "bus.db"), tmp_path) as rig:
        await rig.send()
        await rig.bus.drain(10)

        found = await trace(ROOT, rig.backend, rig.journal, rig.tickets)  # as after kill -9: nothing was written
        assert [(node.message_id, step.state) for node, step in found.steps] == [(ROOT, "done"), (f"{ROOT}-1", "done")]


async def test_what_the_bus_has_forgotten_is_told_by_the_journal(rig: Rig) -> None:
    await rig.send()
    await rig.bus.drain(10)
    await rig.journal.flush()

    empty = MemoryBackend()
    found = await trace(f"{ROOT}-1", empty, rig.journal, rig.tickets)
    assert [(node.message_id, step.state) for node, step in found.steps] == [(ROOT, "done"), (f"{ROOT}-1", "done")]


@pytest.mark.parametrize("unknown", ["MSG-01NONE", "T-77"])
async def test_what_nobody_knows_is_an_error_that_says_so(rig: Rig, unknown: str) -> None:
    with pytest.raises(HermesError, match=unknown):
        await rig.trace(unknown)


def test_the_root_of_an_id_is_its_first_two_parts() -> None:
    assert [root_of(each) for each in ("MSG-01A", "MSG-01A-1", "MSG-01A-order-eu.1-f1")] == ["MSG-01A"] * 3
