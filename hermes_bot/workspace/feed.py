"""What happens in the workspace, told to those who look on: the page's live sockets and waiting tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from hermes_bot.workspace.posts import Json, Post


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something that a page shows. `only_for` names the one person who may see it; empty: the channel's members.

    `channel` and `data` belong to what is neither a message nor a view: a "status" or "prompts" of a conversation.
    """

    kind: str
    post: Post | None = None
    channel: str = ""
    data: Json = field(default_factory=dict)
    view: Json = field(default_factory=dict)
    only_for: str = ""


class Feed:
    """Tells listeners of each change, in order, and wakes those who wait for a state."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Change], None]] = []
        self._waiters: list[asyncio.Future[None]] = []
        self._watchers: list[Callable[[], None]] = []

    def listen(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call `listener` at each change; return the function that ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def watch(self, watcher: Callable[[], None]) -> None:
        """Call `watcher` whenever anything moved, whether a page shows it or not."""
        self._watchers.append(watcher)

    def publish(self, change: Change) -> None:
        """Tell everybody of the change."""
        for listener in list(self._listeners):
            listener(change)
        self.wake()

    def wake(self) -> None:
        """Let those who wait look again: something moved that no page shows (an ack, a socket)."""
        for watcher in self._watchers:
            watcher()
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def wait_for(self, predicate: Callable[[], object], limit_s: float = 30.0) -> None:
        """Return once `predicate()` is true; raise TimeoutError after `limit_s` real seconds."""
        async with asyncio.timeout(limit_s):
            while not predicate():
                waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._waiters.append(waiter)
                await waiter
