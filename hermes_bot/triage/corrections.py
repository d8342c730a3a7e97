"""Turns a correction into a proposed utterance, and an accepted one into lines of the routes file."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hermes_bot.errors import PermanentError, SettingsError, TransientError
from hermes_bot.people import Directory
from hermes_bot.triage.proposal import Proposal, ProposalStatus
from hermes_bot.triage.proposals import Proposals
from hermes_bot.triage.routes_lock import routes_lock
from hermes_bot.triage.scrub import without_personal_data
from routing.edit import changed_lines, replace_file, with_utterance
from routing.route import Route
from routing.routes_file import read_table
from routing.watch import digest_of

Effect = Callable[[bytes], Awaitable[str]]
"""Says in words what would be routed differently if the routes file had this content."""


class Corrected(Protocol):
    """What is read of a ticket."""

    @property
    def subject(self) -> str: ...  # noqa: D102 - the customer's first words

    @property
    def route(self) -> str: ...  # noqa: D102 - where they were sent

    @property
    def language(self) -> str: ...  # noqa: D102

    @property
    def team(self) -> str: ...  # noqa: D102

    @property
    def requester(self) -> str: ...  # noqa: D102


class CorrectedTickets(Protocol):
    """Reads tickets."""

    async def get(self, ticket_id: str) -> Corrected:
        """Return the ticket; raise PermanentError for an unknown id."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What staff are asked: the routes to choose from, name and what it is for, and the words as they would be kept."""

    ticket_id: str
    route: str
    text: str
    routes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A proposal after somebody decided, and whether this decision is the one that counted; else `why` not."""

    proposal: Proposal
    won: bool
    why: str = ""


class CorrectionForms:
    """Reads what there is to correct, and what was suggested so far."""

    def __init__(self, proposals: Proposals, tickets: CorrectedTickets, *, file: Path) -> None:
        self._proposals = proposals
        self._tickets = tickets
        self._file = file

    async def get(self, proposal_id: str) -> Proposal:
        """Return the proposal; raise PermanentError for an unknown id."""
        return await self._proposals.get(proposal_id)

    async def form(self, ticket_id: str) -> Form:
        """Return what to ask about a ticket; raise PermanentError for an unknown one, SettingsError for a bad file."""
        ticket = await self._tickets.get(ticket_id)
        routes = [route for route in await self.routes() if route.enabled]
        return Form(
            ticket_id=ticket_id,
            route=ticket.route,
            text=without_personal_data(ticket.subject),
            routes=tuple((route.name, route.description) for route in routes),
        )

    async def routes(self) -> Sequence[Route]:
        """Return the routes of the file as it is now; raise SettingsError for a bad one."""
        table = await asyncio.to_thread(read_table, await self.content(), file=str(self._file))
        return table.routes

    async def content(self) -> bytes:
        """Return what the file holds; raise SettingsError where it cannot be read."""
        try:
            return await asyncio.to_thread(self._file.read_bytes)
        except OSError as error:
            raise SettingsError(f"cannot be read: {error.strerror}", file=str(self._file)) from error


class Corrections:
    """Suggests, accepts and declines. `directory` tells customers' names, so that they can be taken out."""

    def __init__(
        self,
        proposals: Proposals,
        tickets: CorrectedTickets,
        directory: Directory | None,
        *,
        file: Path,
        effect: Effect,
    ) -> None:
        self._proposals = proposals
        self._tickets = tickets
        self._directory = directory
        self._file = file
        self._effect = effect
        self._forms = CorrectionForms(proposals, tickets, file=file)

    async def get(self, proposal_id: str) -> Proposal:
        """Return the proposal; raise PermanentError for an unknown id."""
        return await self._proposals.get(proposal_id)

    async def suggest(self, *, key: str, ticket_id: str, route: str, by: str, text: str = "") -> Proposal:
        """Return the proposal, made once for each key.

        Raise PermanentError where nothing can be learnt from it, SettingsError where the routes file is bad.
        """
        known = await self._proposals.find(key)
        if known is not None:
            return known
        ticket = await self._tickets.get(ticket_id)
        names = await self._names(ticket)
        utterance = without_personal_data(text or ticket.subject, names=names)
        await self._worth_it(route, utterance)
        language = _language(utterance, ticket.language)
        content = await self._forms.content()
        edited = await asyncio.to_thread(with_utterance, content, route, language, utterance, file=str(self._file))
        return await self._proposals.add(
            key,
            ticket_id=ticket_id,
            route_was=ticket.route,
            route=route,
            language=language,
            utterance=utterance,
            lines=changed_lines(content, edited, name=self._file.name),
            effect=await self._effect(edited),
            suggested_by=by,
        )

    async def accept(self, proposal_id: str, *, by: str, key: str) -> Settled:
        """Write the utterance into the file and the change into the log; a repeat with the same key does no more."""
        proposal = await self._proposals.settle(proposal_id, ProposalStatus.ACCEPTED, by=by, key=key)
        if proposal.settle_key != key:
            return _late(proposal)
        try:
            lines, digest = await asyncio.to_thread(self._write, proposal)
        except SettingsError as error:
            return Settled(proposal=await self._proposals.reopen(proposal_id, key=key), won=False, why=str(error))
        await self._proposals.record_change(
            f"proposal:{proposal.id}",
            by=by,
            file=str(self._file),
            digest=digest,
            lines=lines,
            proposal=proposal.id,
        )
        return Settled(proposal=proposal, won=True)

    async def decline(self, proposal_id: str, *, by: str, key: str) -> Settled:
        """Settle it without effect."""
        proposal = await self._proposals.settle(proposal_id, ProposalStatus.DECLINED, by=by, key=key)
        return Settled(proposal=proposal, won=True) if proposal.settle_key == key else _late(proposal)

    def _write(self, proposal: Proposal) -> tuple[str, str]:
        """Return the lines that were changed, and the digest of the file. Blocks."""
        with routes_lock(self._file):
            try:
                content = self._file.read_bytes()
            except OSError as error:
                raise SettingsError(f"cannot be read: {error.strerror}", file=str(self._file)) from error
            if _holds(read_table(content, file=str(self._file)).routes, proposal.route, proposal.utterance):
                return proposal.lines, digest_of(content)
            edited = with_utterance(
                content, proposal.route, proposal.language, proposal.utterance, file=str(self._file)
            )
            replace_file(self._file, edited)
            return changed_lines(content, edited, name=self._file.name), digest_of(edited)

    async def _worth_it(self, route: str, utterance: str) -> None:
        routes = await self._forms.routes()
        if route not in {each.name for each in routes if each.enabled}:
            known = ", ".join(each.name for each in routes if each.enabled)
            raise PermanentError(f"there is no route {route!r}; known are {known}")
        if len(utterance) < 2:
            raise PermanentError("nothing is left of the customer's words once personal data is out")
        if _holds(routes, route, utterance):
            raise PermanentError(f"{utterance!r} is an utterance of {route} already")

    async def _names(self, ticket: Corrected) -> Sequence[str]:
        if self._directory is None:
            return ()
        try:
            person = await self._directory.person(ticket.team, ticket.requester)
        except (PermanentError, TransientError):
            return ()
        return (person.name, person.email.partition("@")[0].replace(".", " "))


def _holds(routes: Sequence[Route], route: str, utterance: str) -> bool:
    return any(utterance == sentence for each in routes if each.name == route for _, sentence in each.examples())


def _late(proposal: Proposal) -> Settled:
    return Settled(proposal=proposal, won=False, why=f"{proposal.id} is already {proposal.status}.")


def _language(text: str, ticket_language: str) -> str:
    """Return the key under which the utterance is kept: by its script where that tells, else the ticket's language."""
    for language, first, last in (("ja", "\u3040", "\u30ff"), ("ko", "\uac00", "\ud7af"), ("th", "\u0e00", "\u0e7f")):
        if any(first <= char <= last for char in text):
            return language
    return "zh" if any("\u4e00" <= char <= "\u9fff" for char in text) else ticket_language or "en"
