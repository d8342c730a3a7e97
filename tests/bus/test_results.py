"""A request that repeats a task gets the stored result back, and runs nothing twice."""

import asyncio
from collections.abc import Sequence

import pytest

from hermes_bot.bus.port import Delivery
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Kind, Message
from hermes_bot.messages.task_payloads import TASK_ERROR
from tests.bus.harness import Harness, Recorder, blocking, until


def answering() -> Recorder:
    return Recorder(lambda item: [item.child("task.result", {"n": item.data["n"]}, kind=Kind.RESPONSE)])


async def ask(harness: Harness, n: int, sender_key: str = "T") -> Message:
    return await harness.publish("ask", task_id=sender_key, kind=Kind.REQUEST, reply_to="asker", data={"n": n})


async def test_a_repeated_request_is_answered_again_from_what_is_stored(harness: Harness) -> None:
    worker, asker = answering(), Recorder()
    harness.bus.subscribe("ask", "worker", worker)
    harness.bus.subscribe("task.result", "asker", asker)
    await harness.bus.start()
    await ask(harness, 1)
    await harness.finish()
    await ask(harness, 2)
    await harness.finish()

    assert worker.texts == [1]
    assert asker.texts == [1, 1]


async def test_the_stored_result_survives_a_restart(harness: Harness) -> None:
    asker = Recorder()
    for n in (1, 2):
        harness.bus.subscribe("ask", "worker", answering())
        harness.bus.subscribe("task.result", "asker", asker)
        await harness.bus.start()
        await ask(harness, n)
        await harness.finish()
        await harness.bus.stop(1)
        harness.build()

    assert asker.texts == [1, 1]


async def test_a_request_repeated_by_an_agent_is_answered_with_the_commit_of_its_handling(harness: Harness) -> None:
    worker, asker = answering(), Recorder()

    def delegate(item: Message) -> Sequence[Message]:
        return [item.child("ask", {"n": item.data["n"]}, kind=Kind.REQUEST, task_id="T", reply_to="asker")]

    harness.bus.subscribe("start", "boss", Recorder(delegate))
    harness.bus.subscribe("ask", "worker", worker)
    harness.bus.subscribe("task.result", "asker", asker)
    await harness.bus.start()
    for n in (1, 2):
        sent = await harness.publish("start", data={"n": n})
        await harness.finish()

    assert worker.texts == [1]
    assert asker.texts == [1, 1]
    assert asker.got[1].id == f"{sent.id}-1-r1"


async def test_a_request_that_failed_is_answered_with_its_error_again(harness: Harness) -> None:
    harness.expected_dead = {"worker"}
    asker = Recorder()

    async def refuse(item: Message, delivery: Delivery) -> Sequence[Message]:
        raise PermanentError("no")

    harness.bus.subscribe("ask", "worker", refuse)
    harness.bus.subscribe(TASK_ERROR, "asker", asker)
    await harness.bus.start()
    for n in (1, 2):
        await ask(harness, n)
        await harness.finish()

    assert [item.data["error"] for item in asker.got] == ["PermanentError: no"] * 2


async def test_a_request_repeated_while_the_first_runs_gets_the_one_answer(harness: Harness) -> None:
    handler, go, begun = blocking()
    harness.bus.subscribe("ask", "worker", handler)
    await harness.bus.start()
    await ask(harness, 1)
    await until(lambda: len(begun) == 1)
    await ask(harness, 2)
    go.set()
    await harness.finish()

    assert len(await harness.backend.find()) == 1


@pytest.mark.parametrize("kind", [Kind.EVENT, Kind.CALLBACK])
async def test_what_is_no_request_is_not_answered(harness: Harness, kind: Kind) -> None:
    asker = Recorder()
    harness.bus.subscribe("ask", "worker", answering())
    harness.bus.subscribe("task.result", "asker", asker)
    await harness.bus.start()
    for n in (1, 2):
        await harness.publish("ask", task_id="T", kind=kind, data={"n": n})
        await harness.finish()
    await asyncio.sleep(0)

    assert asker.texts == [1]
