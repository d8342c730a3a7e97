"""What a handler is shown: never a field or a chain entry that it is not given."""

import asyncio
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_bot.bus.bus import Bus
from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import Delivery
from hermes_bot.messages.message import Chain, Message

NAMES = st.sampled_from(["ticket_id", "text", "email", "address", "name", ""])
DATA = st.dictionaries(NAMES, st.integers() | st.text(max_size=5) | st.dictionaries(NAMES, st.integers(), max_size=2))
INCLUDE = st.none() | st.sets(NAMES)
Seen = tuple[Message, Delivery]


async def chain(roots: Sequence[dict[str, Any]], includes: Sequence[Sequence[str] | None]) -> list[list[Seen]]:
    """Send each root through as many agents as there are projections; return what each agent was called with."""
    bus = Bus(MemoryBackend())
    seen: list[list[Seen]] = [[] for _ in includes]
    for step, include in enumerate(includes):

        async def handler(message: Message, delivery: Delivery, step: int = step) -> list[Message]:
            seen[step].append((message, delivery))
            return (
                [] if step == len(includes) - 1 else [message.child(f"step.{step + 1}", {**message.data, "text": step})]
            )

        bus.subscribe(f"step.{step}", f"agent{step}", handler, include=include)
    await bus.start()
    for number, data in enumerate(roots):
        root = Message(type="step.0", sender="t", context_id=f"c{number}", data=data, context_chain=Chain(text="whole"))
        await bus.publish(root)
    await bus.drain(10)
    await bus.stop(1)
    return seen


@settings(deadline=None, max_examples=60)
@given(st.lists(DATA, min_size=1, max_size=3), st.lists(INCLUDE, min_size=1, max_size=4))
def test_a_handler_sees_the_fields_of_its_projection_the_request_and_the_hops(
    roots: list[dict[str, Any]], includes: list[set[str] | None]
) -> None:
    seen = asyncio.run(chain(roots, [None if each is None else sorted(each) for each in includes]))

    sent = roots
    for step, include in enumerate(includes):
        expected = [d if include is None else {k: v for k, v in d.items() if k in include} for d in sent]
        assert len(seen[step]) == len(roots)
        for message, delivery in seen[step]:
            assert message.data in expected
            assert delivery.message == message, "the delivery shows what the message hides"
            assert message.context_chain.text == "whole"
            assert [hop.agent for hop in message.context_chain.hops] == [f"agent{n}" for n in range(step)]
            assert include is None or (message.processed_by == () and message.extra is None)
        sent = [{**data, "text": step} for data in expected]


def test_what_follows_from_a_projected_message_keeps_the_whole_way() -> None:
    seen = asyncio.run(chain([{"text": "x"}], [["text"], None]))

    ((message, _),) = seen[1]
    assert [(agent, type_) for agent, type_, _ in message.processed_by] == [("agent0", "step.0")]
    assert message.hops == 1
