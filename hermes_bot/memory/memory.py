"""Long-term memory: what is known of a person, an agent or the shop, kept by rules and recalled by nearness."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, overload

from sqlalchemy import Connection

from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.memory import fact_rows
from hermes_bot.memory.essence import identifiers
from hermes_bot.memory.fact import Fact, FactKind, Recalled
from hermes_bot.memory.fact_rows import NewFact, Vector
from hermes_bot.memory.index import FactIndex, Hits, nearest
from hermes_bot.memory.keep import Candidate, accepted, said_in
from hermes_bot.memory.owner import (
    AgentOwner,
    Concluded,
    KnownError,
    Owner,
    PersonOwner,
    Said,
    Shop,
    Source,
    Taught,
    check_source,
)
from hermes_bot.memory.ranking import ranked
from hermes_bot.memory.secrets import REMOVED, holds_secret, without_secrets
from hermes_bot.memory.summary import TicketSummary
from hermes_bot.store.database import Database
from routing.choice import Encoder

FACT_CHARACTERS = 500
SUMMARY_CHARACTERS = 1_500
NEAREST = 4  # times k are looked at, before words and numbers order them

log = logging.getLogger(__name__)


class Memory:
    """Facts in the store with an index beside it. Recall sees the facts of one owner and never another's.

    `enabled` false: nothing new is kept and nothing recalled; what is there can be shown, exported and forgotten.
    """

    def __init__(
        self,
        database: Database,
        encoder: Encoder,
        *,
        clock: Callable[[], datetime],
        index_path: Path | None = None,
        k: int = 5,
        enabled: bool = True,
    ) -> None:
        self._database = database
        self._encoder = encoder
        self._clock = clock
        self._k = k
        self._enabled = enabled
        self.index = FactIndex(index_path, encoder=encoder.name)

    @overload
    async def remember(
        self, owner: PersonOwner, text: str, *, kind: FactKind, source: Said | Concluded, subject: str = ""
    ) -> Fact | None: ...

    @overload
    async def remember(
        self, owner: Shop, text: str, *, kind: FactKind, source: Taught, subject: str = ""
    ) -> Fact | None: ...

    @overload
    async def remember(
        self, owner: AgentOwner, text: str, *, kind: FactKind, source: Taught, subject: str = ""
    ) -> Fact | None: ...

    async def remember(
        self, owner: Owner, text: str, *, kind: FactKind, source: Source, subject: str = ""
    ) -> Fact | None:
        """Return the fact as it is kept, None where it is not: it holds a secret, or says nothing, or memory is off.

        The same said again counts and is no second fact; of a subject the newest holds. Raise PermanentError for a
        source that may not speak about the owner.
        """
        check_source(owner, source)
        if isinstance(source, KnownError):
            raise PermanentError("an agent's error is kept with remember_error, which takes no free text")
        return await self._keep(owner, text, kind=kind, source=source, subject=subject)

    async def remember_error(self, agent: str, error: KnownError) -> Fact | None:
        """Return what the agent knows now of this error of a tool; names of ours only, nobody's words."""
        subject = f"error:{error.tool}:{error.code}"
        return await self._keep(AgentOwner(agent), error.text, kind=FactKind.ERROR, source=error, subject=subject)

    async def hear(
        self, text: str, source: Said, *, language: str = "", proposed: Sequence[Candidate] = ()
    ) -> Sequence[Fact]:
        """Keep what the rules find worth keeping in a customer's message, for that customer; return the facts.

        `proposed` is what a model found in the message: the rules decide on it as on everything else. Hearing the
        same message twice keeps it once.
        """
        kept = []
        for candidate in accepted([*said_in(text, language), *proposed], text):
            fact = await self.remember(
                source.by, candidate.text, kind=candidate.kind, source=source, subject=candidate.subject
            )
            kept += [fact] if fact is not None else []
        return kept

    async def add_summary(self, person: PersonOwner, summary: TicketSummary, *, agent: str = "memory") -> Fact | None:
        """Keep how a ticket ended, for that person's later tickets; a later summary of the ticket replaces it."""
        source = Concluded(about=person, agent=agent, ticket_id=summary.ticket_id)
        text = without_secrets(summary.text)[:SUMMARY_CHARACTERS]
        if holds_secret(text):
            text = replace(summary, request=REMOVED, steps=(), decisions=()).text
        return await self._keep(
            person, text, kind=FactKind.SUMMARY, source=source, subject=f"ticket:{summary.ticket_id}"
        )

    async def recall(
        self, owner: Owner, query: str, k: int | None = None, *, kinds: Collection[FactKind] = ()
    ) -> list[Recalled]:
        """Return the owner's facts that are most relevant to the query, the best first, each with its source."""
        wanted = self._k if k is None else k
        if not self._enabled or wanted < 1 or not query.strip():
            return []
        vector = await self._encoded(query)
        hits, facts = await self._database.run(
            lambda connection: self._found(connection, owner, kinds, query, vector, wanted * NEAREST)
        )
        return ranked(query, facts, dict(hits))[:wanted]

    async def facts(self, owner: Owner) -> list[Fact]:
        """Return the facts of the owner that hold, newest first."""
        return await self._database.run(lambda connection: fact_rows.listing(connection, owner, history=False))

    async def history(self, owner: Owner) -> list[Fact]:
        """Return every fact of the owner, newest first, those too that a newer one replaced."""
        return await self._database.run(lambda connection: fact_rows.listing(connection, owner, history=True))

    async def export(self, owner: Owner) -> Mapping[str, Any]:
        """Return what is known of the owner, as JSON values."""
        return {"facts": [asdict(fact) for fact in await self.history(owner)]}

    async def forget(self, owner: Owner) -> int:
        """Delete every fact of the owner, history and vectors too; return how many.

        All that Hermes holds of a person is more than that: see `hermes_bot.memory.forgetting`.
        """
        now = self._clock()
        return await self._database.run(lambda connection: fact_rows.forget(connection, owner, now))

    async def take_back(self, person: PersonOwner, message_id: str) -> int:
        """Delete what was kept of one message, since the person deleted it or wrote something else; return how many."""
        now = self._clock()
        return await self._database.run(
            lambda connection: fact_rows.forget(connection, person, now, message_id=message_id)
        )

    async def _keep(self, owner: Owner, text: str, *, kind: FactKind, source: Source, subject: str) -> Fact | None:
        most = SUMMARY_CHARACTERS if kind in {FactKind.SUMMARY, FactKind.SUBTASK} else FACT_CHARACTERS
        sentence = " ".join(text.split())[:most]
        if not self._enabled or not sentence or holds_secret(sentence):
            return None
        vector = await self._encoded(sentence)
        new = NewFact(owner=owner, kind=kind, text=sentence, source=source, at=self._clock(), subject=subject[:200])
        name = self._encoder.name
        return await self._database.run(lambda connection: fact_rows.write(connection, new, vector, name))

    async def _encoded(self, text: str) -> Vector | None:
        """Return the vector, None while the encoder is away: the fact is kept all the same, and encoded later."""
        try:
            rows = await asyncio.to_thread(self._encoder.encode, [text])
        except TransientError as error:
            log.warning("the encoder is away; memory goes by words", extra={"error": str(error)})
            return None
        row: Vector = rows[0]
        return row

    def _found(
        self,
        connection: Connection,
        owner: Owner,
        kinds: Collection[FactKind],
        query: str,
        vector: Vector | None,
        k: int,
    ) -> tuple[Hits, Sequence[Fact]]:
        """Return the k nearest facts, and those in which a number of the question stands, with their cosines.

        All of them where there is no vector. One transaction: the owner's ids, the search among them, the facts.
        """
        numbers = fact_rows.ids(connection, owner, kinds)
        if vector is None:
            return [], fact_rows.by_ids(connection, owner, numbers)
        hits, missing = self.index.search(numbers, vector, k)
        if missing:
            hits = sorted([*hits, *self._compared(connection, missing, vector)], key=lambda hit: -hit[1])[:k]
        named = set(fact_rows.naming(connection, owner, identifiers(query), k)) & set(numbers)
        named -= {number for number, _ in hits}
        if named:
            hits = [*hits, *self._compared(connection, sorted(named), vector)]
        return hits, fact_rows.by_ids(connection, owner, [number for number, _ in hits])

    def _compared(self, connection: Connection, numbers: Sequence[int], vector: Vector) -> Hits:
        """Return each of the facts with its cosine, from the vectors in SQL; one without a vector is near nothing."""
        here, rows = fact_rows.vectors(connection, numbers, self._encoder.name)
        return [*nearest(here, rows, vector), *((number, 0.0) for number in set(numbers) - set(here))]
