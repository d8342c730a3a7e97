"""What tasks and vouched people keep, on real SQLite and on real PostgreSQL."""

import asyncio
from datetime import UTC, datetime

import pytest

from hermes_bot.app.vouched import TEAM, VouchedPeople
from hermes_bot.bus.port import Delivery
from hermes_bot.bus.stamp import stamp
from hermes_bot.messages.message import Message
from hermes_bot.messages.task_payloads import TASK_DUE, TASK_RESULT, TaskResult, TaskStatus
from hermes_bot.store.database import Database
from hermes_bot.tasks.store import TaskStore
from hermes_bot.tasks.task import Part
from hermes_bot.tasks.tasks import Tasks

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
AT_ONCE = 8


@pytest.fixture
def database(either: Database) -> Database:
    """Each kind of database in turn."""
    return either


async def test_a_task_goes_on_from_the_row_and_a_repeat_gives_the_same(database: Database) -> None:
    tasks = Tasks(TaskStore(database, clock=lambda: NOW), allowed={"boss": ("deal.price",)}, clock=lambda: NOW)
    asked = Message(type="deal.asked", sender="demo", context_id="c")
    parts = [Part(name="first", type="deal.price"), Part(name="then", type="deal.price", after=("first",))]
    first = await tasks.delegate(asked, parts, agent="boss")
    answer = tasks.execution(first[0], agent="clerk").answer({"n": 1})
    result = Message(type=TASK_RESULT, sender="clerk", context_id="c", data=answer.data)
    delivery = Delivery(message=result, subscription="tasks:task.result", agent="tasks")

    once = stamp(delivery, await tasks.on_result(result, delivery), NOW)
    again = stamp(delivery, await tasks.on_result(result, delivery), NOW)

    assert [message.type for message in once] == ["deal.price", TASK_DUE]
    assert again == once


async def test_of_many_who_begin_the_same_task_at_once_none_fails(database: Database) -> None:
    tasks = Tasks(TaskStore(database, clock=lambda: NOW), allowed={"boss": ("deal.price",)}, clock=lambda: NOW)
    asked = Message(type="deal.asked", sender="demo", context_id="c")
    part = Part(name="only", type="deal.price")

    begun = await asyncio.gather(*(tasks.delegate(asked, [part], agent="boss") for _ in range(AT_ONCE)))

    assert {messages[0].task_id for messages in begun} == {f"{asked.id}:boss/only"}


async def test_of_many_answers_kept_at_once_the_first_stands(database: Database) -> None:
    store = TaskStore(database, clock=lambda: NOW)
    answers = [TaskResult(task="t", status=TaskStatus.DONE, result={"n": n}) for n in range(AT_ONCE)]
    await asyncio.gather(*(store.keep_answer(answer) for answer in answers))
    kept = await store.answer("t")
    await store.keep_answer(TaskResult(task="t", status=TaskStatus.FAILED))

    assert kept in answers
    assert await store.answer("t") == kept


async def test_of_many_vouches_at_once_one_stands(database: Database) -> None:
    people = VouchedPeople(database, clock=lambda: NOW)
    addresses = [f"{n}@example.com" for n in range(AT_ONCE)]
    await asyncio.gather(*(people.vouch("10086", email=address) for address in addresses))

    assert (await people.person(TEAM, "10086")).email in addresses
