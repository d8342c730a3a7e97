"""Says what another version of the routes file would change: on labelled texts, and on what customers wrote before."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from hermes_bot.app.build import Stores
from hermes_bot.people import Directory
from hermes_bot.settings import Settings
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.triage.corrections import Corrections
from hermes_bot.triage.scrub import without_personal_data
from routing.compare import Comparison, Move, Text, compare, target
from routing.evaluate import Chooser
from routing.router import Router

MOST_TICKETS = 100
MOST_LABELLED = 500
MOST_SHOWN = 5
SHOWN_CHARACTERS = 80


class Routes(Chooser, Protocol):
    """The routes in use, which can also tell what another version of their file would make."""

    def built(self, content: bytes) -> Router:
        """Return the router that a file with this content would make; raise SettingsError. Blocks."""
        ...


class RouteEffect:
    """Compares the routes in use with another version of their file. `build` makes a router of a content; it blocks."""

    def __init__(
        self, live: Chooser, build: Callable[[bytes], Router], tickets: Tickets, *, labelled: Path | None
    ) -> None:
        self._live = live
        self._build = build
        self._tickets = tickets
        self._labelled = labelled

    async def __call__(self, content: bytes) -> str:
        """Return a few sentences; raise SettingsError for a bad content."""
        then = await asyncio.to_thread(self._build, content)
        try:
            labelled = await compare(self._live, then, await asyncio.to_thread(labelled_texts, self._labelled))
            tickets = await self._tickets.listing(limit=MOST_TICKETS)
            past = await compare(
                self._live, then, [Text(text=each.subject, source=each.id) for each in tickets if each.subject]
            )
        finally:
            await asyncio.to_thread(then.close)
        return "\n".join((*_on_labelled(labelled), *_on_tickets(past)))


def corrections_of(settings: Settings, stores: Stores, directory: Directory | None, routes: Routes) -> Corrections:
    """Return what takes corrections, measured against the routes in use."""
    file = settings.routing.file
    labelled = file.parent / settings.routing.labelled if settings.routing.labelled else None
    effect = RouteEffect(routes, routes.built, stores.tickets, labelled=labelled)
    return Corrections(stores.proposals, stores.tickets, directory, file=file, effect=effect)


def labelled_texts(file: Path | None) -> Sequence[Text]:
    """Return the first rows of a labelled file, JSON Lines with text and label; nothing where there is none."""
    if file is None or not file.is_file():
        return ()
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[:MOST_LABELLED] if line.strip()]
    return [Text(text=row["text"], source=file.name, label=row["label"]) for row in rows]


def _on_labelled(result: Comparison) -> list[str]:
    if not result.labelled:
        return []
    right = (
        f"{result.right_before} of {result.labelled} labelled texts are routed right now, {result.right_after} then."
    )
    return [right, *_moves(result.moves)]


def _on_tickets(result: Comparison) -> list[str]:
    if not result.n:
        return ["There are no past tickets to compare with."]
    return [f"{len(result.moves)} of the last {result.n} tickets would go elsewhere.", *_moves(result.moves)]


def _moves(moves: Sequence[Move]) -> list[str]:
    shown = [_move(move) for move in moves[:MOST_SHOWN]]
    return [*shown, f"• … and {len(moves) - MOST_SHOWN} more"] if len(moves) > MOST_SHOWN else shown


def _move(move: Move) -> str:
    words = without_personal_data(move.text.text)[:SHOWN_CHARACTERS]
    return f"• {words!r}: {target(move.old)} → {target(move.new)}"
