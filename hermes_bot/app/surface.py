"""Builds what commands, shortcuts and Home read, and forgets people who ask for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from agents.texts import Texts
from hermes_bot.app.build import Clock, Stores, build_backend, bus_file, staff_of
from hermes_bot.app.bus_view import BackendView, BusView, FileView
from hermes_bot.app.forgetting import Forgetting
from hermes_bot.bus.inspect import BusFile
from hermes_bot.bus.port import Delivery, Handler
from hermes_bot.edge.surface import Surface
from hermes_bot.memory import fact_rows
from hermes_bot.memory.owner import PersonOwner
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import read
from hermes_bot.messages.surface_payloads import PERSON_FORGET, PersonForget
from hermes_bot.messages.whisper import whisper
from hermes_bot.settings import Settings
from hermes_bot.store.preferences import Preferences
from hermes_bot.tickets.overview import Overview
from hermes_bot.triage.proposal import Proposal, ProposalStatus

AGENT = "forgetting"
MOST_FACTS = 20


def surface_of(
    settings: Settings,
    stores: Stores,
    explain: Callable[[str], Awaitable[str]],
    trouble: Callable[[], Awaitable[str]],
) -> Surface:
    """Return what the edge reads beside its desk."""

    async def facts(team: str, user: str) -> Sequence[str]:
        person = PersonOwner(team, user)
        found = await stores.database.run(lambda connection: fact_rows.listing(connection, person, history=False))
        return [f"{fact.text} ({fact.source})" if fact.source else fact.text for fact in found[:MOST_FACTS]]

    async def proposals() -> Sequence[Proposal]:
        return await stores.proposals.listing(status=ProposalStatus.PENDING)

    return Surface(
        preferences=Preferences(stores.database),
        overview=Overview(stores.database),
        explain=explain,
        facts=facts,
        trouble=trouble,
        proposals=proposals,
        staff=staff_of(settings),
        admins=settings.people.admins,
        approvers=settings.approvals.everyone,
    )


class SelfService:
    """The handler of `person.forget`: what `hermes-bot memory forget` does, for whoever asks it of themselves."""

    def __init__(self, settings: Settings, stores: Stores, texts: Texts, clock: Clock) -> None:
        self._settings = settings
        self._stores = stores
        self._texts = texts
        self._clock = clock

    def handlers(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return the handlers by agent and type."""
        return {AGENT: {PERSON_FORGET: self.on_forget}}

    async def on_forget(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Forget everything and say so. It can be repeated: then there is nothing left to forget."""
        wanted = read(message, PersonForget)
        view, close = self._view()
        try:
            forgetting = Forgetting(self._settings, self._stores, view, self._clock)
            forgotten = await forgetting.forget(PersonOwner(wanted.whose_team, wanted.whom))
        finally:
            await close()
        key = "command.forget.later" if forgotten.left else "command.forget.done"
        return [whisper(message, self._texts.render(wanted.language, key), channel="", user=wanted.whom)]

    def _view(self) -> tuple[BusView | None, Callable[[], Awaitable[None]]]:
        """Return the bus as a command beside the bot sees it, None where messages live in this process alone."""
        if self._settings.bus.backend == "redis":
            view = BackendView(build_backend(self._settings, self._clock))
            return view, view.close
        if self._settings.bus.backend != "sqlite":
            return None, _nothing
        file = BusFile(bus_file(self._settings))

        async def close() -> None:
            file.close()

        return FileView(file), close


async def _nothing() -> None:
    """Nothing to close."""
