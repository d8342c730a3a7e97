"""Blocking work on many small items, in one thread, off the event loop: what comes together is done together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Batches(Generic[Item, Result]):
    """Calls `work` with up to `size` waiting items at a time and gives each caller its own result.

    It waits for nobody: an item that finds the thread idle goes alone, items that come meanwhile go as one batch.
    """

    def __init__(self, work: Callable[[Sequence[Item]], Sequence[Result]], *, size: int = 64, name: str) -> None:
        self._work = work
        self._size = size
        self._waiting: deque[tuple[Item, Future[Result]]] = deque()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def submit(self, item: Item) -> Result:
        """Return the result for one item; raises what `work` raised. Cancelling gives up the place in the queue."""
        answer: Future[Result] = Future()
        self._waiting.append((item, answer))
        self._thread.submit(self._take_batch)
        return await asyncio.wrap_future(answer)

    def close(self) -> None:
        """End the thread after what it has at hand; whatever still waits is cancelled."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        while self._waiting:
            self._waiting.popleft()[1].cancel()

    def _take_batch(self) -> None:
        """Do one batch. Every item submits one call, so calls that find nothing left return at once."""
        batch: list[tuple[Item, Future[Result]]] = []
        while self._waiting and len(batch) < self._size:
            item, answer = self._waiting.popleft()
            if answer.set_running_or_notify_cancel():
                batch.append((item, answer))
        if not batch:
            return
        try:
            results = self._work([item for item, _ in batch])
        except Exception as error:  # noqa: BLE001 - it belongs to the callers, who wait in other tasks
            for _, answer in batch:
                answer.set_exception(error)
            return
        for (_, answer), result in zip(batch, results, strict=True):
            answer.set_result(result)
