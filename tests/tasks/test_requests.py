from collections.abc import Sequence
from typing import Any

import pytest

from hermes_bot.bus.port import Delivery
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.task_payloads import TASK_RESULT, TaskResult, TaskStatus
from hermes_bot.tasks.execution import Execution
from hermes_bot.tasks.requests import Requests, TaskFailed, marked
from tests.bus.harness import message
from tests.tasks.office import Office, answering, failing_part

NUMBER = {"type": "object", "required": ["n"]}


def ask(**fields: Any) -> Message:
    return message("task.stock", **fields)


async def test_a_request_from_outside_gets_its_answer(office: Office) -> None:
    office.workers = {"stock": answering({"n": 3})}

    answer = await office.requests.request(ask(), timeout_s=20)

    assert (answer.status, answer.result, answer.summary.agent) == (TaskStatus.DONE, {"n": 3}, "stock")


async def test_a_request_that_nobody_answers_in_time_raises(office: Office) -> None:
    async def silent(_message: Message, _delivery: Delivery) -> Sequence[Message]:
        return []

    office.harness.bus.subscribe("task.silent", "silent", silent)

    with pytest.raises(TimeoutError):
        await office.requests.request(message("task.silent"), timeout_s=0.1)


async def test_a_request_that_ends_as_a_dead_letter_raises_with_the_cause(office: Office) -> None:
    office.harness.expected_dead.add("stock")

    async def breaking(_message: Message, _execution: Execution) -> Message:
        raise PermanentError("no such shelf")

    office.workers = {"stock": breaking}

    with pytest.raises(TaskFailed, match="no such shelf") as caught:
        await office.requests.request(ask(), timeout_s=20)
    assert caught.value.result.status is TaskStatus.FAILED


async def test_an_answer_that_says_failed_raises(office: Office) -> None:
    office.workers = {"stock": failing_part("sold out", then={})}

    with pytest.raises(TaskFailed, match="sold out"):
        await office.requests.request(ask(), timeout_s=20)


async def test_the_requester_checks_what_it_expects(office: Office) -> None:
    async def careless(message: Message, _execution: Execution) -> Message:
        body = TaskResult(task=message.task, status=TaskStatus.DONE, result={"m": 1})
        return message.child(TASK_RESULT, body, recipient=message.reply_to)

    office.workers = {"stock": careless}

    with pytest.raises(TaskFailed, match="'n' is a required property"):
        await office.requests.request(ask(expects=NUMBER), timeout_s=20)


async def test_a_request_inside_a_handler_raises(office: Office) -> None:
    caught: list[str] = []

    async def handler(_message: Message, _delivery: Delivery) -> Sequence[Message]:
        try:
            await office.requests.request(ask(), timeout_s=20)
        except PermanentError as error:
            caught.append(str(error))
        return []

    office.harness.bus.subscribe("ticket.order", "order", marked("order", handler))
    await office.harness.publish("ticket.order")
    await office.finish()

    assert caught == ["request() inside a handler of order: use delegate(), which holds no worker"]


async def test_the_same_task_asked_again_after_a_restart_is_not_carried_out_again(office: Office) -> None:
    calls: list[str] = []

    async def work(message: Message, execution: Execution) -> Message:
        calls.append(message.task)
        return execution.answer({"n": 3})

    office.workers = {"stock": work}
    first = await office.requests.request(ask(task_id="count-1"), timeout_s=20)
    await office.restart()
    again = await office.requests.request(ask(task_id="count-1"), timeout_s=20)

    assert (calls, again) == (["count-1"], first)


async def test_an_answer_that_another_process_took_is_found_in_the_store(office: Office) -> None:
    office.workers = {"stock": answering({"n": 3})}
    elsewhere = Requests(office.harness.bus.publish, office.store, poll_s=0.01)

    assert (await elsewhere.request(ask(), timeout_s=20)).result == {"n": 3}
