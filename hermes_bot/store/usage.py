"""What models were asked and what it cost, by message, agent, ticket and day."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, insert, select

from hermes_bot.store.agent_tables import model_usage
from hermes_bot.store.database import Database

MOST_DAYS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """One request to a model that was answered. `cost_usd` is None where the model has no price."""

    agent: str
    message_id: str
    model: str
    tokens_in: int
    tokens_out: int
    seconds: float
    ticket_id: str = ""
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """A sum: tokens in and out together, and US dollars of what has a price."""

    tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DayUsage:
    """What one agent used of one model on one day (UTC)."""

    day: str
    agent: str
    model: str
    requests: int
    tokens_in: int
    tokens_out: int
    usd: float
    seconds: float


class UsageStore:
    """Rows of requests to models."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def add(self, usage: Usage) -> None:
        """Keep one request. What was spent is kept as often as it was spent, repeats included."""
        now = self._clock()
        row = {name: getattr(usage, name) for name in usage.__slots__}
        statement = insert(model_usage).values(**row, at=now, day=day_of(now))
        await self._database.run(lambda connection: connection.execute(statement))

    async def of_ticket(self, ticket_id: str) -> Spent:
        """Return what the ticket has cost so far."""
        return await self._sum(model_usage.c.ticket_id == ticket_id)

    async def today(self, agent: str = "") -> Spent:
        """Return what the agent, or all of them, has cost today (UTC)."""
        where = [model_usage.c.day == day_of(self._clock())]
        return await self._sum(*where, *([model_usage.c.agent == agent] if agent else []))

    async def by_day(self, limit: int = MOST_DAYS) -> Sequence[DayUsage]:
        """Return the sums by day, agent and model, the newest day first."""
        table = model_usage.c
        sums = (func.count(), *map(func.sum, (table.tokens_in, table.tokens_out)))
        money = (func.coalesce(func.sum(table.cost_usd), 0.0), func.sum(table.seconds))
        keys = (table.day, table.agent, table.model)
        wanted = select(*keys, *sums, *money).group_by(*keys).order_by(table.day.desc(), *keys[1:]).limit(limit)

        def work(connection: Connection) -> list[DayUsage]:
            names = DayUsage.__slots__
            return [DayUsage(**dict(zip(names, row, strict=True))) for row in connection.execute(wanted)]

        return await self._database.run(work)

    async def _sum(self, *where: object) -> Spent:
        tokens = func.coalesce(func.sum(model_usage.c.tokens_in + model_usage.c.tokens_out), 0)
        usd = func.coalesce(func.sum(model_usage.c.cost_usd), 0.0)
        wanted = select(tokens, usd).where(*where)  # type: ignore[arg-type]  # SQLAlchemy's own column conditions
        row = await self._database.run(lambda connection: connection.execute(wanted).one())
        return Spent(tokens=int(row[0]), usd=float(row[1]))


def day_of(moment: datetime) -> str:
    """Return the day, as in 2026-11-30."""
    return moment.date().isoformat()
