"""Runs of agents between their steps, and what models cost, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hermes_bot.messages.message import Message
from hermes_bot.store.agent_runs import KEEP, AgentRuns, KeptRun, RunStatus
from hermes_bot.store.database import Database
from hermes_bot.store.usage import Spent, Usage, UsageStore

AT = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)
ORIGIN = Message(type="ticket.order", sender="entry", context_id="c1", id="MSG-1", data={"text": "hi"}, created_at=AT)
FRESH = KeptRun(
    key="MSG-1:order",
    agent="order",
    ticket_id="T-1",
    fingerprint="f1",
    status=RunStatus.WORKING,
    origin=ORIGIN,
    state={"steps": 0},
)


class Clock:
    def __init__(self) -> None:
        self.now = AT

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(either: Database) -> Database:
    """Each kind of database in turn."""
    return either


@pytest.fixture
def runs(database: Database, clock: Clock) -> AgentRuns:
    return AgentRuns(database, clock=clock)


async def test_a_repeated_step_finds_the_state_that_it_started_from_and_what_it_decided(runs: AgentRuns) -> None:
    await runs.begin(FRESH)
    await runs.decide(FRESH.key, {"kind": "finish"}, message_id="MSG-2")
    await runs.save(FRESH.key, {"steps": 1}, RunStatus.WORKING, message_id="MSG-2")

    again = await runs.load(FRESH.key, message_id="MSG-2")
    onward = await runs.load(FRESH.key, message_id="MSG-3")

    assert again is not None
    assert onward is not None
    assert (again.state, again.decided) == ({"steps": 0}, {"kind": "finish"})
    assert (onward.state, onward.decided) == ({"steps": 1}, None)
    assert onward.origin == ORIGIN


async def test_a_run_that_was_begun_is_not_begun_anew(runs: AgentRuns) -> None:
    await runs.begin(FRESH)
    await runs.save(FRESH.key, {"steps": 1}, RunStatus.WORKING, message_id="MSG-2")

    again = await runs.begin(KeptRun(**{name: getattr(FRESH, name) for name in FRESH.__struct_fields__}))

    assert again.state == {"steps": 1}


async def test_saving_twice_for_one_message_keeps_the_state_before_it(runs: AgentRuns) -> None:
    await runs.begin(FRESH)
    for steps in (1, 2):
        await runs.save(FRESH.key, {"steps": steps}, RunStatus.ENDED, message_id="MSG-2")

    before = await runs.load(FRESH.key, message_id="MSG-2")

    assert before is not None
    assert before.state == {"steps": 0}


async def test_the_run_that_asked_for_an_approval_is_found_by_it(runs: AgentRuns) -> None:
    await runs.begin(FRESH)
    await runs.save(FRESH.key, {"asked": {"A-1": 0}}, RunStatus.WAITING, message_id="MSG-2")
    await runs.save(FRESH.key, {"asked": {}}, RunStatus.WORKING, message_id="MSG-3")

    assert await runs.waiting_for("A-1", "order", "T-1") == FRESH.key
    assert await runs.waiting_for("A-1", "refund", "T-1") == ""
    assert await runs.waiting_for("A-2", "order", "T-1") == ""


async def test_old_runs_are_forgotten_when_new_ones_begin(runs: AgentRuns, clock: Clock) -> None:
    await runs.begin(FRESH)
    clock.now += KEEP + timedelta(days=1)
    await runs.begin(KeptRun(**{name: getattr(FRESH, name) for name in FRESH.__struct_fields__} | {"key": "other"}))

    assert await runs.load(FRESH.key, message_id="") is None


async def test_what_was_spent_is_summed_by_ticket_agent_and_day(database: Database, clock: Clock) -> None:
    store = UsageStore(database, clock=clock)
    for agent, ticket in (("order", "T-1"), ("refund", "T-1"), ("order", "T-2")):
        await store.add(
            Usage(agent=agent, message_id="MSG-1", ticket_id=ticket, model="m", tokens_in=10, tokens_out=5, seconds=1.0,
                  cost_usd=0.5 if agent == "order" else None)
        )  # fmt: skip
    clock.now += timedelta(hours=1)
    await store.add(Usage(agent="order", message_id="MSG-2", model="m", tokens_in=1, tokens_out=1, seconds=2.0))

    assert await store.of_ticket("T-1") == Spent(tokens=30, usd=0.5)
    assert await store.today() == Spent(tokens=2, usd=0.0)
    assert await store.today("refund") == Spent()
    days = await store.by_day()
    assert [(day.day, day.agent, day.requests, day.tokens_in, day.tokens_out, day.usd) for day in days] == [
        ("2026-12-01", "order", 1, 1, 1, 0.0),
        ("2026-11-30", "order", 2, 20, 10, 1.0),
        ("2026-11-30", "refund", 1, 10, 5, 0.0),
    ]
