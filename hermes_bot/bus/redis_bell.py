"""Hears that there is work: the one channel of this process, on which the scripts ring.

A ring may be lost, with the connection; whoever uses this looks for itself now and then as well.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import NoReturn

from redis import exceptions
from redis.asyncio.connection import AbstractConnection

from hermes_bot.bus.redis_link import FIRST_PAUSE_S, LONGEST_PAUSE_S, UNREACHABLE, Address, connect

SILENCE_S = 30.0  # after this the connection is tried with a PING

logger = logging.getLogger(__name__)


class Bell:
    """Calls `on_ring(agent)` for each ring, `on_orders()` for news to all, `on_open()` when it begins to listen."""

    def __init__(
        self,
        address: Address,
        consumer: str,
        *,
        sleep: Callable[[float], Awaitable[None]],
        on_ring: Callable[[str], None],
        on_orders: Callable[[], None],
        on_open: Callable[[], None],
    ) -> None:
        self._address = address
        self._orders = f"{address.key}:orders"
        self._channel = f"{address.key}:bell:{consumer}"
        self._sleep = sleep
        self._on_ring = on_ring
        self._on_orders = on_orders
        self._on_open = on_open
        self._pause_s = FIRST_PAUSE_S

    async def run(self) -> NoReturn:
        """Listen until cancelled; connect again, ever slower, while redis is away."""
        while True:
            connection = self._address.connection()
            try:
                await self._listen(connection)
            except (*UNREACHABLE, exceptions.RedisError) as error:
                logger.info("the bell of the bus is off", extra={"error": str(error), "wait_s": self._pause_s})
            finally:
                await connection.disconnect(nowait=True)
            await self._sleep(self._pause_s)
            self._pause_s = min(self._pause_s * 2, LONGEST_PAUSE_S)

    async def _listen(self, connection: AbstractConnection) -> NoReturn:
        await connect(connection)
        await connection.send_command("SUBSCRIBE", self._channel, self._orders)
        await connection.read_response(timeout=SILENCE_S)
        self._pause_s = FIRST_PAUSE_S
        self._on_open()
        while True:
            heard = await connection.read_response(timeout=SILENCE_S)
            if heard is None:
                await connection.send_command("PING", check_health=False)
                heard = await connection.read_response(timeout=SILENCE_S)
                if heard is None:
                    raise exceptions.ConnectionError("no answer to a PING")
            kind, channel, data = (*heard, None)[:3]
            if kind != b"message":
                continue
            if channel == self._orders.encode():
                self._on_orders()
            else:
                self._on_ring(data.decode())
