"""The local workspace as a server: Web API, Socket Mode, client API and page on one port of this machine."""

from __future__ import annotations

import errno
import random
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from hermes_bot.errors import SettingsError
from hermes_bot.workspace.ack_faults import AckFaults
from hermes_bot.workspace.client_api import ClientApi
from hermes_bot.workspace.clock import Clock, RealClock
from hermes_bot.workspace.couriers import Courier
from hermes_bot.workspace.faults import Faults
from hermes_bot.workspace.feed import Feed
from hermes_bot.workspace.file_routes import FileRoutes
from hermes_bot.workspace.http_delivery import HttpDelivery, RequestUrls
from hermes_bot.workspace.ids import Ids
from hermes_bot.workspace.origin import same_origin_only
from hermes_bot.workspace.people import App, World, demo_world
from hermes_bot.workspace.rate_limits import RateLimits
from hermes_bot.workspace.sockets import Sockets
from hermes_bot.workspace.state_file import StateKeeper, load_state
from hermes_bot.workspace.tokens import Tokens
from hermes_bot.workspace.web_api import MAX_BODY_BYTES, WebApi
from hermes_bot.workspace.workspace import Outside, Workspace


class WorkspaceServer:
    """`async with WorkspaceServer(port=0) as server:` serves until the block ends.

    With a `state_path` the conversations are kept there between runs. With an `events_url` the app is reached over
    signed HTTP there, otherwise over Socket Mode; more apps of the world are reached over Socket Mode, unless
    `request_urls` names theirs. Public parts: `workspace` (people act through it), `sockets`, `http` (None in Socket
    Mode), and the switches: `faults` of calls, `acks`, `tokens`, `limits`.
    """

    def __init__(
        self,
        *,
        world: World | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Clock | None = None,
        seed: int = 0,
        events_url: str = "",
        interactions_url: str = "",
        commands_url: str = "",
        request_urls: Mapping[str, RequestUrls] | None = None,
        state_path: Path | None = None,
    ) -> None:
        self.world = world or demo_world()
        self._host = host
        self._port = port
        clock = clock or RealClock()
        feed, ids = Feed(), Ids(clock)
        self.acks, self.faults, self.limits = AckFaults(), Faults(), RateLimits(clock)
        mine = {self.world.app.id: RequestUrls(events_url, interactions_url, commands_url)} if events_url else {}
        urls, apps = {**(request_urls or {}), **mine}, (self.world.app, *self.world.more_apps)
        self._sockets = {app.id: self._sockets_of(app, clock, ids, seed, feed) for app in apps}
        self._https = {
            app.id: HttpDelivery(app, clock, feed.wake, urls[app.id], faults=self.acks)
            for app in apps
            if app.id in urls
        }
        couriers: dict[str, Courier] = {**self._sockets, **self._https}
        outside = Outside(couriers=couriers, limits=self.limits, base_url=lambda: self.url, socket_url=self._socket_url)
        chance = random.Random(seed)  # noqa: S311 - names messages, keeps nothing secret
        self.workspace = Workspace(self.world, outside, clock=clock, ids=ids, feed=feed, chance=chance)
        self.tokens = Tokens(apps)
        self._web_api = WebApi(self.workspace, self.tokens, self.faults, self.limits)
        self._file_routes = FileRoutes(self.workspace, self.tokens)
        self._client_api = ClientApi(self.workspace)
        self._runner: web.AppRunner | None = None
        self._state_path = state_path
        self._keeper: StateKeeper | None = None

    @property
    def port(self) -> int:
        """The port that is served: the one that the system chose, when 0 was asked for."""
        return self._port

    @property
    def url(self) -> str:
        """The page's address, without a slash at its end."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    @property
    def api_url(self) -> str:
        """The Web API base, for `SLACK_API_URL` or a client's `base_url`."""
        return f"{self.url}/api/"

    @property
    def unsettled(self) -> int:
        """How many events their apps have neither acknowledged nor lost."""
        return self.workspace.couriers.unsettled()

    @property
    def sockets(self) -> Sockets:
        """The sockets of the first app."""
        return self.sockets_of(self.world.app)

    @property
    def http(self) -> HttpDelivery | None:
        """The way over HTTP to the first app, None in Socket Mode."""
        return self._https.get(self.world.app.id)

    def sockets_of(self, app: App) -> Sockets:
        """Return the sockets of one of several apps."""
        return self._sockets[app.id]

    async def start(self) -> None:
        """Listen; raise SettingsError when the address cannot be had or the state file cannot be used."""
        saved = load_state(self._state_path, self.world.app.team) if self._state_path is not None else None
        if self._state_path is not None:
            self.workspace.files.folder = self._state_path.with_suffix(".files")
        try:
            await self._listen()
            if saved is not None:
                self.workspace.restore(saved)
            if self._state_path is not None:
                self._keep_state(self._state_path)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Keep the state, end every socket and stop listening."""
        if self._keeper is not None:
            await self._keeper.close()
            self._keeper = None
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        for http in self._https.values():
            await http.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _listen(self) -> None:
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[same_origin_only(self._host)])
        app.add_routes([*self._web_api.routes(), *self._file_routes.routes(), *self._client_api.routes()])
        app.add_routes([web.get("/link/", self._link)])
        app.on_shutdown.append(self._end_sockets)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=2)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be had ({error.strerror})"
            raise SettingsError(
                f"port {self._port} on {self._host} {reason}; choose another with --workspace-port"
            ) from error
        self._port = self._runner.addresses[0][1]

    def _keep_state(self, path: Path) -> None:
        keeper = StateKeeper(path, self.workspace.saved)
        keeper.start()
        self.workspace.feed.watch(keeper.touch)
        self._keeper = keeper

    def _sockets_of(self, app: App, clock: Clock, ids: Ids, seed: int, feed: Feed) -> Sockets:
        return Sockets(app, clock, ids, random.Random(seed), feed.wake, self.acks)  # noqa: S311 - spreads the load only

    def _socket_url(self, app: App) -> str:
        ticket = self._sockets[app.id].ticket()
        return f"{self.url.replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id={app.id}"

    async def _link(self, request: web.Request) -> web.StreamResponse:
        sockets = self._sockets.get(request.query.get("app_id", ""), self.sockets)
        return await sockets.serve(request)

    async def _end_sockets(self, _app: web.Application) -> None:
        for sockets in self._sockets.values():
            sockets.close()
        await self._client_api.close()
