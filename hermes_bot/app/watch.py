"""What watches the bot at work: journal, metrics, alarms, spans; put together, started and stopped."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from hermes_bot.app.alarms import Alarms, Publish
from hermes_bot.app.health import CountsWaiting, Health, Rated
from hermes_bot.app.reports import Reports
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Backend
from hermes_bot.observe.metrics import Metrics
from hermes_bot.settings import Settings
from hermes_bot.store.database import Database
from hermes_bot.store.journal import Clock, Journal

if TYPE_CHECKING:  # imported when spans are wanted
    from hermes_bot.observe.otel import Spans

logger = logging.getLogger(__name__)


class Watch:
    """Takes what the bus and the toolbox report from the start; writes and sends it between `start` and `stop`."""

    def __init__(self, settings: Settings, database: Database, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        kept, alarms = settings.journal, settings.alarms
        self.journal = Journal(database, clock=clock, keep_days=kept.keep_days, max_rows=kept.max_rows)
        self.metrics = Metrics()
        self.alarms = Alarms(
            window_s=alarms.window_s, ratio=alarms.failure_ratio, min_count=alarms.min_count, clock=clock
        )
        self.reports = Reports(journal=self.journal, metrics=self.metrics, alarms=self.alarms, clock=clock)
        self._tasks: list[asyncio.Task[None]] = []
        self._spans: Spans | None = None

    async def start(self, publish: Publish) -> None:
        """Begin to write the journal, send spans and publish alarms."""
        observe = self._settings.observe
        if observe.otlp_endpoint:
            from hermes_bot.observe.otel import Spans

            self._spans = await asyncio.to_thread(Spans, observe.otlp_endpoint, ratio=observe.sample_ratio)
            self.journal.sink = self._spans.write
        self._begin(self.journal.run(), "journal")
        self._begin(self.alarms.run(publish), "alarms")

    async def stop(self) -> None:
        """End that; what is left is written and sent."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks.clear()
        await self.journal.close()
        if self._spans is not None:
            await asyncio.to_thread(self._spans.close)
            self._spans = None

    def _begin(self, duty: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(duty, name=name)
        task.add_done_callback(_loud_end)
        self._tasks.append(task)

    def health(self, bus: Bus, backend: Backend, approvals: CountsWaiting, tickets: Rated | None = None) -> Health:
        """Return what the HTTP door asks."""
        return Health(
            backend,
            approvals,
            self.journal,
            self.metrics,
            stale_after_s=self._settings.bus.stale_after_s,
            clock=self._clock,
            paused_since=lambda: bus.paused_since,
            breakers=lambda: {agent: state.value for agent, state in bus.breakers().items()},
            tickets=tickets,
        )


def _loud_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.critical("%s broke down", task.get_name(), exc_info=task.exception())
