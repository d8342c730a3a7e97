"""What stands between the bus and people: Slack, or the program that runs Hermes as a library."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from agents.texts import Texts
from hermes_bot.app.build import Clock, Stores, secret
from hermes_bot.app.edge_parts import build_edge
from hermes_bot.app.outlet import Outlet
from hermes_bot.app.staff_notice import tell_staff
from hermes_bot.app.surface import SelfService
from hermes_bot.app.vouched import TEAM, VouchedPeople, completed, split_vouched
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Handler
from hermes_bot.edge.directory import SlackDirectory
from hermes_bot.edge.http_door import Probes
from hermes_bot.edge.pacing import Limits, Pacing
from hermes_bot.edge.slack_api import SlackApi, web_client
from hermes_bot.edge.surface import Surface
from hermes_bot.edge.thread_reader import SlackThreads, ThreadBounds
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import EDGE
from hermes_bot.people import Directory
from hermes_bot.settings import Settings
from hermes_bot.settings.slack_access import BOT_TOKEN, renewed, variable_of
from hermes_bot.store.database import Database
from hermes_bot.tickets.thread import ThreadReader


class Front(Protocol):
    """In order: `open`, then the bus is started, `listen`; at the end `stop_listening`, the bus stops, `close`."""

    @property
    def directory(self) -> Directory:
        """Who people are."""
        ...

    @property
    def team(self) -> str:
        """The team that our own people belong to; known after `open`."""
        ...

    @property
    def channel_ids(self) -> Mapping[str, str]:
        """The ids of the channels that `slack.channels` names, by these names; known after `open`."""
        ...

    @property
    def threads(self) -> ThreadReader | None:
        """What reads the thread that the bot is called into, if anything does; known after `open`."""
        ...

    def handlers(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return what takes messages out, by agent and type."""
        ...

    async def open(self) -> None:
        """Get ready; raise HermesError where that cannot be."""
        ...

    async def listen(self) -> None:
        """Let people in."""
        ...

    async def admitted(self, message: Message) -> Message:
        """Return a message from the caller as it goes onto the bus."""
        ...

    def replies(self) -> list[Message]:
        """Return the replies that the caller has to bring to people."""
        ...

    async def tell_staff(self, text: str, key: str) -> None:
        """Tell the people who run the bot, once for each key."""
        ...

    async def stop_listening(self) -> None:
        """Let nobody in any more."""
        ...

    async def close(self) -> None:
        """Let go of everything; also after an `open` that failed."""
        ...


class SlackFront:
    """Slack, through the edge."""

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        bus: Bus,
        probes: Probes,
        clock: Clock,
        texts: Texts,
        surface: Surface | None = None,
    ) -> None:
        self._bus = bus
        self._forgets = SelfService(settings, stores, texts, clock)
        self.team = ""
        slack, access = settings.slack, settings.access
        api = SlackApi(
            web_client(secret(access.bot_token), access.api_url, renew=lambda: renewed(access, BOT_TOKEN)),
            variable=variable_of(access, BOT_TOKEN),
            pacing=Pacing(Limits(**slack.rate_limits.model_dump())),
        )
        self.directory: Directory = SlackDirectory(api, clock=clock)
        self.threads: ThreadReader | None = None
        self._api, self._bounds = api, ThreadBounds(**slack.thread_context.model_dump())
        self._edge = build_edge(
            settings, stores, api, self.directory, bus, clock, texts=texts, probes=probes, surface=surface
        )

    @property
    def channel_ids(self) -> Mapping[str, str]:
        """What Slack calls the channels that the settings name."""
        return self._edge.channel_ids

    def handlers(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return the edge's handlers, and what forgets people who ask for it."""
        return {EDGE: self._edge.handlers(), **self._forgets.handlers()}

    async def open(self) -> None:
        """Connect."""
        bot = await self._edge.connect()
        self.team, self.threads = bot.team, SlackThreads(self._api, bot, self._bounds)

    async def listen(self) -> None:
        """Take events."""
        await self._edge.listen()

    async def admitted(self, message: Message) -> Message:
        """Return the message; nobody vouches for people whom Slack knows."""
        if split_vouched(message)[1]:
            raise PermanentError("with a Slack edge people are looked up in Slack; nobody can vouch for them")
        return message

    def replies(self) -> list[Message]:
        """Return nothing: the edge posts the replies."""
        return []

    async def tell_staff(self, text: str, key: str) -> None:
        """Post in the handoff channel."""
        await tell_staff(self._bus, self.team, self._edge.handoff_channel, text, key)

    async def stop_listening(self) -> None:
        """Take no more events."""
        await self._edge.stop_listening()

    async def close(self) -> None:
        """Disconnect."""
        await self._edge.stop()


class LibraryFront:
    """The caller's own program. Where no directory is given, the caller vouches for customers in their messages."""

    team = TEAM
    channel_ids: Mapping[str, str] = MappingProxyType({})
    threads: ThreadReader | None = None

    def __init__(self, database: Database, directory: Directory | None, clock: Clock) -> None:
        self._vouched = VouchedPeople(database, clock=clock) if directory is None else None
        self.directory: Directory = directory or VouchedPeople(database, clock=clock)
        self._outlet = Outlet()

    def handlers(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return the outlet's handlers."""
        return self._outlet.handlers()

    async def open(self) -> None:
        """Nothing to connect to."""

    async def listen(self) -> None:
        """Nobody to let in: the caller publishes."""

    async def admitted(self, message: Message) -> Message:
        """Return the message with what Slack would have said, after its user was vouched for."""
        bare, vouched = split_vouched(message)
        whole = completed(bare)
        if not vouched:
            return whole
        if self._vouched is None or "email" not in vouched or "user" not in whole.data:
            raise PermanentError("to vouch takes `customer_email` and `user` in the data, and no directory in the app")
        await self._vouched.vouch(str(whole.data["user"]), **vouched)
        return whole

    def replies(self) -> list[Message]:
        """Return what the outlet kept."""
        return self._outlet.take()

    async def tell_staff(self, text: str, key: str) -> None:
        """Nobody to tell; what there is to say stands in the log."""

    async def stop_listening(self) -> None:
        """Nobody to keep out."""

    async def close(self) -> None:
        """Nothing to let go of."""
