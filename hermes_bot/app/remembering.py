"""The memory of a running bot: built with the shared encoder, kept up to date beside the work."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Self

from hermes_bot.app.build import Clock, Stores
from hermes_bot.memory.board import Board
from hermes_bot.memory.endings import Endings
from hermes_bot.memory.knowledge import Knowledge
from hermes_bot.memory.memories import Memories
from hermes_bot.memory.memory import Memory
from hermes_bot.memory.retractions import Retractions
from hermes_bot.memory.upkeep import Upkeep
from hermes_bot.memory.working import WorkingMemory
from hermes_bot.settings import Settings
from routing.choice import Encoder

INDEX = "memory/facts.faiss"
KNOWLEDGE_CACHE = "cache/knowledge"


class Remembering:
    """Holds the `memories` that desks are handed. As a context it does the work in the background while it is open."""

    def __init__(self, settings: Settings, stores: Stores, encoder: Encoder, clock: Clock) -> None:
        database, data = stores.database, settings.data.path
        wanted = settings.memory
        memory = Memory(database, encoder, clock=clock, index_path=data / INDEX, k=wanted.k, enabled=wanted.enabled)
        self.memories = Memories(
            long_term=memory,
            board=Board(database, clock=clock),
            working=WorkingMemory(database, memory, clock=clock),
            knowledge=Knowledge(wanted.knowledge, encoder, cache_folder=data / KNOWLEDGE_CACHE),
        )
        self.endings = Endings(database, memory)
        self._retractions = Retractions(database, clock=clock)
        self._upkeep = Upkeep(database, memory.index, encoder)
        self._enabled = wanted.enabled
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        """Begin to follow what is kept and what is taken back, and to sum up tickets that ended."""
        self._tasks.append(asyncio.create_task(self._upkeep.run(), name="memory-index"))
        if self._enabled:
            self._tasks.append(asyncio.create_task(self.endings.run(), name="memory-endings"))
            self._tasks.append(asyncio.create_task(self._retractions.run(), name="memory-retractions"))
        return self

    async def __aexit__(self, *_failure: object) -> None:
        """End that, and write the index."""
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        if self._tasks:
            await self._upkeep.close()
        self._tasks.clear()
