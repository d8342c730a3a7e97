"""Looks for deliveries in a redis bus, page by page, so that the server is never held up for long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hermes_bot.bus.erasure import Concerns, Erased, Unfinished, blanked
from hermes_bot.bus.port import DEAD_LETTERS, FINAL_STATES, Delivery, State, Wanted
from hermes_bot.bus.redis_link import Operation
from hermes_bot.bus.redis_records import DELAYED, Record, unpacked
from hermes_bot.messages.message import Message, decode, encode

PAGE = 200

Call = Callable[[Operation], Awaitable[Any]]


async def find(call: Call, states: Sequence[State], message_id: str, wanted: Wanted, limit: int) -> list[Delivery]:
    """Return deliveries that match all that is given, newest first."""

    def accepts(delivery: Delivery) -> bool:
        return (
            (not states or delivery.state in states)
            and message_id in {"", delivery.message.id}
            and wanted.accepts(delivery)
        )

    if message_id or wanted.chain:
        named = await _named(call, message_id, wanted.chain)
        return [record.delivery for record in named if accepts(record.delivery)][:limit]
    if states and not FINAL_STATES.intersection(states):
        waiting = await _waiting(call, wanted.agent)
        return [record.delivery for record in waiting if accepts(record.delivery)][:limit]
    index = "dead" if states and DEAD_LETTERS.issuperset(states) else "order"
    found: list[Delivery] = []
    below = "+inf"
    while len(found) < limit:
        page = [unpacked(row) for row in await call(["page", index, below, PAGE])]
        found.extend(record.delivery for record in page if accepts(record.delivery))
        if len(page) < PAGE:
            break
        below = f"({page[-1].number}"
    return found[:limit]


async def counts(call: Call) -> Mapping[tuple[str, State], int]:
    """Return how many deliveries there are by (agent, state)."""
    flat = await call(["counts"])
    found: Counter[tuple[str, State]] = Counter()
    for name, number in zip(flat[::2], flat[1::2], strict=True):
        agent, state = name.decode().rsplit("\n", 1)
        if int(number):
            found[agent, State.QUEUED if state == DELAYED else State(state)] += int(number)
    return found


async def oldest(call: Call) -> Mapping[str, datetime]:
    """Return, by agent, since when the delivery waits that has waited longest of those in no final state."""
    flat = await call(["oldest"])
    return {
        agent.decode(): datetime.fromtimestamp(float(at), UTC) for agent, at in zip(flat[::2], flat[1::2], strict=True)
    }


async def result(call: Call, task: str, subscription: str) -> Message | None:
    """Return the result that the delivery was settled with, or None."""
    found: bytes = await call(["result", task, subscription])
    return decode(found) if found else None


async def erase(call: Call, concerns: Concerns) -> Erased:
    """Blank what concerns and is finished; return how much, and how much is not finished."""
    done, unfinished = 0, Unfinished()
    below = "+inf"
    while True:
        page = [unpacked(row) for row in await call(["page", "order", below, PAGE])]
        for record in page:
            message = record.delivery.message
            mine, clean = concerns(message), encode(blanked(message))
            if record.delivery.state not in FINAL_STATES:
                unfinished.add(message, concerns=mine)
            elif mine and (clean != encode(message) or record.delivery.error):
                done += await call(["blank", record.number, clean.decode()])
        if len(page) < PAGE:
            return unfinished.told(done)
        below = f"({page[-1].number}"


async def _waiting(call: Call, agent: str) -> list[Record]:
    """Return what is in no final state, newest first."""
    found: dict[str, Record] = {}
    for each in [agent] if agent else await oldest(call):
        start = 0
        while page := await call(["waiting", each, start, PAGE]):
            found |= {record.number: record for record in map(unpacked, page)}
            start += PAGE
    return sorted(found.values(), key=_newest_first)


async def _named(call: Call, message_id: str, chain: str) -> list[Record]:
    """Return the deliveries of that message, or of a chain, newest first. See `ids` in redis_records.lua."""
    name = message_id or chain
    rows = await call(["named", f"[{name}\0", f"({name}\1"])
    if not message_id:
        rows += await call(["named", f"[{chain}-", f"({chain}."])
    return sorted((unpacked(row) for row in rows), key=_newest_first)


def _newest_first(record: Record) -> int:
    return -int(record.number)
