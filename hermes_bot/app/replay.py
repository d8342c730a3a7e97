"""Handles a message once more, apart from everything: a fresh bus in memory, a copy of the ticket, no effects.

Agents, routes and settings are those of today; tools may read, and what would write is refused; nothing is posted.
What came of it is compared with what came of the original.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path

from msgspec.structs import replace

from agents.texts import Texts
from hermes_bot.app.build import Clock, Stores, opened, secret
from hermes_bot.app.differences import Hop, differences, hops_of
from hermes_bot.app.front import Front, LibraryFront
from hermes_bot.app.health import Looks
from hermes_bot.app.hermes_app import HermesApp
from hermes_bot.app.live_routing import LiveRouting
from hermes_bot.app.local_workspace import in_workspace
from hermes_bot.app.sandbox import copy_tickets, team_of
from hermes_bot.app.vouched import TEAM
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Backend, Delivery, Handler, Wanted
from hermes_bot.edge.directory import SlackDirectory
from hermes_bot.edge.edge import TYPES
from hermes_bot.edge.slack_api import SlackApi, web_client
from hermes_bot.errors import HermesError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import EDGE
from hermes_bot.people import Directory
from hermes_bot.settings import Mode, Settings
from hermes_bot.settings.agent_limits import AgentSettings, RetryPolicy
from hermes_bot.settings.models import DataSettings, ObserveSettings, StoreSettings
from hermes_bot.settings.slack_access import BOT_TOKEN, variable_of
from hermes_bot.store.database import Database
from hermes_bot.workspace.server import WorkspaceServer

LIMIT_S = 120.0
MOST_DELIVERIES = 1_000


class Replayed:
    """What came of it: the hops of the replay, and in words what differs from the original."""

    def __init__(self, message: Message, hops: Sequence[Hop], found: Sequence[str]) -> None:
        self.message = message
        self.hops = hops
        self.differences = found


async def replay(
    message_id: str, *, chain: bool, settings: Settings, bus: Looks, store: Database, clock: Clock
) -> Replayed:
    """Return what comes of the message today; with `chain` also of all that follows from it.

    Raise HermesError where the bus no longer has the message.
    """
    before = await bus.find(wanted=Wanted(chain=message_id), limit=MOST_DELIVERIES)
    original = next((each.message for each in before if each.message.id == message_id), None)
    if original is None:
        raise HermesError(f"the bus no longer has {message_id}; hermes-bot trace {message_id} tells what is known")
    with tempfile.TemporaryDirectory(prefix="hermes-replay-") as folder:
        vouched = await team_of(store, original) == TEAM
        app = ReplayApp(_apart(settings, Path(folder)), store, original, vouched=vouched, clock=clock)
        try:
            await app.start()
            after = await app.handled()
        finally:
            await app.stop()
    hops = [hop for hop in hops_of(after) if chain or hop.message_id == message_id]
    return Replayed(original, hops, differences(before, after, only="" if chain else message_id))


def _apart(settings: Settings, folder: Path) -> Settings:
    """Return the settings of a bot that shares nothing but what it reads: routes, policies, the order book, caches."""
    settings.data.path.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):
        (folder / "cache").symlink_to(settings.data.path / "cache")
    agents: AgentSettings = settings.agents
    return settings.model_copy(
        update={
            "data": DataSettings(path=folder),
            "store": StoreSettings(),
            "orders": settings.orders.model_copy(update={"url": settings.orders_url}),
            "bus": settings.bus.model_copy(update={"backend": "memory"}),
            "observe": ObserveSettings(),
            "agents": agents.model_copy(update={"retry_policy": RetryPolicy(max_retries=0)}),
        }
    )


class ReplayApp(HermesApp):
    """The bot with a copy of the ticket, tools that only read, and nobody to post to."""

    def __init__(self, settings: Settings, store: Database, original: Message, *, vouched: bool, clock: Clock) -> None:
        """`vouched`: the message came from a program that runs Hermes as a library, not from Slack."""
        super().__init__(settings=settings, clock=clock)
        self._vouched = vouched
        self._store = store
        self._original = original
        self._backend: Backend | None = None

    async def handled(self) -> Sequence[Delivery]:
        """Publish the message and return all deliveries once everything is handled."""
        if self.bus is None or self._backend is None:
            raise HermesError("the replay is not started")
        await self.bus.publish(replace(self._original, replay=True, not_before=None))
        try:
            await self.bus.drain(LIMIT_S)
        except TimeoutError as error:
            raise HermesError(f"the replay did not end within {LIMIT_S:g} s") from error
        return await self._backend.find(limit=MOST_DELIVERIES)

    def _opened(self, settings: Settings) -> AbstractAsyncContextManager[Stores]:
        return self._copied(settings)

    @asynccontextmanager
    async def _copied(self, settings: Settings) -> AsyncIterator[Stores]:
        async with opened(settings, self._clock, effects=False) as stores:
            await copy_tickets(self._store, stores.database, self._original)
            yield stores

    async def _reachable(self) -> Settings:
        settings = self._settings
        if settings.mode is not Mode.WORKSPACE or self._vouched:
            return settings
        return in_workspace(settings, await self._parts.enter_async_context(WorkspaceServer(port=0)))

    def _build_front(
        self, settings: Settings, stores: Stores, bus: Bus, backend: Backend, texts: Texts, _routing: LiveRouting
    ) -> Front:
        self._backend = backend
        if self._vouched:
            return LibraryFront(stores.database, self._directory, self._clock)
        return ReplayFront(settings, stores.database, self._clock)


class ReplayFront(LibraryFront):
    """Looks people up in Slack and posts nothing there."""

    def __init__(self, settings: Settings, database: Database, clock: Clock) -> None:
        access = settings.access
        client = web_client(secret(access.bot_token), access.api_url)
        api = SlackApi(client, variable=variable_of(access, BOT_TOKEN))
        directory: Directory = SlackDirectory(api, clock=clock)
        super().__init__(database, directory, clock)
        self._api = api
        self.team = ""

    async def open(self) -> None:
        """Ask Slack which team this is."""
        self.team = str((await self._api.call("auth.test")).get("team_id"))

    def handlers(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return handlers in the edge's place that do nothing."""
        return {EDGE: dict.fromkeys(TYPES, _unposted)}


async def _unposted(_message: Message, _delivery: Delivery) -> Sequence[Message]:
    return []
