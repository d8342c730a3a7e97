"""Raises an alarm when a message type fails too often, a guard stops a message, or a breaker opens.

It goes to the handoff channel as a message on the bus, and into the log in any case.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from time import monotonic

from hermes_bot.bus.port import Alarm, Delivery, State
from hermes_bot.errors import BusStopped, HermesError, Unroutable
from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import ALARM_RAISED, AlarmRaised, fields_of
from hermes_bot.observe.rates import FailureAlarm, Rate
from hermes_bot.observe.redact import Redactor

SENDER = "alarms"
CONTEXT = "hermes:alarms"
ERROR_CHARACTERS = 300
MOST_WAITING = 100
AGAIN_S = 5.0

Publish = Callable[[Message], Awaitable[None]]

_FAILED = frozenset({State.RETRYING, State.DEAD, State.EXPIRED, State.SUSPENDED})
_REDACTOR = Redactor()

logger = logging.getLogger(__name__)


class Alarms:
    """Takes attempts and what the bus reports, on the event loop; `run` publishes what is raised.

    The same alarm is not repeated within `window_s`, by several processes neither: they share the task's name.
    """

    def __init__(
        self,
        *,
        window_s: float,
        ratio: float,
        min_count: int,
        clock: Callable[[], datetime],
        steady: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._alarm = FailureAlarm(window_s=window_s, ratio=ratio, min_count=min_count)
        self._window_s = window_s
        self._clock = clock
        self._steady = steady
        self._sleep = sleep
        self._raised: asyncio.Queue[Message] = asyncio.Queue()

    def attempt(self, delivery: Delivery, state: State) -> None:
        """Count an attempt. Alarms about alarms there are none."""
        message = delivery.message
        if message.type == ALARM_RAISED:
            return
        rate = self._alarm.attempt(message.type, failed=state in _FAILED, at_s=self._steady())
        if rate is not None:
            self._raise(message.type, _too_often(delivery, rate, self._window_s), reference=message.id)

    def reported(self, alarm: Alarm) -> None:
        """Take what the bus reports: a guard that stopped a message, a breaker that opened, a message too old."""
        subject = f"{alarm.kind.value}: {alarm.agent}"
        if self._alarm.first(subject, at_s=self._steady()):
            self._raise(subject, alarm.text, reference=alarm.message_id)

    def told(self, subject: str, text: str, *, reference: str) -> None:
        """Take what somebody else noticed, such as a budget that is spent; not repeated within the window."""
        if self._alarm.first(subject, at_s=self._steady()):
            self._raise(subject, text, reference=reference)

    async def run(self, publish: Publish) -> None:
        """Publish what is raised, until cancelled. What cannot be published now is tried again."""
        while True:
            message = await self._raised.get()
            while not await self._published(message, publish):
                await self._sleep(AGAIN_S)

    async def _published(self, message: Message, publish: Publish) -> bool:
        try:
            await publish(message)
        except (Unroutable, BusStopped):  # nobody is told by message; the log was
            return True
        except HermesError as error:
            logger.warning("an alarm cannot be sent now", extra={"error": str(error)})
            return False
        return True

    def _raise(self, subject: str, text: str, *, reference: str) -> None:
        told = _REDACTOR.text(text)
        logger.error("alarm", extra={"subject": subject, "text": told, "message_id": reference})
        if self._raised.qsize() >= MOST_WAITING:
            return
        window = int(self._clock().timestamp() // self._window_s)
        self._raised.put_nowait(
            Message(
                type=ALARM_RAISED,
                sender=SENDER,
                context_id=CONTEXT,
                task_id=f"alarm:{subject}:{window}",
                data=fields_of(AlarmRaised(subject=subject, text=told, reference=reference)),
                priority=PRIORITY_OPERATOR,
            )
        )


def _too_often(delivery: Delivery, rate: Rate, window_s: float) -> str:
    minutes = f"{window_s / 60:g} minutes" if window_s >= 60 else f"{window_s:g} seconds"
    share = f"{rate.failed} of {rate.total} attempts failed within {minutes} ({rate.ratio:.0%})"
    return f"{share}, the last one in {delivery.agent}: {delivery.error[:ERROR_CHARACTERS]}"
