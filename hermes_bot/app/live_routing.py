"""The route table in use: its router, its bindings on the bus, and how both are replaced while the bot runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from typing import Protocol

from hermes_bot.app.binding import Binding
from hermes_bot.app.build import Clock, build_encoder, build_router
from hermes_bot.app.reload import Reload, Tell
from hermes_bot.errors import SettingsError
from hermes_bot.llm.shared_encoder import SharedEncoder
from hermes_bot.messages.payloads import TICKET_HANDOFF, TICKET_UNKNOWN
from hermes_bot.settings import Settings
from routing.choice import Encoder, RouteChoice
from routing.explanation import explain_text
from routing.live import LiveRouter
from routing.route import Route
from routing.router import Router
from routing.routes_file import RouteTable, read_table
from routing.vectors import Progress, unheard
from routing.watch import FileWatch, digest_of

ALWAYS_BOUND = {TICKET_UNKNOWN: Binding.to("unknown"), TICKET_HANDOFF: Binding.to("handoff")}
"""Small talk is answered and people are brought in whatever the routes say."""


Record = Callable[[bytes, bytes], Awaitable[None]]
"""Hears what the file held before and what it holds now."""


PARTING_S = 5.0  # how long a type that is gone stays bound, for those who chose it right before


class Bindings(Protocol):
    """Binds types to agents."""

    def bind(self, wanted: Mapping[str, Binding]) -> None:
        """Bind each type to its agents, and no other type."""
        ...


class LiveRouting:
    """Routes texts by the newest good version of the file. `open` first; `follow` once the bus takes bindings."""

    def __init__(
        self,
        settings: Settings,
        agents: Collection[str],
        capabilities: Mapping[str, Mapping[str, float]] | None = None,
        *,
        progress: Progress = unheard,
    ) -> None:
        """Take the agents' names, and for each capability who has it, with how well it fits (0..1).

        `progress` hears of the examples that `open` has to encode.
        """
        self._settings = settings
        self._agents = agents
        self._capabilities = capabilities or {}
        self._progress = progress
        self._encoder: Encoder | None = None
        self._live: LiveRouter | None = None
        self._content = b""
        self._types: dict[str, Binding] = {}
        self._leaving: dict[str, Binding] = {}
        self._parting: asyncio.Task[None] | None = None
        self._bindings: Bindings | None = None
        self._record: Record | None = None
        self._watching: asyncio.Task[None] | None = None

    @property
    def routes(self) -> tuple[Route, ...]:
        """The routes that take part now."""
        return self._router.routes

    @property
    def encoder(self) -> Encoder:
        """The encoder that all versions of the file share."""
        if self._encoder is None:
            raise RuntimeError("open first")
        return self._encoder

    async def choose(self, text: str) -> RouteChoice:
        """Return who gets the text."""
        return await self._router.choose(text)

    async def explain(self, text: str) -> str:
        """Return in words who gets the text, and why."""
        return explain_text(await self._router.explain(text))

    def agent_of(self, type_: str) -> str:
        """Return the agent that gets this type (of several, the first), empty where none does."""
        binding = self._types.get(type_)
        return next(iter(binding.agents), "") if binding is not None else ""

    def include_of(self, type_: str) -> frozenset[str] | None:
        """Return what its route shows of a message and the blackboard; None is everything."""
        binding = self._types.get(type_)
        return binding.include if binding is not None else None

    def type_of(self, route: str) -> str:
        """Return the type that the route emits, empty where there is no such route."""
        return next((each.type for each in self.routes if each.name == route), "")

    async def open(self) -> None:
        """Read the file and build its router; raise SettingsError for a bad one: there is no older one to keep."""
        file = self._settings.routing.file
        try:
            content = await asyncio.to_thread(file.read_bytes)
        except OSError as error:
            raise SettingsError(f"cannot be read: {error.strerror}", file=str(file)) from error
        table, router = await asyncio.to_thread(self._built, content, self._progress)
        self._live = LiveRouter(router)
        self._content, self._types = content, types_of(table, self._capabilities)

    def bind(self, bindings: Bindings) -> None:
        """Bind the table's types, now and after each change."""
        self._bindings = bindings
        bindings.bind(self._types)

    def follow(self, tell: Tell, record: Record, clock: Clock) -> None:
        """Watch the file until `close`; `record` hears of each change that took effect."""
        file, digest = self._settings.routing.file, digest_of(self._content)
        self._record = record
        watch = FileWatch(file, clock=clock, seen=digest)
        reload = Reload(file, watch.poll, self.apply, tell, digest=digest, clock=clock)
        self._watching = asyncio.create_task(reload.run(), name="routes-file")

    async def apply(self, content: bytes) -> None:
        """Let this content of the file take effect; raise SettingsError, with nothing changed, for a bad one."""
        table, router = await asyncio.to_thread(self._built, content)
        types = types_of(table, self._capabilities)
        self._leaving |= self._types
        if self._bindings is not None:
            self._bindings.bind(self._leaving | types)
        self._router.swap(router)
        self._types = types
        self._let_go_later()
        before, self._content = self._content, content
        if self._record is not None:
            await self._record(before, content)

    def built(self, content: bytes) -> Router:
        """Return the router that a file with this content would make, not in use; raise SettingsError. Blocks."""
        return self._built(content)[1]

    def _let_go_later(self) -> None:
        """Unbind the types that are gone once whoever chose one of them is through with its message."""
        if self._parting is not None:
            self._parting.cancel()
        self._parting = asyncio.create_task(self._let_go(), name="routes-parting")

    async def _let_go(self) -> None:
        await asyncio.sleep(PARTING_S)
        self._leaving = {}
        if self._bindings is not None:
            self._bindings.bind(self._types)

    async def close(self) -> None:
        """Stop watching and routing."""
        for task in filter(None, (self._watching, self._parting)):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        if self._live is not None:
            self._live.close()

    @property
    def _router(self) -> LiveRouter:
        if self._live is None:
            raise RuntimeError("open first")
        return self._live

    def _built(self, content: bytes, progress: Progress = unheard) -> tuple[RouteTable, Router]:
        table = read_table(content, file=str(self._settings.routing.file))
        check_agents(table, self._agents, self._capabilities, file=str(self._settings.routing.file))
        if self._encoder is None:
            self._encoder = SharedEncoder(build_encoder(self._settings))
        return table, build_router(self._settings, table, self._encoder, progress)


def types_of(table: RouteTable, capabilities: Mapping[str, Mapping[str, float]]) -> dict[str, Binding]:
    """Return each type that is bound, with who gets it."""
    return ALWAYS_BOUND | {route.type: _binding(route, capabilities) for route in table.routes if route.enabled}


def _binding(route: Route, capabilities: Mapping[str, Mapping[str, float]]) -> Binding:
    include = None if route.projection is None else frozenset(route.projection.include)
    agents = capabilities[route.capability] if route.capability else {route.agent: 1.0}
    return Binding(agents=agents, capability=route.capability, include=include)


def check_agents(
    table: RouteTable, agents: Collection[str], capabilities: Mapping[str, Mapping[str, float]], *, file: str
) -> None:
    """Raise SettingsError for an enabled route whose agent or capability does not exist."""
    for route in (route for route in table.routes if route.enabled):
        kind, name, known = ("agent", route.agent, sorted(agents))
        if route.capability:
            kind, name, known = ("capability", route.capability, sorted(capabilities))
        if name not in known:
            told = ", ".join(known)
            raise SettingsError(f"route {route.name!r}: there is no {kind} {name!r}; known are {told}", file=file)
