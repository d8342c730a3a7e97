import asyncio

from hermes_bot.bus.port import Delivery, State
from hermes_bot.messages.message import Message
from hermes_bot.messages.task_payloads import TASK_DUE, TaskStatus
from hermes_bot.tasks.execution import Execution
from hermes_bot.tasks.task import CONTINUE, Part, retry
from tests.bus.harness import message, until
from tests.tasks.office import Office, answering


def part(name: str, *, timeout_s: float = 10, after: tuple[str, ...] = ()) -> Part:
    return Part(name=name, type=f"task.{name}", timeout_s=timeout_s, after=after)


class Slow:
    """A worker that waits until it is told to go."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun = 0

    async def __call__(self, _message: Message, execution: Execution) -> Message:
        self.begun += 1
        await self.go.wait()
        return execution.answer({"n": 3})


async def test_a_part_past_its_limit_has_failed(office: Office) -> None:
    slow = Slow()
    office.workers = {"stock": slow, "price": answering({"cents": 9})}
    office.parts = (part("stock"), part("price"))
    await office.harness.publish()
    await until(lambda: ("task.result", "tasks", State.DONE) in office.harness.hops and slow.begun == 1)
    await office.pass_time(10, lambda: bool(office.results))

    (result,) = office.results
    assert (result.status, result.error) == (TaskStatus.FAILED, "stock: no result within 10 s")
    assert result.result == {"price": {"cents": 9}}
    slow.go.set()
    await office.finish()


async def test_a_result_after_the_limit_is_ignored_and_recorded(office: Office) -> None:
    slow = Slow()
    office.workers = {"stock": slow}
    office.parts = (part("stock"),)
    published = await office.harness.publish()
    await until(lambda: slow.begun == 1)
    await office.pass_time(10, lambda: bool(office.results))
    slow.go.set()
    await office.finish()

    kept = await office.store.get(f"{published.id}:boss")
    assert kept is not None
    assert [(late.task, late.status) for late in kept.graph.late] == [
        (f"{published.id}:boss/stock", TaskStatus.DONE),
    ]
    assert len(office.results) == 1


async def test_each_part_has_a_limit_of_its_own(office: Office) -> None:
    stock, price = Slow(), Slow()
    office.workers = {"stock": stock, "price": price}
    office.parts = tuple(
        Part(name=name, type=f"task.{name}", timeout_s=limit, on_failure=CONTINUE)
        for name, limit in (("stock", 5), ("price", 12))
    )
    published = await office.harness.publish()
    await until(lambda: stock.begun == price.begun == 1)
    await office.pass_time(5, lambda: (TASK_DUE, "tasks", State.DONE) in office.harness.hops)
    kept = await office.store.get(f"{published.id}:boss")
    assert kept is not None
    between = {name: run.state for name, run in kept.graph.parts.items()}
    await office.pass_time(7, lambda: bool(office.results))

    assert between == {"stock": "failed", "price": "running"}
    assert office.results[0].parts["price"].error == "no result within 12 s"
    stock.go.set()
    price.go.set()
    await office.finish()


async def test_a_retried_part_that_was_late_is_judged_by_its_new_round_alone(office: Office) -> None:
    slow = Slow()
    office.workers = {"stock": slow}
    office.parts = (Part(name="stock", type="task.stock", timeout_s=10, on_failure=retry(1)),)
    published = await office.harness.publish()
    await until(lambda: slow.begun == 1)
    await office.pass_time(10, lambda: (TASK_DUE, "tasks", State.DONE) in office.harness.hops)
    slow.go.set()
    await office.finish()

    (result,) = office.results
    kept = await office.store.get(f"{published.id}:boss")
    assert kept is not None
    assert (result.status, result.parts["stock"].summary.rounds) == (TaskStatus.DONE, 2)
    assert [late.task for late in kept.graph.late] == [f"{published.id}:boss/stock"]


async def test_a_restart_in_the_middle_loses_nothing_and_doubles_nothing(office: Office) -> None:
    slow, calls = Slow(), []

    async def price(message: Message, execution: Execution) -> Message:
        calls.append(message.data["results"])
        return execution.answer({"cents": 9})

    office.workers = {"stock": slow, "price": price}
    office.parts = (part("stock", timeout_s=500), part("price", after=("stock",)))
    await office.harness.publish(data={"n": 7})
    await until(lambda: slow.begun == 1)
    await office.restart()
    await until(lambda: slow.begun == 2)  # handed back, and begun again
    slow.go.set()
    await office.finish()

    assert [result.result for result in office.results] == [{"stock": {"n": 3}, "price": {"cents": 9}}]
    assert (calls, office.results[0].kept) == ([{"stock": {"n": 3}}], {"asked": 7})


async def test_a_limit_passes_over_a_restart_too(office: Office) -> None:
    slow = Slow()
    office.workers = {"stock": slow}
    office.parts = (part("stock"),)
    await office.harness.publish()
    await until(lambda: slow.begun == 1)
    await office.restart()
    await office.pass_time(10, lambda: bool(office.results))

    assert office.results[0].error == "stock: no result within 10 s"
    slow.go.set()
    await office.finish()


async def test_a_handling_that_is_repeated_after_a_crash_sends_the_same(office: Office) -> None:
    asked = message()
    parts = [part("stock"), part("price", after=("stock",))]
    handled = Delivery(message=asked, subscription="boss:ticket.created", agent="boss")
    first = await office.stamped(handled, office.tasks.delegate(asked, parts, agent="boss"))
    assert await office.stamped(handled, office.tasks.delegate(asked, parts, agent="boss")) == first

    stock = office.tasks.execution(first[0], agent="stock")
    result = Message(type="task.result", sender="stock", context_id="c1", data=stock.answer({"n": 1}).data)
    delivery = Delivery(message=result, subscription="tasks:task.result", agent="tasks")
    once = await office.stamped(delivery, office.tasks.on_result(result, delivery))
    again = await office.stamped(delivery, office.tasks.on_result(result, delivery))

    assert [sent.type for sent in once] == ["task.price", TASK_DUE]
    assert again == once
    kept = await office.store.get(f"{asked.id}:boss")
    assert kept is not None
    assert kept.graph.late == ()


async def test_a_handling_that_decides_otherwise_when_it_is_repeated_is_followed(office: Office) -> None:
    asked = message()
    await office.tasks.delegate(asked, [part("stock")], agent="boss")
    await office.tasks.delegate(asked, [part("price")], agent="boss")

    kept = await office.store.get(f"{asked.id}:boss")
    assert kept is not None
    assert list(kept.graph.parts) == ["price"]


async def test_a_task_of_which_something_came_back_is_not_begun_again(office: Office) -> None:
    office.workers = {"stock": answering({"n": 3})}
    await office.carry_out(part("stock"))
    origin = await office.tasks.origin(office.resumed[0])
    await office.tasks.delegate(origin, [part("stock")], agent="boss")

    kept = await office.store.get(office.results[0].task)
    assert kept is not None
    assert kept.graph.ended


async def test_tasks_that_ended_long_ago_are_forgotten_and_running_ones_are_not(office: Office) -> None:
    office.workers = {"stock": answering({})}
    await office.carry_out(part("stock"))
    running = message()
    await office.tasks.delegate(running, [part("stock")], agent="boss")
    office.harness.time.advance(8 * 86_400)
    await office.tasks.delegate(message(), [part("stock")], agent="boss")

    assert await office.store.get(office.results[0].task) is None
    assert await office.store.get(f"{running.id}:boss") is not None
