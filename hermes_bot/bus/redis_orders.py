"""What every process of a redis bus is told: a pause, contexts that were cancelled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from hermes_bot.bus.port import Obey, Orders, ignore_orders
from hermes_bot.bus.redis_link import Operation


class OrdersBook:
    """Reads the orders on from where it stopped, and tells `obey` what is new."""

    def __init__(self, call: Callable[[Operation], Awaitable[Any]]) -> None:
        self._call = call
        self._obey: Obey = ignore_orders
        self._last = ""
        self._paused_since: datetime | None = None

    async def open(self, obey: Obey) -> None:
        """Begin: say whether there is a pause. Earlier cancellations are done already."""
        self._obey = obey
        self._last = ""
        await self.read(always=True)

    async def read(self, *, always: bool = False) -> None:
        """Tell what is new, if anything is."""
        paused, last, cancelled = await self._call(["orders", self._last])
        paused_since = datetime.fromtimestamp(float(paused), UTC) if paused else None
        told_before = last.decode() == self._last  # two readers at once: the later one finds nothing new
        if always or paused_since != self._paused_since or (cancelled and not told_before):
            self._paused_since = paused_since
            times = {context.decode(): datetime.fromtimestamp(float(at), UTC) for context, at in cancelled}
            self._obey(Orders(paused_since=paused_since, cancelled=times))
        self._last = last.decode()
