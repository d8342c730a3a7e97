"""An agent that delegates and some that work for it, on a real bus and a real store."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Delivery
from hermes_bot.bus.stamp import stamp
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import read
from hermes_bot.messages.task_payloads import TASK_RESULT, TaskResult
from hermes_bot.store.database import Database
from hermes_bot.tasks.execution import Execution
from hermes_bot.tasks.requests import Requests, marked
from hermes_bot.tasks.store import TaskStore
from hermes_bot.tasks.task import Part
from hermes_bot.tasks.tasks import Tasks
from tests.bus.harness import FakeTime, Harness, until

ALLOWED = ("task.stock", "task.price", "task.offer")
Worker = Callable[[Message, Execution], Awaitable[Message]]


class OfficeTime(FakeTime):
    """Time by hand, in which every sleeper may be asked to look again."""

    def nudge(self) -> None:
        for _, _, woken in self._sleepers:
            if not woken.done():
                woken.set_result(None)
        self._sleepers.clear()


class Office:
    """`boss` delegates `parts` on ticket.created; what comes back stands in `results`."""

    def __init__(self, harness: Harness, database: Database) -> None:
        self.harness = harness
        self.parts: Sequence[Part] = ()
        self.workers: dict[str, Worker] = {}
        self.results: list[TaskResult] = []
        self.resumed: list[Message] = []
        self._database = database
        self.wire(harness.bus)

    def wire(self, bus: Bus) -> None:
        """Bind everything to the bus, as after a restart."""
        clock = self.harness.time.clock
        self.store = TaskStore(self._database, clock=clock)
        self.tasks = Tasks(self.store, allowed={"boss": ALLOWED}, clock=clock)
        self.requests = Requests(bus.publish, self.store, poll_s=0.05)
        bus.subscribe("ticket.created", "boss", self.on_ticket)
        bus.subscribe(TASK_RESULT, "boss", self.on_done)
        for agent, handlers in (("tasks", self.tasks.handlers), ("requests", self.requests.handlers)):
            for pattern, handler in handlers.items():
                bus.subscribe(pattern, agent, handler)
        for type in ALLOWED:
            bus.subscribe(type, type.removeprefix("task."), marked(type, self.on_part))

    async def restart(self) -> None:
        """Stop at once and start anew over the same files."""
        await self.harness.bus.stop(0)
        self.wire(self.harness.build())
        await self.harness.bus.start()

    async def on_ticket(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        return await self.tasks.delegate(message, self.parts, agent="boss", kept={"asked": message.data.get("n")})

    async def on_done(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        self.resumed.append(message)
        self.results.append(read(message, TaskResult))
        return []

    async def on_part(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        execution = self.tasks.execution(message, agent=delivery.agent)
        return [await self.workers[delivery.agent](message, execution)]

    async def carry_out(self, *parts: Part) -> TaskResult:
        """Return the result of a task, after everything that follows from it."""
        self.parts = parts
        await self.harness.publish(data={"n": 7})
        await until(lambda: bool(self.results))
        await self.finish()
        (result,) = self.results
        return result

    async def stamped(self, delivery: Delivery, outputs: Awaitable[Sequence[Message]]) -> tuple[Message, ...]:
        """Return the outputs of one handling as the bus would send them."""
        return stamp(delivery, await outputs, self.harness.time.now)

    async def pass_time(self, seconds: float, until_this: Callable[[], bool]) -> None:
        """Let so much time pass, and return when what should follow from it has."""
        time = self.harness.time
        assert isinstance(time, OfficeTime)
        time.advance(seconds)
        await until(until_this, time.nudge)

    async def finish(self) -> None:
        """Wait until nothing is left to do now; no time passes, so that no limit does."""
        await self.harness.bus.drain(20)


def answering(result: dict[str, Any]) -> Worker:
    async def work(_message: Message, execution: Execution) -> Message:
        return execution.answer(result)

    return work


def failing_part(*errors: str, then: dict[str, Any]) -> Worker:
    """Return a worker that answers with these failures in turn, and then with the result."""
    left = list(errors)

    async def work(_message: Message, execution: Execution) -> Message:
        return execution.failed(left.pop(0)) if left else execution.answer(then)

    return work
