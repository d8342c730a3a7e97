"""What commands about routes work with, beside a bot that may be running: the file, its routers, its corrections."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.desk import Agent
from agents.texts import load_texts
from hermes_bot.app.bindings import agents_of, capabilities_of
from hermes_bot.app.build import Stores, build_encoder, build_router
from hermes_bot.app.planners import Planners
from hermes_bot.app.route_effect import corrections_of
from hermes_bot.settings import Settings
from hermes_bot.settings.files import beside
from hermes_bot.triage.corrections import Corrections
from hermes_bot.triage.proposals import Proposals
from routing.choice import Encoder, RouteChoice
from routing.router import Router
from routing.routes_file import RouteTable, load_table, read_table
from routing.vectors import VectorCache


class RoutesBench:
    """Reads the routes file; loads the encoder when it is first needed."""

    def __init__(self, settings: Settings, stores: Stores, closing: AsyncExitStack) -> None:
        self._settings = settings
        self._stores = stores
        self._closing = closing

    @property
    def file(self) -> Path:
        """The routes file that the settings name."""
        return self._settings.routing.file

    @property
    def proposals(self) -> Proposals:
        """What was suggested, and what was changed."""
        return self._stores.proposals

    @cached_property
    def corrections(self) -> Corrections:
        """Suggests, accepts, declines. From here nobody is looked up in Slack: names are taken out by cues alone."""
        return corrections_of(self._settings, self._stores, None, self)

    @cached_property
    def agents(self) -> Collection[str]:
        """The names of the agents that there are."""
        return tuple(self._agents)

    @cached_property
    def capabilities(self) -> Collection[str]:
        """What agents say that they can do."""
        return tuple(capabilities_of(self._agents))

    def table(self, file: Path | None = None) -> RouteTable:
        """Return what a routes file says, the settings' own where none is given; raise SettingsError."""
        return load_table(file or self.file)

    def router(self, table: RouteTable) -> Router:
        """Return a router; encodes what its cache does not know."""
        router = build_router(self._settings, table, self._encoder)
        self._closing.callback(router.close)
        return router

    def built(self, content: bytes) -> Router:
        """Return the router that the file with this content would make; raise SettingsError. Blocks."""
        return build_router(self._settings, read_table(content, file=str(self.file)), self._encoder)

    async def choose(self, text: str) -> RouteChoice:
        """Return who gets the text by the file as it is."""
        return await self._router.choose(text)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a unit row for each text, kept for the next time."""
        return VectorCache(self._settings.data.path / "cache").encode(self._encoder, texts)

    @cached_property
    def _agents(self) -> Mapping[str, Agent]:
        planners = Planners(self._stores.specs, self._stores.toolbox)
        return agents_of(load_texts(beside(self.file.parent, Path("texts"))), planners)

    @cached_property
    def _encoder(self) -> Encoder:
        return build_encoder(self._settings)

    @cached_property
    def _router(self) -> Router:
        return self.router(self.table())
