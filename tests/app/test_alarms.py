"""Alarms: raised from a real bus, told once, as a message that the edge posts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

from hermes_bot.app.alarms import Alarms
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import Alarm, AlarmKind, Delivery, Policy
from hermes_bot.errors import BusFull, PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import ALARM_RAISED, AlarmRaised, read

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LIMIT_S = 60.0


class Rig:
    """A bus whose `ticket.created` fails for every text that says so, and who hears of alarms."""

    def __init__(self, *, listens: bool = True) -> None:
        self.at_s = 0.0
        self.heard: list[AlarmRaised] = []
        self.alarms = Alarms(
            window_s=300, ratio=0.05, min_count=20, clock=lambda: NOW, steady=lambda: self.at_s, sleep=_at_once
        )
        self.bus = Bus(
            MemoryBackend(),
            on_hop=lambda delivery, state, _outputs, _seconds: self.alarms.attempt(delivery, state),
            on_alarm=self.alarms.reported,
        )
        policy = Policy(max_retries=0, failure_threshold=1_000)
        self.bus.subscribe("ticket.created", "entry", self._handle, policy)
        if listens:
            self.bus.subscribe(ALARM_RAISED, "slack", self._hear, policy)

    async def attempts(self, *, good: int = 0, bad: int = 0) -> None:
        for number in range(good + bad):
            data = {"bad": number >= good}
            await self.bus.publish(Message(type="ticket.created", sender="s", context_id=f"c{number}", data=data))
        await self.bus.drain(LIMIT_S)

    async def told(self, count: int) -> list[AlarmRaised]:
        """Return what was heard once there is so much; alarms are published by a task of their own."""
        async with asyncio.timeout(LIMIT_S):
            while len(self.heard) < count:  # noqa: ASYNC110 - the bus has no event for it
                await asyncio.sleep(0)
        return self.heard

    async def _handle(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        if message.data.get("bad"):
            raise PermanentError("token xoxb-123456-secret was refused")
        return []

    async def _hear(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        self.heard.append(read(message, AlarmRaised))
        return []


async def _at_once(_seconds: float) -> None:
    await asyncio.sleep(0)


@asynccontextmanager
async def running(rig: Rig) -> AsyncIterator[Rig]:
    await rig.bus.start()
    sending = asyncio.create_task(rig.alarms.run(rig.bus.publish), name="alarms")
    try:
        yield rig
    finally:
        sending.cancel()
        with suppress(asyncio.CancelledError):
            await sending
        await rig.bus.stop(1)


async def test_a_type_that_fails_above_the_ratio_is_told_once_with_the_last_error_and_without_secrets() -> None:
    async with running(Rig()) as rig:
        await rig.attempts(good=38, bad=2)
        await rig.attempts(bad=3)

        (alarm,) = await rig.told(1)
        await rig.attempts(bad=5)
    assert alarm.subject == "ticket.created"
    assert "3 of 41 attempts failed within 5 minutes (7%)" in alarm.text
    assert "in entry: PermanentError: token" in alarm.text
    assert "secret" not in alarm.text
    assert alarm.reference.startswith("MSG-")
    assert len(rig.heard) == 1


async def test_at_the_ratio_or_below_the_least_count_nothing_is_told() -> None:
    async with running(Rig()) as rig:
        await rig.attempts(bad=19)
        rig.at_s = 400.0
        await rig.attempts(good=95, bad=5)
        await rig.bus.publish(Message(type=ALARM_RAISED, sender="s", context_id="c", data={"subject": "x", "text": ""}))

        assert [alarm.subject for alarm in await rig.told(1)] == ["x"]


async def test_after_the_window_it_is_told_again() -> None:
    async with running(Rig()) as rig:
        await rig.attempts(bad=20)
        await rig.told(1)
        rig.at_s = 301.0
        rig.alarms._clock = lambda: datetime(2026, 1, 2, 3, 9, 6, tzinfo=UTC)
        await rig.attempts(bad=20)

        assert len(await rig.told(2)) == 2


async def test_a_message_that_a_guard_stopped_is_told_with_its_id() -> None:
    async with running(Rig()) as rig:
        await rig.bus.publish(Message(id="MSG-1", type="ticket.created", sender="s", context_id="c", hops=11))

        (alarm,) = await rig.told(1)
    assert (alarm.subject, alarm.reference) == ("guard: entry", "MSG-1")


async def test_what_the_bus_reports_is_told_once_in_a_window() -> None:
    async with running(Rig()) as rig:
        for agent in ("order", "order", "refund"):
            rig.alarms.reported(Alarm(kind=AlarmKind.BREAKER, agent=agent, text="opened"))

        assert [alarm.subject for alarm in await rig.told(2)] == ["breaker: order", "breaker: refund"]


async def test_without_anybody_to_hear_it_an_alarm_is_logged_and_the_next_one_is_not_held_up() -> None:
    async with running(Rig(listens=False)) as rig:
        rig.alarms.reported(Alarm(kind=AlarmKind.BREAKER, agent="order", text="opened"))
        rig.alarms.reported(Alarm(kind=AlarmKind.BREAKER, agent="refund", text="opened"))

        async with asyncio.timeout(LIMIT_S):
            while not rig.alarms._raised.empty():  # noqa: ASYNC110 - the queue has no event for it
                await asyncio.sleep(0)


async def test_an_alarm_that_the_bus_does_not_take_now_is_sent_later() -> None:
    rig, refusals = Rig(), [BusFull("slack", 1), BusFull("slack", 1)]
    sent: list[Message] = []
    done = asyncio.Event()

    async def publish(message: Message) -> None:
        if refusals:
            raise refusals.pop()
        sent.append(message)
        done.set()

    rig.alarms.reported(Alarm(kind=AlarmKind.GUARD, agent="order", text="stopped"))
    sending = asyncio.create_task(rig.alarms.run(publish), name="alarms")
    async with asyncio.timeout(LIMIT_S):
        await done.wait()
    sending.cancel()

    assert [message.type for message in sent] == [ALARM_RAISED]
