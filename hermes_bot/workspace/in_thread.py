"""A workspace in a thread of its own, for tests and scripts that are not asynchronous."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeVar

from hermes_bot.workspace.people import App
from hermes_bot.workspace.server import WorkspaceServer
from hermes_bot.workspace.workspace import Workspace

T = TypeVar("T")
LIMIT_S = 30.0


class WorkspaceInThread:
    """`with WorkspaceInThread(lambda: WorkspaceServer()) as slack:` serves until the block ends.

    `act` lets people do something, `look` reads, `wait_for` waits for a state; each runs on the workspace's own loop.
    """

    def __init__(self, make: Callable[[], WorkspaceServer] = WorkspaceServer) -> None:
        self._make = make
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="workspace", daemon=True)
        self._server: WorkspaceServer | None = None

    @property
    def server(self) -> WorkspaceServer:
        """The server, with its switches: faults, acks, tokens, limits, sockets."""
        assert self._server is not None, "the workspace runs inside its `with` block only"  # noqa: S101 - wrong use
        return self._server

    @property
    def url(self) -> str:
        """The page's address."""
        return self.server.url

    @property
    def api_url(self) -> str:
        """The Web API base, for a client's `base_url`."""
        return self.server.api_url

    @property
    def app(self) -> App:
        """The first app, with its ids and tokens."""
        return self.server.world.app

    def act(self, deed: Callable[[Workspace], Awaitable[T]]) -> T:
        """Return what comes of it when a person acts: `slack.act(lambda w: w.post("U0EMMA", "C0SUPPORT", "hello"))`."""
        return self._run(lambda: deed(self.server.workspace))

    def look(self, read: Callable[[Workspace], T]) -> T:
        """Return what there is to see: `slack.look(lambda w: w.messages("C0SUPPORT"))`."""

        async def looking() -> T:
            return read(self.server.workspace)

        return self._run(looking)

    def wait_for(self, is_so: Callable[[Workspace], object], limit_s: float = 30.0) -> None:
        """Return once it is so; TimeoutError at the limit."""
        self._run(lambda: self.server.workspace.wait_for(lambda: is_so(self.server.workspace), limit_s), limit_s + 1)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._run(self._start)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._run(self.server.close)
        finally:
            self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(LIMIT_S)
        self._loop.close()

    async def _start(self) -> None:
        server = self._make()
        await server.start()
        self._server = server

    def _run(self, work: Callable[[], Awaitable[T]], limit_s: float = LIMIT_S) -> T:
        async def on_the_loop() -> T:
            return await work()

        return asyncio.run_coroutine_threadsafe(on_the_loop(), self._loop).result(limit_s)
