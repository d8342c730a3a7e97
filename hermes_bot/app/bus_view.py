"""The bus as commands see it, beside a bot that may be running: a file, or a backend that many processes share."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from hermes_bot.app.health import Looks
from hermes_bot.bus.erasure import Concerns, Erased
from hermes_bot.bus.inspect import BusFile
from hermes_bot.bus.port import ANY, Backend, Delivery, Orders, State, Wanted


@runtime_checkable
class Erases(Protocol):
    """A backend that outlives its processes, so that words have to be taken out of it."""

    async def erase(self, concerns: Concerns) -> Erased:
        """See `hermes_bot.bus.erasure`."""
        ...


class BusView(Looks, Protocol):
    """Looks, and the short changes that commands make. A running bot notices each within a second."""

    async def requeue(self, message_id: str, subscription: str) -> bool:
        """Put a dead letter back in its queue; return whether there was one."""
        ...

    async def drop(self, message_id: str, subscription: str) -> bool:
        """Turn a dead letter into cancelled; return whether there was one."""
        ...

    async def pause(self, *, paused: bool) -> None:
        """Keep that nothing may be handled, or that it may again."""
        ...

    async def paused_since(self) -> datetime | None:
        """Return since when the bus is paused, None when it is not."""
        ...

    async def cancel(self, context_id: str) -> int:
        """Cancel what is unfinished in the context; return how much that is. A running bot obeys within a second."""
        ...

    async def erase(self, concerns: Concerns) -> Erased:
        """Take the words out of what concerns and is finished; return how much, and how much is not finished."""
        ...


class FileView:
    """The view of a sqlite file."""

    def __init__(self, file: BusFile) -> None:
        self._file = file

    async def counts(self) -> Mapping[tuple[str, State], int]:
        """Return how many deliveries there are by (agent, state)."""
        return self._file.counts()

    async def oldest(self) -> Mapping[str, datetime]:
        """Return, by agent, since when the first delivery waits."""
        return self._file.oldest()

    async def find(
        self, *, states: Sequence[State] = (), message_id: str = "", wanted: Wanted = ANY, limit: int = 100
    ) -> Sequence[Delivery]:
        """Return matching deliveries, newest first."""
        return self._file.find(states=states, message_id=message_id, wanted=wanted, limit=limit)

    async def requeue(self, message_id: str, subscription: str) -> bool:
        """Put a dead letter back in its queue; return whether there was one."""
        return self._file.requeue(message_id, subscription)

    async def drop(self, message_id: str, subscription: str) -> bool:
        """Turn a dead letter into cancelled; return whether there was one."""
        return self._file.drop(message_id, subscription)

    async def pause(self, *, paused: bool) -> None:
        """Keep that nothing may be handled, or that it may again."""
        if paused:
            self._file.pause()
        else:
            self._file.resume()

    async def paused_since(self) -> datetime | None:
        """Return since when the bus is paused, None when it is not."""
        return self._file.paused_since()

    async def cancel(self, context_id: str) -> int:
        """Cancel what is unfinished in the context; return how much that is. A running bot obeys within a second."""
        return self._file.cancel(context_id)

    async def erase(self, concerns: Concerns) -> Erased:
        """Take the words out of what concerns and is finished; return how much, and how much is not finished."""
        return await asyncio.to_thread(self._file.erase, concerns)


class BackendView:
    """The view of a backend that many processes may open. It connects at its first use; nothing is leased."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._open = False
        self._orders = Orders()

    async def close(self) -> None:
        """Disconnect, if it ever connected."""
        if self._open:
            self._open = False
            await self._backend.close()

    async def counts(self) -> Mapping[tuple[str, State], int]:
        """Return how many deliveries there are by (agent, state)."""
        return await (await self._opened()).counts()

    async def oldest(self) -> Mapping[str, datetime]:
        """Return, by agent, since when the first delivery waits."""
        return await (await self._opened()).oldest()

    async def find(
        self, *, states: Sequence[State] = (), message_id: str = "", wanted: Wanted = ANY, limit: int = 100
    ) -> Sequence[Delivery]:
        """Return matching deliveries, newest first."""
        backend = await self._opened()
        return await backend.find(states=states, message_id=message_id, wanted=wanted, limit=limit)

    async def requeue(self, message_id: str, subscription: str) -> bool:
        """Put a dead letter back in its queue; return whether there was one."""
        return await (await self._opened()).requeue(message_id, subscription)

    async def drop(self, message_id: str, subscription: str) -> bool:
        """Turn a dead letter into cancelled; return whether there was one."""
        return await (await self._opened()).drop(message_id, subscription)

    async def pause(self, *, paused: bool) -> None:
        """Keep that nothing may be handled, or that it may again."""
        await (await self._opened()).pause(paused=paused)

    async def paused_since(self) -> datetime | None:
        """Return since when the bus was paused when this connected, None when it was not."""
        await self._opened()
        return self._orders.paused_since

    async def cancel(self, context_id: str) -> int:
        """Cancel what waits in the context; return how much that was. Running bots obey within a second."""
        return await (await self._opened()).cancel(context_id)

    async def erase(self, concerns: Concerns) -> Erased:
        """Take the words out of what concerns and is finished; return how much, and how much is not finished."""
        backend = await self._opened()
        return await backend.erase(concerns) if isinstance(backend, Erases) else Erased()

    async def _opened(self) -> Backend:
        if not self._open:
            await self._backend.open(self._obey)
            self._open = True
        return self._backend

    def _obey(self, orders: Orders) -> None:
        self._orders = orders
