import asyncio
from typing import Any

import pytest

from hermes_bot.bus.port import State
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Kind, Message
from hermes_bot.messages.payloads import fields_of
from hermes_bot.messages.task_payloads import TASK_RESULT, TaskResult, TaskStatus
from hermes_bot.tasks.execution import Execution
from hermes_bot.tasks.task import CONTINUE, Part, retry
from tests.bus.harness import message, until
from tests.tasks.office import Office, answering, failing_part

NUMBER = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


def part(name: str, **fields: Any) -> Part:
    return Part(name=name, type=f"task.{name}", **fields)


async def test_delegate_returns_at_once_and_the_result_resumes_the_agent(office: Office) -> None:
    office.workers = {"stock": answering({"n": 3})}

    result = await office.carry_out(part("stock", data={"sku": "HD-210"}))

    assert (result.status, result.result, result.kept) == (TaskStatus.DONE, {"stock": {"n": 3}}, {"asked": 7})
    assert office.harness.hops == [
        ("ticket.created", "boss", State.DONE),
        ("task.stock", "stock", State.DONE),
        ("task.result", "tasks", State.DONE),
        ("task.result", "boss", State.DONE),
    ]


async def test_parts_that_do_not_depend_on_one_another_run_at_once(office: Office) -> None:
    begun: set[str] = set()
    go = asyncio.Event()

    async def work(message: Message, execution: Execution) -> Message:
        begun.add(message.type)
        await go.wait()
        return execution.answer({})

    office.workers = {"stock": work, "price": work}
    office.parts = (part("stock"), part("price"))
    await office.harness.publish()
    await until(lambda: begun == {"task.stock", "task.price"})
    go.set()
    await office.finish()

    assert office.results[0].status is TaskStatus.DONE


async def test_a_part_gets_the_results_of_those_it_waited_for(office: Office) -> None:
    got: list[Any] = []

    async def offer(message: Message, execution: Execution) -> Message:
        got.append(message.data)
        return execution.answer({"text": "ok"})

    office.workers = {"stock": answering({"n": 3}), "price": answering({"cents": 900}), "offer": offer}
    await office.carry_out(part("offer", data={"sku": "X"}, after=("stock", "price")), part("stock"), part("price"))

    assert got == [{"sku": "X", "results": {"stock": {"n": 3}, "price": {"cents": 900}}}]


async def test_a_part_is_a_request_of_a_subtasks_priority_with_a_limit_and_what_is_expected(office: Office) -> None:
    got: list[Message] = []

    async def work(message: Message, execution: Execution) -> Message:
        got.append(message)
        return execution.answer({"n": 1})

    office.workers = {"stock": work}
    await office.carry_out(part("stock", expects=NUMBER, timeout_s=9))

    (asked,) = got
    assert (asked.kind, asked.priority, asked.expects, asked.ttl_s) == (Kind.REQUEST, 5, NUMBER, 9)


async def test_an_agent_checks_its_own_result(office: Office) -> None:
    office.workers = {"stock": answering({"n": "three"})}

    result = await office.carry_out(part("stock", expects=NUMBER))

    assert result.status is TaskStatus.FAILED
    assert "$.n: 'three' is not of type 'integer'" in result.error
    assert result.parts["stock"].result == {}  # the agent itself sent no such result


async def test_the_delegator_checks_again_what_an_agent_did_not_check(office: Office) -> None:
    async def careless(message: Message, _execution: Execution) -> Message:
        body = TaskResult(task=message.task, status=TaskStatus.DONE, result={"n": "three"})
        return message.child(TASK_RESULT, body, recipient=message.reply_to, kind=Kind.RESPONSE)

    office.workers = {"stock": careless}

    result = await office.carry_out(part("stock", expects=NUMBER))

    assert (result.status, result.result) == (TaskStatus.FAILED, {})
    assert "not what was expected" in result.error
    assert result.parts["stock"].summary.agent == "stock"


async def test_a_failed_part_fails_the_task_and_what_is_there_comes_along(office: Office) -> None:
    office.workers = {"stock": answering({"n": 3}), "price": failing_part("no price", then={})}

    result = await office.carry_out(part("stock"), part("price", after=("stock",)), part("offer", after=("price",)))

    assert (result.status, result.error, result.result) == (TaskStatus.FAILED, "price: no price", {"stock": {"n": 3}})
    assert [result.parts[name].status for name in ("stock", "price", "offer")] == [
        TaskStatus.DONE,
        TaskStatus.FAILED,
        TaskStatus.SKIPPED,
    ]


async def test_without_an_optional_part_the_task_goes_on(office: Office) -> None:
    got: list[Any] = []

    async def offer(message: Message, execution: Execution) -> Message:
        got.append(message.data["results"])
        return execution.answer({"text": "ok"})

    office.workers = {"stock": answering({"n": 3}), "price": failing_part("no price", then={}), "offer": offer}
    result = await office.carry_out(
        part("stock"), part("price", on_failure=CONTINUE), part("offer", after=("stock", "price"))
    )

    assert (result.status, got) == (TaskStatus.PARTIAL, [{"stock": {"n": 3}}])
    assert result.error == "price: no price"


async def test_a_failed_part_is_sent_again_as_a_new_round(office: Office) -> None:
    office.workers = {"price": failing_part("busy", "busy", then={"cents": 900})}

    result = await office.carry_out(part("price", on_failure=retry(2)))

    assert (result.status, result.result["price"]) == (TaskStatus.DONE, {"cents": 900})
    assert result.parts["price"].summary.rounds == 3


async def test_when_all_rounds_fail_the_part_has_failed(office: Office) -> None:
    office.workers = {"price": failing_part("one", "two", "three", then={})}

    result = await office.carry_out(part("price", on_failure=retry(1, then=CONTINUE)))

    assert (result.status, result.error) == (TaskStatus.PARTIAL, "price: two")


async def test_a_part_that_ends_as_a_dead_letter_has_failed(office: Office) -> None:
    office.harness.expected_dead.add("price")

    async def breaking(_message: Message, _execution: Execution) -> Message:
        raise PermanentError("no such price list")

    office.workers = {"price": breaking}

    result = await office.carry_out(part("price"))

    assert result.status is TaskStatus.FAILED
    assert "dead: PermanentError: no such price list" in result.error


async def test_the_execution_summary_tells_tools_durations_and_key_results(office: Office) -> None:
    async def work(_message: Message, execution: Execution) -> Message:
        with execution.tool("find_order"):
            office.harness.time.advance(2)
        with execution.tool("find_order"):
            office.harness.time.advance(1)
        return execution.answer({"n": 3}, key_results=(("pieces", "3"),))

    office.workers = {"stock": work}

    summary = (await office.carry_out(part("stock"))).summary

    assert [(tool.name, tool.calls, tool.seconds) for tool in summary.tools] == [("find_order", 2, 3.0)]
    assert (summary.duration_s, summary.key_results) == (3.0, (("stock: pieces", "3"),))


async def test_a_long_chain_of_parts_does_not_count_as_many_hops(office: Office) -> None:
    got: list[int] = []

    async def work(message: Message, execution: Execution) -> Message:
        got.append(message.hops)
        return execution.answer({})

    office.workers = {"stock": work}
    names = [f"p{n:02}" for n in range(16)]
    parts = [
        Part(name=name, type="task.stock", after=names[max(n - 1, 0) : n], timeout_s=1 + n)  # type: ignore[arg-type] # a list of names
        for n, name in enumerate(names)
    ]
    result = await office.carry_out(*parts)

    assert result.status is TaskStatus.DONE
    assert set(got) == {1}


async def test_the_agent_finds_the_message_on_which_it_had_delegated(office: Office) -> None:
    office.workers = {"stock": answering({})}
    await office.carry_out(part("stock"))

    origin = await office.tasks.origin(office.resumed[0])

    assert (origin.type, origin.data) == ("ticket.created", {"n": 7})


@pytest.mark.parametrize("type", ["task.salary", "ticket.created"])
async def test_a_type_that_the_agent_may_not_name_is_refused(office: Office, type: str) -> None:
    with pytest.raises(PermanentError, match=f"boss may not delegate '{type}'"):
        await office.tasks.delegate(message(), [Part(name="stock", type=type)], agent="boss")


async def test_an_agent_that_is_not_listed_may_delegate_nothing(office: Office) -> None:
    with pytest.raises(PermanentError, match="entry may not delegate"):
        await office.tasks.delegate(message(), [part("stock")], agent="entry")


@pytest.mark.parametrize(
    "parts, wrong",
    [
        ([], "1 to 16 parts"),
        ([part("stock"), part("stock")], "stands twice"),
        ([part("stock", after=("price",))], "which is no part"),
        ([part("stock", after=("price",)), part("price", after=("stock",))], "wait for one another"),
        ([part("stock", expects={"type": "nonsense"})], "no JSON Schema"),
        ([part("stock", expects={"$ref": "https://example.com/schema"})], "only references inside"),
        ([part("stock", timeout_s=0)], "time limit"),
    ],
)
async def test_parts_that_cannot_be_carried_out_are_refused(office: Office, parts: list[Part], wrong: str) -> None:
    with pytest.raises(PermanentError, match=wrong):
        await office.tasks.delegate(message(), parts, agent="boss")


async def test_a_result_for_a_task_that_nobody_knows_leads_to_nothing(office: Office) -> None:
    body = fields_of(TaskResult(task="MSG-1:boss/stock", status=TaskStatus.DONE))
    await office.harness.publish(TASK_RESULT, data=body, recipient="tasks")
    await office.finish()

    assert office.harness.hops == [(TASK_RESULT, "tasks", State.DONE)]
