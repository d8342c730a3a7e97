"""A person in front of the page: what a test sees and does in one browser window."""

from collections.abc import Callable
from typing import Literal

from playwright.async_api import Browser, BrowserContext, Locator, Page

LIMIT_MS = 20_000


class Seat:
    """One open page, with its stable handles by name."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def person(self, user: str) -> Locator:
        """The button of the switch that takes this person's seat."""
        return self.page.get_by_test_id(f"person-{user}")

    def channel(self, channel: str) -> Locator:
        """The entry of a conversation in the sidebar."""
        return self.page.get_by_test_id(f"channel-{channel}")

    def message(self, ts: str) -> Locator:
        """A message in the conversation."""
        return self.page.get_by_role("main").get_by_test_id(f"message-{ts}")

    @property
    def composer(self) -> Locator:
        """Where the conversation is written to."""
        return self.page.get_by_test_id("composer")

    @property
    def thread(self) -> Locator:
        """The thread pane."""
        return self.page.get_by_test_id("thread-pane")

    @property
    def modal(self) -> Locator:
        """The modal that an app opened."""
        return self.page.get_by_test_id("modal")

    async def say(self, text: str) -> None:
        """Write into the conversation and send with Enter."""
        await self.composer.fill(text)
        await self.composer.press("Enter")

    async def reply(self, text: str) -> None:
        """Write into the open thread and send with Enter."""
        composer = self.page.get_by_test_id("thread-composer")
        await composer.fill(text)
        await composer.press("Enter")


class Seats:
    """Opens seats, each in a browser context of its own, as if every person had their own computer."""

    def __init__(self, browser: Browser, url: str, watch: Callable[[Page], None]) -> None:
        self._browser = browser
        self._url = url
        self._watch = watch
        self._contexts: list[BrowserContext] = []

    async def window(
        self, *, width: int = 1280, height: int = 800, locale: str = "en-GB", scheme: Literal["light", "dark"] = "light"
    ) -> Page:
        """Return an empty page of a new context."""
        context = await self._browser.new_context(
            viewport={"width": width, "height": height}, locale=locale, color_scheme=scheme
        )
        context.set_default_timeout(LIMIT_MS)
        self._contexts.append(context)
        page = await context.new_page()
        self._watch(page)
        return page

    async def take(self, *place: str, width: int = 1280, locale: str = "en-GB") -> Seat:
        """Return a seat at `user`, `channel`, `thread_ts`, as many of them as are given, once its messages are read."""
        page = await self.window(width=width, locale=locale)
        await self.visit(page, *place)
        return Seat(page)

    async def visit(self, page: Page, *place: str) -> None:
        """Open the workspace at a place and wait until the conversation was read."""
        await page.goto(f"{self._url}/#{'/'.join(place)}")
        await page.locator(".conversation .list[aria-busy=false]").wait_for()

    async def close(self) -> None:
        """Close every window."""
        for context in self._contexts:
            await context.close()
