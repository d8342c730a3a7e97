from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

import pytest

from hermes_bot.cli.run import serve
from hermes_bot.errors import StoreError


class FakeService:
    """A service that notes what is asked of it and runs until `end` is called."""

    def __init__(self, *, refuses: Exception | None = None) -> None:
        self.calls: list[str] = []
        self.running = asyncio.Event()
        self._refuses = refuses
        self._ended = asyncio.Event()

    def end(self) -> None:
        self._ended.set()

    async def start(self) -> None:
        self.calls.append("start")
        if self._refuses is not None:
            raise self._refuses

    async def stop(self) -> None:
        self.calls.append("stop")

    async def run_until_stopped(self) -> None:
        self.calls.append("run")
        self.running.set()
        await self._ended.wait()


def note(service: FakeService) -> Callable[[], None]:
    return lambda: service.calls.append("announce")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_stops_it_gracefully(number: signal.Signals) -> None:
    service = FakeService()

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(serve(service, on_started=note(service)), name="serve")
        await service.running.wait()
        os.kill(os.getpid(), number)

    assert service.calls == ["start", "announce", "run", "stop"]


async def test_a_signal_stops_it_though_nobody_reads_its_output(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_more: object) -> None:
        raise BrokenPipeError

    service = FakeService()
    monkeypatch.setattr("typer.echo", broken)

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(serve(service, on_started=note(service)), name="serve")
        await service.running.wait()
        os.kill(os.getpid(), signal.SIGTERM)

    assert service.calls == ["start", "announce", "run", "stop"]


async def test_it_ends_when_the_service_does() -> None:
    service = FakeService()
    service.end()

    async with asyncio.timeout(60):
        await serve(service, on_started=note(service))

    assert service.calls == ["start", "announce", "run", "stop"]


async def test_a_start_that_fails_is_not_announced_is_cleaned_up_and_tells_why() -> None:
    service = FakeService(refuses=StoreError("no room"))

    with pytest.raises(StoreError, match="no room"):
        async with asyncio.timeout(60):
            await serve(service, on_started=note(service))

    assert service.calls == ["start", "stop"]


async def test_the_signals_are_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)
    service = FakeService()
    service.end()
    await serve(service, on_started=note(service))

    assert signal.getsignal(signal.SIGTERM) is before


async def test_after_the_first_signal_the_second_one_ends_the_process() -> None:
    service = FakeService()
    seen = []

    async def stop() -> None:
        seen.append(signal.getsignal(signal.SIGTERM))

    service.stop = stop  # type: ignore[method-assign]  # looks at the handlers in the middle of the stop

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(serve(service, on_started=note(service)), name="serve")
        await service.running.wait()
        os.kill(os.getpid(), signal.SIGTERM)

    assert seen == [signal.SIG_DFL]
