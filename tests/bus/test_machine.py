"""Any order of publishing, leasing, settling and crashing: the backend against a model of it."""

import asyncio
import tempfile
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import DEAD_LETTERS, FINAL_STATES, Backend, Delivery, Orders, Settlement, State
from hermes_bot.bus.sqlite import SqliteBackend
from tests.bus.harness import FakeTime, message

AGENTS = ("a", "b")
CONTEXTS = ("c1", "c2", "c3")
STEPS = settings(max_examples=25, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

Result = TypeVar("Result")


@dataclass
class Known:
    """What the model believes of a delivery. `turn` orders it in its lane."""

    delivery: Delivery
    turn: int
    state: State = State.QUEUED
    attempt: int = 1
    retry_at: float = 0.0
    outputs: list[tuple[str, str]] = field(default_factory=list)


class BackendMachine(RuleBasedStateMachine):
    """The memory backend; the sqlite one below adds the crash."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.time = FakeTime()
        self.known: dict[tuple[str, str], Known] = {}
        self.leased: dict[tuple[str, str], Delivery] = {}
        self.turns = 0
        self.cancelled_at: dict[str, datetime] = {}
        self.paused_since: datetime | None = None
        self.told_pause: datetime | None = None

    def new_backend(self) -> Backend:
        return MemoryBackend(clock=self.time.clock, sleep=self.time.sleep)

    def wait(self, something: Awaitable[Result]) -> Result:
        async def limited() -> Result:
            async with asyncio.timeout(60):
                return await something

        return self.loop.run_until_complete(limited())

    @initialize()
    def start(self) -> None:
        self.open(self.new_backend())

    def open(self, backend: Backend) -> None:
        self.backend = backend
        self.wait(backend.open(self.obey))
        assert self.told_pause == self.paused_since
        self.upkeep = self.loop.create_task(backend.run())

    def close(self) -> None:
        self.upkeep.cancel()
        self.loop.run_until_complete(asyncio.gather(self.upkeep, return_exceptions=True))
        self.wait(self.backend.close())

    def teardown(self) -> None:
        if hasattr(self, "backend"):
            self.close()
        self.loop.close()

    def learn(self, delivery: Delivery) -> None:
        self.turns += 1
        self.known[delivery.key] = Known(delivery=delivery, turn=self.turns)

    def make(self, task: int, agent: str, context: str, priority: int) -> Delivery:
        item = message("x", context, task_id=f"t{task}", priority=priority)
        return Delivery(message=item, subscription=f"{agent}:#", agent=agent, queued_at=self.time.now)

    def leaseable(self, agent: str) -> list[Known]:
        """Return the heads of the agent's free lanes whose time has come."""
        heads: dict[str, Known] = {}
        for known in sorted(self.known.values(), key=lambda item: item.turn):
            if known.delivery.agent == agent and known.state not in FINAL_STATES:
                heads.setdefault(known.delivery.message.context_id, known)
        now = self.time.now.timestamp()
        return [head for head in heads.values() if head.state is not State.RUNNING and head.retry_at <= now]

    @rule(
        task=st.integers(0, 30),
        agents=st.sets(st.sampled_from(AGENTS), min_size=1),
        context=st.sampled_from(CONTEXTS),
        priority=st.integers(0, 10),
    )
    def publish(self, task: int, agents: set[str], context: str, priority: int) -> None:
        deliveries = [self.make(task, agent, context, priority) for agent in sorted(agents)]
        expected = [delivery.key not in self.known for delivery in deliveries]
        assert list(self.wait(self.backend.publish(deliveries))) == expected
        for delivery, new in zip(deliveries, expected, strict=True):
            if new:
                self.learn(delivery)

    @rule(agent=st.sampled_from(AGENTS))
    def lease(self, agent: str) -> None:
        possible = self.leaseable(agent)
        if not possible:
            self.nothing_to_lease(agent)
            return
        delivery = self.wait(self.backend.lease(agent))
        known = self.known[delivery.key]
        assert known in possible, "a lane's order was broken, or a delivery was handed out twice"
        assert delivery.attempt == known.attempt
        assert delivery.state is State.RUNNING
        best = min(self.urgency(item) for item in possible)
        assert self.urgency(known) == best, "a less urgent lane went first"
        known.state = State.RUNNING
        self.leased[delivery.key] = delivery

    def urgency(self, known: Known) -> float:
        return known.delivery.queued_at.timestamp() - known.delivery.message.priority * 5.0

    def nothing_to_lease(self, agent: str) -> None:
        leasing = self.loop.create_task(self.backend.lease(agent))
        for _ in range(5):
            self.wait(asyncio.sleep(0))
        assert not leasing.done(), "something was handed out that is not due"
        leasing.cancel()
        self.loop.run_until_complete(asyncio.gather(leasing, return_exceptions=True))

    @precondition(lambda self: self.leased)
    @rule(
        data=st.data(),
        state=st.sampled_from(
            [State.DONE, State.DEAD, State.RETRYING, State.SUSPENDED, State.EXPIRED, State.CANCELLED]
        ),
        outputs=st.lists(st.tuples(st.integers(0, 30), st.sampled_from(AGENTS), st.sampled_from(CONTEXTS)), max_size=3),
        postponed=st.booleans(),
    )
    def settle(self, data: st.DataObject, state: State, outputs: list[tuple[int, str, str]], postponed: bool) -> None:
        key = data.draw(st.sampled_from(sorted(self.leased)))
        delivery, known = self.leased.pop(key), self.known[key]
        made = () if state is State.RETRYING else tuple(self.make(*output, priority=5) for output in outputs)
        retry_at = self.time.now + timedelta(seconds=10) if state is State.RETRYING else None
        postponed = postponed and state is State.RETRYING
        settlement = Settlement(state=state, outputs=made, retry_at=retry_at, postponed=postponed)
        self.wait(self.backend.settle(delivery, settlement))
        known.state = state
        if retry_at is not None:
            known.attempt += not postponed
            known.retry_at = retry_at.timestamp()
        for output in made:
            if output.key not in self.known:
                self.learn(output)
                known.outputs.append(output.key)

    @precondition(lambda self: self.leased)
    @rule(data=st.data())
    def hand_back(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.leased)))
        self.wait(self.backend.hand_back(self.leased.pop(key)))
        known = self.known[key]
        known.state = State.QUEUED
        known.delivery = replace(known.delivery, queued_at=self.time.now)

    @rule(data=st.data(), replay=st.booleans())
    def replay_or_drop(self, data: st.DataObject, replay: bool) -> None:
        if not self.known:
            return
        known = self.known[data.draw(st.sampled_from(sorted(self.known)))]
        names = (known.delivery.message.id, known.delivery.subscription)
        change = self.backend.requeue if replay else self.backend.drop
        assert self.wait(change(*names)) == (known.state in DEAD_LETTERS)
        if known.state not in DEAD_LETTERS:
            return
        known.state = State.QUEUED if replay else State.CANCELLED
        if replay:
            self.turns += 1
            known.turn, known.attempt, known.retry_at = self.turns, 1, 0.0
            known.delivery = replace(known.delivery, queued_at=self.time.now)

    @rule(context=st.sampled_from(CONTEXTS))
    def cancel(self, context: str) -> None:
        waiting = [known for known in self.known.values() if known.delivery.message.context_id == context]
        waiting = [known for known in waiting if known.state in (State.QUEUED, State.RETRYING)]
        assert self.wait(self.backend.cancel(context)) == len(waiting)
        for known in waiting:
            known.state = State.CANCELLED
        self.cancelled_at[context] = self.time.now
        self.time_passes(1)  # what is queued at the very same instant would count as before

    @rule(paused=st.booleans())
    def pause(self, paused: bool) -> None:
        self.wait(self.backend.pause(paused=paused))
        if paused != (self.paused_since is not None):
            self.paused_since = self.time.now if paused else None
        assert self.told_pause == self.paused_since

    def obey(self, orders: Orders) -> None:
        self.told_pause = orders.paused_since

    @rule(seconds=st.sampled_from([1, 11]))
    def time_passes(self, seconds: int) -> None:
        for _ in range(seconds):
            self.time.advance(1)
            for _ in range(4):
                self.wait(asyncio.sleep(0))

    @invariant()
    def every_delivery_is_where_the_model_says(self) -> None:
        if not hasattr(self, "backend"):
            return
        found = {item.key: item for item in self.wait(self.backend.find(limit=10_000))}
        assert found.keys() == self.known.keys(), "deliveries and settlements disagree: lost, doubled or half committed"
        for key, known in self.known.items():
            if known.state in FINAL_STATES:
                assert found[key].state is known.state
        for agent in AGENTS:
            mine = [item for item in self.known.values() if item.delivery.agent == agent]
            assert self.backend.queue_size(agent) == sum(item.state not in FINAL_STATES for item in mine)


class SqliteMachine(BackendMachine):
    """The same on a file, and now and then the process dies."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.lives = 0

    @property
    def path(self) -> Path:
        return Path(self.folder.name) / f"bus-{self.lives}.db"

    def new_backend(self) -> Backend:
        return SqliteBackend(self.path, synchronous="NORMAL", clock=self.time.clock, sleep=self.time.sleep)

    @rule()
    def crash(self) -> None:
        """Open a copy of the files as they are: what a kill between two commits leaves."""
        self.wait(self.backend.counts())
        self.settle_marks()
        old = self.path
        self.lives += 1
        for suffix in ("", "-wal"):
            self.path.with_name(self.path.name + suffix).write_bytes(old.with_name(old.name + suffix).read_bytes())
        abandoned, upkeep = self.backend, self.upkeep
        for key in self.leased:
            known = self.known[key]
            known.state, known.attempt = State.QUEUED, known.attempt + 1
        self.leased.clear()
        for known in self.known.values():
            at = self.cancelled_at.get(known.delivery.message.context_id)
            if at is not None and known.delivery.queued_at <= at and known.state not in FINAL_STATES:
                known.state = State.CANCELLED  # it ran when its context was cancelled
        self.open(self.new_backend())
        upkeep.cancel()
        self.loop.run_until_complete(asyncio.gather(upkeep, return_exceptions=True))
        self.wait(abandoned.close())

    def settle_marks(self) -> None:
        """Let the lazily written marks reach the file: the model counts the attempts that it saw begin."""
        assert isinstance(self.backend, SqliteBackend)
        assert self.backend._open_writer is not None
        self.wait(self.backend._open_writer.submit(lambda connection: None))

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


TestMemoryMachine = BackendMachine.TestCase
TestSqliteMachine = SqliteMachine.TestCase
TestMemoryMachine.settings = STEPS
TestSqliteMachine.settings = STEPS
