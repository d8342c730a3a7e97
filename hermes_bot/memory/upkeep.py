"""Keeps the index beside SQL: loads or builds it, follows what other processes write, encodes what has no vector."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import monotonic

from hermes_bot.errors import HermesError, StoreError
from hermes_bot.memory import fact_rows
from hermes_bot.memory.index import FactIndex
from hermes_bot.store.database import Database
from routing.choice import Encoder

POLL_S = 0.5
SAVE_EVERY_S = 60.0
AT_ONCE = 1_000
ENCODED_AT_ONCE = 64

log = logging.getLogger(__name__)


class Upkeep:
    """The background work on an index. `run` until cancelled; `refresh` is one round of it."""

    def __init__(
        self,
        database: Database,
        index: FactIndex,
        encoder: Encoder,
        *,
        poll_s: float = POLL_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._database = database
        self._index = index
        self._encoder = encoder
        self._poll_s = poll_s
        self._sleep = sleep
        self._loaded = False
        self._unencoded = True
        self._save_after = 0.0

    async def run(self) -> None:
        """Refresh until cancelled; what fails is logged and tried again. Nothing else waits for this."""
        while True:
            try:
                await self.refresh()
            except HermesError as error:
                log.warning("the index of the memory is late", extra={"error": str(error)})
            await self._sleep(self._poll_s)

    async def close(self) -> None:
        """Write the file, so that the next start has nothing to build."""
        if self._loaded and self._index.unsaved:
            await self._save()

    async def refresh(self) -> None:
        """Bring the index up to date with SQL; raise TransientError or StoreError where that cannot be."""
        if not self._loaded:
            await asyncio.to_thread(self._index.load)
            self._loaded = True
            if await self._database.run(fact_rows.version_of) < self._index.version:
                self._index.clear()  # the database was put back to an older day
        forgotten = await self._follow()
        if self._unencoded:
            await self._encode_missing()
            forgotten = await self._follow() or forgotten
        if forgotten or (self._index.unsaved and monotonic() >= self._save_after):
            await self._save()
            self._save_after = monotonic() + (SAVE_EVERY_S if len(self._index) else 0.0)

    async def _follow(self) -> bool:
        """Apply what changed; return whether something left for good, which must leave the file too."""
        left = False
        while True:
            since = self._index.version
            changes = await self._database.run(
                lambda connection, since=since: fact_rows.changes(connection, since, self._encoder.name, AT_ONCE)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
            )
            if changes.version == since:
                return left
            self._unencoded = True
            left = left or bool(changes.forgotten)
            await asyncio.to_thread(self._index.apply, changes)

    async def _encode_missing(self) -> None:
        """Encode facts that were written while the encoder was away, or by another encoder."""
        name = self._encoder.name
        while True:
            todo = await self._database.run(lambda connection: fact_rows.not_encoded(connection, name, ENCODED_AT_ONCE))
            if not todo:
                self._unencoded = False
                return
            numbers, texts = [number for number, _ in todo], [text for _, text in todo]
            rows = await asyncio.to_thread(self._encoder.encode, texts)
            await self._database.run(
                lambda connection, numbers=numbers, rows=rows: fact_rows.encoded_later(connection, numbers, rows, name)  # type: ignore[misc]  # as above
            )

    async def _save(self) -> None:
        try:
            await asyncio.to_thread(self._index.save)
        except StoreError as error:
            log.warning("the index of the memory is not kept", extra={"error": str(error)})
