"""The local workspace as a server: Web API, Socket Mode, client API and page on one port of this machine."""

from __future__ import annotations

import errno
import random
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from hermes_bot.errors import SettingsError
from hermes_bot.workspace.client_api import ClientApi
from hermes_bot.workspace.clock import Clock, RealClock
from hermes_bot.workspace.faults import Faults
from hermes_bot.workspace.feed import Feed
from hermes_bot.workspace.http_delivery import HttpDelivery
from hermes_bot.workspace.ids import Ids
from hermes_bot.workspace.origin import same_origin_only
from hermes_bot.workspace.people import World, demo_world
from hermes_bot.workspace.sockets import Sockets
from hermes_bot.workspace.state_file import StateKeeper, load_state
from hermes_bot.workspace.tokens import Tokens
from hermes_bot.workspace.web_api import MAX_BODY_BYTES, WebApi
from hermes_bot.workspace.workspace import Outside, Workspace


class WorkspaceServer:
    """`async with WorkspaceServer(port=0) as server:` serves until the block ends.

    With a `state_path` the conversations are kept there between runs. With an `events_url` the app is reached over
    signed HTTP there, otherwise over Socket Mode. Public parts: `workspace` (people act through it), `sockets`, `http`
    (None in Socket Mode), `faults`, `tokens`.
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
        state_path: Path | None = None,
    ) -> None:
        self.world = world or demo_world()
        self._host = host
        self._port = port
        clock = clock or RealClock()
        feed, ids, app = Feed(), Ids(clock), self.world.app
        self.sockets = Sockets(app, clock, ids, random.Random(seed), feed.wake)  # noqa: S311 - spreads the load only
        self.http = (
            HttpDelivery(app, clock, feed.wake, events_url=events_url, interactions_url=interactions_url)
            if events_url
            else None
        )
        outside = Outside(
            courier=self.http or self.sockets, base_url=lambda: self.url, socket_url=lambda: self._socket_url()
        )
        chance = random.Random(seed)  # noqa: S311 - names messages, keeps nothing secret
        self.workspace = Workspace(self.world, outside, clock=clock, ids=ids, feed=feed, chance=chance)
        self.faults = Faults()
        self.tokens = Tokens(app)
        self._web_api = WebApi(self.workspace, self.tokens, self.faults)
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
        """How many events the app has neither acknowledged nor lost."""
        return self.http.unsettled() if self.http is not None else self.sockets.deliveries.unsettled()

    async def start(self) -> None:
        """Listen; raise SettingsError when the address cannot be had or the state file cannot be used."""
        saved = load_state(self._state_path, self.world.app.team) if self._state_path is not None else None
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
        if self.http is not None:
            await self.http.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _listen(self) -> None:
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[same_origin_only(self._host)])
        app.add_routes([*self._web_api.routes(), *self._client_api.routes(), web.get("/link/", self.sockets.serve)])
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

    def _socket_url(self) -> str:
        return f"{self.url.replace('http', 'ws', 1)}/link/?ticket={self.sockets.ticket()}&app_id={self.world.app.id}"

    async def _end_sockets(self, _app: web.Application) -> None:
        self.sockets.close()
        await self._client_api.close()
