"""The router that is in use, which may be replaced at any moment while texts are being routed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from routing.choice import RouteChoice
from routing.route import Route
from routing.router import Router


class LiveRouter:
    """Asks the newest router. A text that was handed to an older one is finished there, then that one is closed."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._asked: Counter[Router] = Counter()

    @property
    def routes(self) -> tuple[Route, ...]:
        """The routes that take part now."""
        return self._router.routes

    async def choose(self, text: str) -> RouteChoice:
        """Return who gets the text."""
        return await self._ask(self._router, self._router.choose, text)

    async def explain(self, text: str) -> RouteChoice:
        """Return the same choice with scores and neighbours."""
        return await self._ask(self._router, self._router.explain, text)

    def swap(self, router: Router) -> None:
        """Use this router from now on."""
        old, self._router = self._router, router
        self._let_go(old)

    def close(self) -> None:
        """Close every router, whatever still waits."""
        for router in {self._router, *self._asked}:
            router.close()

    async def _ask(self, router: Router, ask: Callable[[str], Awaitable[RouteChoice]], text: str) -> RouteChoice:
        self._asked[router] += 1
        try:
            return await ask(text)
        finally:
            self._asked[router] -= 1
            self._let_go(router)

    def _let_go(self, router: Router) -> None:
        if self._asked[router] <= 0:
            del self._asked[router]
            if router is not self._router:  # in a thread: closing waits for what its thread has at hand
                asyncio.get_running_loop().run_in_executor(None, router.close)
