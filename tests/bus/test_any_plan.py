"""Any mix of messages, failures, outputs and restarts: what the bus promises holds for all of them."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import Delivery, Policy, State
from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.messages.message import Message
from tests.bus.harness import Harness, until

RETRIES = 2
CONTEXTS = ("c1", "c2", "c3")


@dataclass(frozen=True)
class Plan:
    """What one message meets: pauses in the handler, failures before it succeeds (9: never), its outputs."""

    context: str
    priority: int
    pauses: int
    failures: int
    outputs: int

    @property
    def end(self) -> State:
        return State.DONE if self.failures <= RETRIES else State.DEAD


PLANS = st.lists(
    st.builds(
        Plan,
        context=st.sampled_from(CONTEXTS),
        priority=st.integers(0, 10),
        pauses=st.integers(0, 5),
        failures=st.sampled_from([0, 0, 0, 1, 2, 3, 9]),
        outputs=st.integers(0, 3),
    ),
    max_size=15,
)


@dataclass
class World:
    """Where handlers leave their effects, outside the bus."""

    plans: list[Plan]
    ended: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    leaves: Counter[str] = field(default_factory=Counter)
    in_lane: Counter[str] = field(default_factory=Counter)

    async def work(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        number = message.data["n"]
        plan = self.plans[number]
        self.in_lane[plan.context] += 1
        try:
            assert self.in_lane[plan.context] == 1, "two of one lane at once"
            for _ in range(plan.pauses):
                await asyncio.sleep(0)
            if plan.failures == 9:
                self.ended[plan.context].append(number)
                raise PermanentError("never")
            if delivery.attempt <= plan.failures:
                if delivery.attempt > RETRIES:
                    self.ended[plan.context].append(number)
                raise TransientError("not yet")
            self.ended[plan.context].append(number)
            return [message.child("leaf", {"n": n}) for n in range(plan.outputs)]
        finally:
            self.in_lane[plan.context] -= 1

    async def leaf(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        self.leaves[message.id] += 1
        return ()


async def live(plans: list[Plan], restart_after: int | None) -> tuple[World, dict[tuple[str, str], State], list[str]]:
    harness = Harness(lambda time: MemoryBackend(clock=time.clock, sleep=time.sleep))
    world, roots = World(plans), []

    def subscribe() -> None:
        harness.bus.subscribe("work", "worker", world.work, Policy(concurrency=2, max_retries=RETRIES))
        harness.bus.subscribe("leaf", "leaf", world.leaf)

    subscribe()
    await harness.bus.start()
    for number, plan in enumerate(plans):
        sent = await harness.publish("work", plan.context, data={"n": number}, priority=plan.priority)
        roots.append(sent.id)
    if restart_after is not None:
        enough = min(restart_after, len(plans))
        await until(lambda: len(harness.hops) >= enough, lambda: harness.time.jump(120))
        await harness.bus.stop(0)
        harness.build()
        subscribe()
        await harness.bus.start()
    await harness.finish()
    states = await harness.states()
    await harness.bus.stop(1)
    return world, states, roots


@settings(deadline=None, max_examples=80)
@given(PLANS, st.none() | st.integers(0, 20))
def test_each_delivery_ends_once_in_order_with_all_its_outputs(plans: list[Plan], restart_after: int | None) -> None:
    world, states, roots = asyncio.run(live(plans, restart_after))

    expected = {(root, "worker"): plan.end for root, plan in zip(roots, plans, strict=True)}
    leaves = {
        f"{root}-{n}"
        for root, plan in zip(roots, plans, strict=True)
        for n in range(1, plan.outputs + 1)
        if plan.end is State.DONE
    }
    assert states == expected | {(leaf, "leaf"): State.DONE for leaf in leaves}
    assert set(world.leaves) == leaves
    for context in CONTEXTS:
        order = [number for number, plan in enumerate(plans) if plan.context == context]
        assert world.ended[context] == order
