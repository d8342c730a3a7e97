"""All that Hermes knows of one person: shown, exported, and forgotten everywhere, beside a bot that may be running."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from sqlalchemy import Connection, make_url, select, update

from hermes_bot.app.build import Clock, Stores, bus_file
from hermes_bot.app.bus_view import BusView
from hermes_bot.app.remembering import INDEX
from hermes_bot.approvals.request import ApprovalStatus
from hermes_bot.bus.erasure import Erased
from hermes_bot.memory import erasing, fact_rows, index_file
from hermes_bot.memory.erasing import Scope
from hermes_bot.memory.fact import Fact
from hermes_bot.memory.owner import PersonOwner
from hermes_bot.settings import Settings
from hermes_bot.store.database import Database
from hermes_bot.store.rewriting import rewrite
from hermes_bot.store.tables import thread_lines, ticket_messages, tickets
from hermes_bot.tools.order_tables import refunds

LIMIT_S = 30.0
REST_S = 0.3
CALM_ROUNDS = 2  # so often in a row nothing more must be found: what a bot was about to write is written by then
BY = "memory-forget"
LONG_TEXT = 20  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was changed or deleted, by place, and how many messages a running bot did not let go of in time."""

    person: PersonOwner
    counts: Mapping[str, int]
    left: int = 0


class Forgetting:
    """What `memory show`, `export` and `forget` do. `bus` is None where messages live in a process only."""

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        bus: BusView | None,
        clock: Clock,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._settings = settings
        self._stores = stores
        self._bus = bus
        self._clock = clock
        self._sleep = sleep
        self._database = stores.database

    async def called(self, user: str) -> Sequence[PersonOwner]:
        """Return who has this user id, in each team that is known to have one."""
        return await self._database.run(lambda connection: erasing.persons_called(connection, user))

    async def facts(self, person: PersonOwner, *, history: bool = False) -> Sequence[Fact]:
        """Return what is known of the person, newest first."""
        return await self._database.run(lambda connection: fact_rows.listing(connection, person, history=history))

    async def export(self, person: PersonOwner) -> Mapping[str, Any]:
        """Return everything that is kept of the person, as JSON values: facts with their history, tickets, messages."""

        def read(connection: Connection) -> dict[str, Any]:
            scope = erasing.scope_of(connection, person)
            own = select(tickets).where(tickets.c.number.in_(sorted(scope.numbers))).order_by(tickets.c.number)
            said = ticket_messages.c.ticket_number.in_(sorted(scope.numbers))
            messages = select(ticket_messages).where(said).order_by(ticket_messages.c.at)
            before = select(thread_lines).where(erasing.said_in_threads(person)).order_by(thread_lines.c.ts)
            return {
                "person": asdict(person),
                "facts": [asdict(each) for each in fact_rows.listing(connection, person, history=True)],
                "tickets": [dict(row._mapping) for row in connection.execute(own)],
                "messages": [dict(row._mapping) for row in connection.execute(messages)],
                "in_threads": [dict(row._mapping) for row in connection.execute(before)],
            }

        return await self._database.run(read)

    async def forget(self, person: PersonOwner) -> Forgotten:
        """Take the person's words out of every table, the bus, the index, the log and the files' free space."""
        texts, counts = set[str](), dict[str, int]()
        end, calm, left = monotonic() + LIMIT_S, 0, 0
        while calm < CALM_ROUNDS and monotonic() < end:
            scope = await self._database.run(lambda connection: erasing.scope_of(connection, person))
            texts |= await self._database.run(lambda connection, scope=scope: erasing.texts_of(connection, scope))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
            found, left = await self._round(scope)
            for name, count in found.items():
                counts[name] = counts.get(name, 0) + count
            calm = calm + 1 if not found and not left else 0
            await self._sleep(REST_S)
        version = await self._database.run(fact_rows.version_of)
        await asyncio.to_thread(self._leave_nothing, texts, version)
        return Forgotten(person=person, counts=counts, left=left)

    async def _round(self, scope: Scope) -> tuple[dict[str, int], int]:
        """Erase once; return what that changed, and how many messages are still in work."""
        withdrawn = await self._withdraw(scope)
        now = self._clock()
        counts = await self._database.run(lambda connection: erasing.erase(connection, scope, now))
        erased = await self._erase_messages(scope)
        if self._settings.demo_shop and scope.approvals:
            counts["refunds"] = await self._erase_reasons(scope)
        counts |= {"withdrawn": withdrawn, "bus": erased.blanked}
        return {name: count for name, count in counts.items() if count}, erased.unfinished

    async def _erase_messages(self, scope: Scope) -> Erased:
        """Blank what the bus keeps; what waits where only this person is spoken of is cancelled."""
        if self._bus is None:
            return Erased()
        erased = await self._bus.erase(scope.concerns)
        for context in sorted(erased.contexts):
            await self._bus.cancel(context)
        return erased

    async def _withdraw(self, scope: Scope) -> int:
        """Cancel approvals that wait: what an operator would decide on can no longer be shown."""
        count = 0
        for approval_id in sorted(scope.approvals):
            if (await self._stores.approvals.get(approval_id)).status is ApprovalStatus.PENDING:
                key = f"{BY}:{approval_id}"
                await self._stores.approvals.settle(
                    approval_id, ApprovalStatus.CANCELLED, by=BY, message_id=key, cause="forgotten"
                )
                count += 1
        return count

    async def _erase_reasons(self, scope: Scope) -> int:
        """Blank, in the demo shop, the reasons that customers gave for refunds; a real order book is the shop's own."""
        shop = Database(self._settings.orders_url)
        await shop.open()
        theirs = refunds.c.approval_id.in_(sorted(scope.approvals)), refunds.c.reason != ""
        try:
            return await shop.run(
                lambda connection: connection.execute(update(refunds).where(*theirs).values(reason="")).rowcount
            )
        finally:
            await shop.close()

    def _leave_nothing(self, texts: set[str], version: int) -> None:
        """Write the files anew, so that nothing deleted is left in them; a running bot writes the index itself."""
        data = self._settings.data.path
        index = data / INDEX
        header = index_file.read_header(index)
        if header is None or header.version < version:  # no bot that runs has written it since
            index.unlink(missing_ok=True)
        for file in _sqlite_files(self._settings):
            rewrite(file)
        for file in data.glob("*.log*"):
            mask(file, texts)


def _sqlite_files(settings: Settings) -> Iterator[Path]:
    urls = [settings.store_url] + ([settings.orders_url] if settings.demo_shop else [])
    for url in map(make_url, urls):
        if url.get_backend_name() == "sqlite" and url.database and Path(url.database).exists():
            yield Path(url.database)
    if settings.bus.backend == "sqlite" and bus_file(settings).exists():
        yield bus_file(settings)


def mask(file: Path, texts: set[str]) -> None:
    """Write stars over the texts in a log, in place: the bot that appends to it goes on.

    A short one counts only where it is all that a field holds, or words of ours would go with it.
    """
    needles = {_logged(text, ascii_only=ascii_only) for text in texts for ascii_only in (True, False)}
    content = file.read_bytes()
    with file.open("r+b") as log:
        for needle in needles:
            start = content.find(needle)
            while start >= 0:
                log.seek(start)
                log.write(b'"' + b"*" * (len(needle) - 2) + b'"' if needle.startswith(b'"') else b"*" * len(needle))
                start = content.find(needle, start + len(needle))


def _logged(text: str, *, ascii_only: bool) -> bytes:
    quoted = json.dumps(text, ensure_ascii=ascii_only).encode()
    return quoted[1:-1] if len(text) >= LONG_TEXT else quoted
