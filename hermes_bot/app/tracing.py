"""Finds everything that belongs to a message or a ticket, in the bus and in the journal, and rebuilds its tree."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from hermes_bot.app.health import Looks
from hermes_bot.app.reports import size_of
from hermes_bot.bus.port import Delivery, Wanted
from hermes_bot.errors import HermesError
from hermes_bot.observe.records import Record
from hermes_bot.observe.trace import Seen, Trace, build
from hermes_bot.store.journal import Journal
from hermes_bot.tickets.tickets import Tickets

ROUNDS = 6
MOST_DELIVERIES = 5_000


@dataclass(slots=True)
class _Found:
    deliveries: dict[tuple[str, str], Delivery] = field(default_factory=dict)
    records: dict[Record, None] = field(default_factory=dict)

    def ids(self) -> set[str]:
        made = {message_id for record in self.records for message_id, _ in record.outputs}
        named = {record.message_id for record in self.records if record.message_id}
        return made | named | {delivery.message.id for delivery in self.deliveries.values()}

    def traces(self) -> set[str]:
        known = {record.trace_id for record in self.records} | {
            each.message.trace_id for each in self.deliveries.values()
        }
        return known - {""}


async def trace(wanted_id: str, bus: Looks, journal: Journal, tickets: Tickets) -> Trace:
    """Return the trees that the message, or the ticket's messages, belong to; raise HermesError where nothing is known.

    A click and what it settled are a root of their own and belong to the trace of what was asked.
    """
    ids = await _ids(wanted_id, tickets)
    found = _Found()
    traces: set[str] = set()
    for _ in range(ROUNDS):
        await _look(found, bus, journal, ids, traces)
        more_ids, more_traces = found.ids() | ids, found.traces() | traces
        if (more_ids, more_traces) == (ids, traces):
            break
        ids, traces = more_ids, more_traces
    if not found.deliveries and not found.records:
        raise HermesError(f"nothing is known of {wanted_id}: neither the bus nor the journal has it")
    return build((seen_of(each) for each in found.deliveries.values()), found.records)


async def _ids(wanted_id: str, tickets: Tickets) -> set[str]:
    if not wanted_id.startswith("T-"):
        return {wanted_id}
    found = set(await tickets.message_ids(wanted_id))
    if not found:
        raise HermesError(f"there is no ticket {wanted_id}, or it has no messages")
    return found


async def _look(found: _Found, bus: Looks, journal: Journal, ids: Collection[str], traces: Collection[str]) -> None:
    found.records |= dict.fromkeys(await journal.of(message_ids=ids, trace_ids=traces))
    seen = {root_of(delivery.message.id) for delivery in found.deliveries.values()}
    for root in sorted(_roots((*ids, *found.ids())) - seen):
        for delivery in await bus.find(wanted=Wanted(chain=root), limit=MOST_DELIVERIES):
            found.deliveries[delivery.key] = delivery


def _roots(ids: Iterable[str]) -> set[str]:
    return {root_of(each) for each in ids}


def root_of(message_id: str) -> str:
    """Return the id of the message that a chain began with: `MSG-<ulid>`, whatever follows."""
    return "-".join(message_id.split("-")[:2])


def seen_of(delivery: Delivery) -> Seen:
    """Return the delivery as a trace shows it."""
    message = delivery.message
    return Seen(
        message_id=message.id,
        type=message.type,
        sender=message.sender,
        context_id=message.context_id,
        trace_id=message.trace_id,
        created_at=message.created_at,
        size=size_of(message),
        agent=delivery.agent,
        subscription=delivery.subscription,
        state=delivery.state.value,
        attempt=delivery.attempt,
        error=delivery.error,
        waits_since=delivery.waits_since,
        updated_at=delivery.updated_at,
    )
