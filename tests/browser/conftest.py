"""Fixtures of the browser tests: a headless Chromium, a workspace server, and seats in front of its page."""

import shutil
import time
from collections.abc import AsyncIterator, Callable
from urllib.parse import urlsplit

import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Page, Request, async_playwright, expect

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.server import WorkspaceServer
from tests.browser.seat import LIMIT_MS, Seats

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """The system's Chromium, started once for a file of tests."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert program, "these tests need Chromium: apt-get install chromium"
    expect.set_options(timeout=LIMIT_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, headless=True, args=FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="module")
async def server() -> AsyncIterator[WorkspaceServer]:
    """A local workspace with the demo's people, on the loop of the browser; its time stands still.

    So no acknowledgement is late and no trigger expires, however slow the machine is.
    """
    async with WorkspaceServer(port=0, clock=SettableClock(time.time())) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="module")
async def address(server: WorkspaceServer) -> str:
    """Where the page is; a file of tests that runs a workspace of its own puts that one's address here."""
    return server.url


@pytest_asyncio.fixture(loop_scope="module")
async def seats(browser: Browser, address: str) -> AsyncIterator[Seats]:
    """Open pages as people; at the end none of them may have logged an error or asked another server for anything."""
    wrongs: list[str] = []
    seats = Seats(browser, address, _watching(wrongs, urlsplit(address).netloc))
    yield seats
    await seats.close()
    assert wrongs == []


def _watching(wrongs: list[str], host: str) -> Callable[[Page], None]:
    def console(message: ConsoleMessage) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            wrongs.append(message.text)

    def request(request: Request) -> None:
        if urlsplit(request.url).netloc != host:
            wrongs.append(f"asked for {request.url}")

    def watch(page: Page) -> None:
        page.on("console", console)
        page.on("pageerror", lambda error: wrongs.append(str(error)))
        page.on("request", request)

    return watch
