"""`/readyz` and `/metrics` over real HTTP, with what lies behind the edge played by the test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from hermes_bot.edge.http_door import HttpDoor, Probes
from hermes_bot.errors import StoreError
from hermes_bot.messages.message import utc_now


class Behind:
    """What lies behind the edge."""

    def __init__(self) -> None:
        self.told = ""
        self.broken = False
        self.is_paused = False

    async def trouble(self) -> str:
        if self.broken:
            raise StoreError("bus database x: disk I/O error")
        return self.told

    async def metrics(self) -> tuple[bytes, str]:
        if self.broken:
            raise StoreError("bus database x: disk I/O error")
        return b"hermes_paused 0\n", "text/plain; version=1.0.0; charset=utf-8"

    def paused(self) -> bool:
        return self.is_paused


@asynccontextmanager
async def opened(behind: Behind | None, *, ready: bool = True) -> AsyncIterator[aiohttp.ClientSession]:
    probes = Probes(trouble=behind.trouble, metrics=behind.metrics, paused=behind.paused) if behind else None
    door = HttpDoor(
        host="127.0.0.1", port=0, ready=lambda: (ready, "" if ready else "no socket"), clock=utc_now, probes=probes
    )
    await door.open()
    try:
        async with aiohttp.ClientSession(door.url) as session:
            yield session
    finally:
        await door.close()


async def readyz(session: aiohttp.ClientSession) -> tuple[int, dict[str, object]]:
    async with session.get("/readyz") as answer:
        return answer.status, await answer.json()


async def test_all_well_is_200_and_says_that_nothing_is_paused() -> None:
    async with opened(Behind()) as session:
        assert await readyz(session) == (200, {"ok": True, "reason": "", "paused": False})


async def test_a_stuck_message_is_503_and_named() -> None:
    behind = Behind()
    behind.told = "without an end for more than 600 s: MSG-1 for entry (queued)"
    async with opened(behind) as session:
        assert await readyz(session) == (503, {"ok": False, "reason": behind.told, "paused": False})


async def test_a_pause_is_told_and_stays_200_because_events_must_still_come_in() -> None:
    behind = Behind()
    behind.is_paused = True
    async with opened(behind) as session:
        assert await readyz(session) == (200, {"ok": True, "reason": "", "paused": True})


async def test_what_slack_lacks_comes_first() -> None:
    async with opened(Behind(), ready=False) as session:
        status, told = await readyz(session)
    assert (status, told["reason"]) == (503, "no socket")


async def test_a_bus_that_cannot_be_read_is_not_ready_and_has_no_metrics() -> None:
    behind = Behind()
    behind.broken = True
    async with opened(behind) as session:
        status, told = await readyz(session)
        async with session.get("/metrics") as answer:
            assert answer.status == 503
    assert (status, told["reason"]) == (503, "bus database x: disk I/O error")


async def test_metrics_come_with_their_content_type() -> None:
    async with opened(Behind()) as session, session.get("/metrics") as answer:
        assert await answer.read() == b"hermes_paused 0\n"
        assert answer.headers["Content-Type"] == "text/plain; version=1.0.0; charset=utf-8"


async def test_without_anything_behind_there_are_no_metrics() -> None:
    async with opened(None) as session:
        assert await readyz(session) == (200, {"ok": True, "reason": ""})
        async with session.get("/metrics") as answer:
            assert answer.status == 404
