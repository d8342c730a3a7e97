"""The request URL of an app that is reached over HTTP: keeps what comes and answers as a test says."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web


class Receiver:
    """The app's request URL: keeps what comes and answers as the test says."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.answer: Callable[[bytes], web.Response] = lambda _body: web.Response()

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.requests.append((dict(request.headers), body))
        return self.answer(body)

    async def pass_on(self, request: web.Request) -> web.Response:
        left = int(request.match_info["left"])
        to = f"/redirect/{left - 1}" if left > 1 else "/slack/events"
        return web.Response(status=307, headers={"Location": to})

    def behind(self, redirects: int) -> str:
        """The address from which so many redirects lead here."""
        return self.url.replace("/slack/events", f"/redirect/{redirects}")


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    app = web.Application()
    app.router.add_post("/slack/events", receiver.take)
    app.router.add_post("/redirect/{left}", receiver.pass_on)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    try:
        yield receiver
    finally:
        await runner.cleanup()
