"""Any order of publishing, cancelling, pausing, outages, restarts, replays and waiting: what must hold of the bus."""

import asyncio
import itertools
import tempfile
from collections import Counter
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from hermes_bot.bus.breaker import BreakerState
from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import DEAD_LETTERS, FINAL_STATES, Backend, Delivery, Policy, State
from hermes_bot.bus.sqlite import SqliteBackend
from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.messages.message import Message
from tests.bus.harness import FakeTime, Harness

CONTEXTS = ("c1", "c2", "c3")
PLANS = ("ok", "slow", "fails once", "permanent")
POLICY = Policy(concurrency=2, max_retries=2, failure_threshold=2, reset_timeout_s=20, backoff_max_s=4)
STEPS = settings(max_examples=25, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])

Result = TypeVar("Result")


class BusMachine(RuleBasedStateMachine):
    """The bus on memory; the one below has sqlite under it. `turn` orders what stands in a lane."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.turns = itertools.count(1)
        self.turn: dict[str, int] = {}
        self.cancelled_at: dict[str, int] = {}
        self.ended: dict[str, list[int]] = {context: [] for context in CONTEXTS}
        self.finals: Counter[tuple[str, str]] = Counter()
        self.replays: Counter[tuple[str, str]] = Counter()
        self.effects: Counter[str] = Counter()
        self.failed: set[str] = set()
        self.wrong: list[str] = []
        self.down = self.paused = self.restarted = False

    def new_backend(self, time: FakeTime) -> Backend:
        return MemoryBackend(clock=time.clock, sleep=time.sleep)

    def wait(self, something: Awaitable[Result]) -> Result:
        async def limited() -> Result:
            async with asyncio.timeout(60):
                return await something

        return self.loop.run_until_complete(limited())

    @initialize()
    def begin(self) -> None:
        self.harness = Harness(self.new_backend, options={"on_hop": self.on_hop})
        self.start()

    def start(self) -> None:
        self.harness.bus.subscribe("work", "worker", self.work, POLICY)
        self.harness.bus.subscribe("leaf", "leaf", self.leaf)
        self.wait(self.harness.bus.start())

    def on_hop(self, delivery: Delivery, state: State, outputs: Sequence[Message], seconds: float) -> None:
        if state not in FINAL_STATES:
            return
        self.finals[delivery.message.id, delivery.agent] += 1
        if delivery.agent == "worker" and state in (State.DONE, State.DEAD):
            self.ended[delivery.message.context_id].append(self.turn[delivery.message.id])

    async def work(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        self.expect(not self.paused, "something began while the bus was paused")
        open_now = self.harness.bus.breakers().get("worker") is BreakerState.OPEN
        self.expect(not open_now, "something began behind an open breaker")
        turn = self.turn[message.id]
        self.expect(turn > self.cancelled_at.get(message.context_id, 0), "what was cancelled began")
        plan = message.data["plan"]
        if plan == "slow":
            await self.harness.time.sleep(3)
            self.expect(turn > self.cancelled_at.get(message.context_id, 0), "what was cancelled went on")
        if self.down or (plan == "fails once" and message.id not in self.failed):
            self.failed.add(message.id)
            raise TransientError("not now")
        if plan == "permanent":
            raise PermanentError("never")
        return [message.child("leaf") for _ in range(message.data["outputs"])]

    def expect(self, holds: bool, text: str) -> None:
        """Take note of what went wrong: raised in a handler, it would be tried again like any failure."""
        if not holds:
            self.wrong.append(text)

    async def leaf(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        self.effects[message.id] += 1
        return ()

    @rule(
        context=st.sampled_from(CONTEXTS),
        plan=st.sampled_from(PLANS),
        outputs=st.integers(0, 2),
        priority=st.integers(0, 10),
        ttl_s=st.sampled_from([None, 15.0]),
    )
    def publish(self, context: str, plan: str, outputs: int, priority: int, ttl_s: float | None) -> None:
        turn = next(self.turns)
        self.turn[f"MSG-{turn}"] = turn
        data = {"plan": plan, "outputs": outputs}
        self.wait(self.harness.publish("work", context, id=f"MSG-{turn}", priority=priority, ttl_s=ttl_s, data=data))
        self.settle_down()

    @rule(seconds=st.integers(1, 40))
    def time_passes(self, seconds: int) -> None:
        for _ in range(seconds):
            self.harness.time.advance(1)
            self.settle_down()

    @rule(context=st.sampled_from(CONTEXTS))
    def cancel(self, context: str) -> None:
        self.wait(self.harness.bus.cancel(context))
        self.cancelled_at[context] = next(self.turns)
        self.harness.time.advance(1)  # what is published at the very same instant would count as before

    @rule(paused=st.booleans())
    def pause(self, paused: bool) -> None:
        self.paused = False
        self.wait(self.harness.bus.pause() if paused else self.harness.bus.resume())
        self.paused = paused

    @rule(down=st.booleans())
    def outage(self, down: bool) -> None:
        self.down = down

    @rule()
    def restart(self) -> None:
        self.restarted = True
        self.wait(self.harness.bus.stop(0))
        self.harness.build()
        self.start()

    @rule()
    def replay(self) -> None:
        letters = self.wait(self.harness.backend.find(states=sorted(DEAD_LETTERS)))
        for letter in letters[:1]:
            self.turn[letter.message.id] = next(self.turns)
            assert self.wait(self.harness.backend.requeue(letter.message.id, letter.subscription))
            self.replays[letter.message.id, letter.agent] += 1

    def settle_down(self) -> None:
        async def turns() -> None:
            for _ in range(30):
                await asyncio.sleep(0)

        self.wait(turns())

    def teardown(self) -> None:
        if hasattr(self, "harness"):
            self.pause(paused=False)
            self.down = False
            self.wait(self.harness.finish())
            records = self.wait(self.harness.backend.find(limit=10_000))
            self.wait(self.harness.bus.stop(1))
            self.check(records)
        self.loop.close()

    def check(self, records: Sequence[Delivery]) -> None:
        assert self.wrong == []
        states = {(record.message.id, record.agent): record.state for record in records}
        assert set(states.values()) <= FINAL_STATES
        for key, state in states.items():
            settled = self.finals[key] - self.replays[key]
            # What waited when it was cancelled ended in the backend, no attempt told of it; nor may one that a stop
            # without patience cut off while its end was being written.
            untold = state is State.CANCELLED or self.restarted
            assert settled == 1 or (untold and settled == 0)
        for record in records:
            if record.agent == "worker":
                number = record.message.data["outputs"] if record.state is State.DONE else 0
                leaves = {id for id, agent in states if agent == "leaf" and id.startswith(f"{record.message.id}-")}
                assert leaves == {f"{record.message.id}-{n}" for n in range(1, number + 1)}
            else:
                assert self.effects[record.message.id] == (record.state is State.DONE)
        for order in self.ended.values():
            assert order == sorted(order), "a lane was not handled in order"


class SqliteBusMachine(BusMachine):
    def new_backend(self, time: FakeTime) -> Backend:
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "bus.db"
        return SqliteBackend(path, synchronous="NORMAL", look_every_s=1e9, clock=time.clock, sleep=time.sleep)

    def settle_down(self) -> None:
        """The writer's thread takes its time: wait until it has nothing to do."""
        super().settle_down()
        self.wait(self.harness.backend.result("", ""))
        super().settle_down()

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "folder"):
            self.folder.cleanup()


TestBusMachine = BusMachine.TestCase
TestBusMachine.settings = STEPS
TestSqliteBusMachine = SqliteBusMachine.TestCase
TestSqliteBusMachine.settings = settings(STEPS, max_examples=8)
