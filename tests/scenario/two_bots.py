"""Two bots, each a process with a data folder of its own, on one PostgreSQL and one redis; one dies now and then."""

from __future__ import annotations

import asyncio
import random
import shutil
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import LiteralString

import psycopg

from hermes_bot.approvals.audit_log import AuditLog
from hermes_bot.bus.port import DEAD_LETTERS, FINAL_STATES, Delivery, State
from hermes_bot.bus.redis_backend import RedisBackend
from hermes_bot.messages.payloads import POST_CHECK
from hermes_bot.store.database import Database
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.bot_process import BotProcess, environment
from tests.scenario.cases import MORE, approval_of
from tests.scenario.refund_crowd import DECLINED, PAID, PATIENCE_S, RefundCrowd, Seen, crowd_of, open_shop, world_of
from tests.scenario.stage import HANDOFF, Stage, buttons, key_of
from tests.servers import Postgres, Redis

AT_ONCE = 8
QUIET_LIMIT_S = 240.0
PATIENT = {  # nothing here may depend on how fast the machine is; the lease is short, so that a death is soon noticed
    "HERMES_BUS__LEASE_S": "10",
    "HERMES_BUS__TTL_S": "1200",
    "HERMES_AGENTS__DEFAULT_TIMEOUT_S": "120",
    "HERMES_AGENTS__RETRY_POLICY__MAX_RETRIES": "10",
}
LOOK_EVERY_S = 0.2
ENDINGS = {"approved": "Approved", "rejected": "Rejected"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """What the two bots share: databases for tickets and for orders, and a redis."""

    store: str
    orders: str
    redis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a play came to."""

    problems: tuple[str, ...]
    tickets: int
    paid: int
    rejected: int
    kills: int
    took_s: float


def servers_of(postgres: Postgres, redis: Redis) -> Servers:
    """Return empty databases and an empty bus."""
    with redis.client() as client:
        client.flushall()
    return Servers(store=postgres.new_database(), orders=postgres.new_database(), redis=redis.url)


class SharedStage(Stage):
    """A stage whose bots keep their messages in redis, and their tickets and orders in PostgreSQL."""

    def __init__(self, server: WorkspaceServer, data: Path, servers: Servers) -> None:
        super().__init__(server, data)
        self._servers = servers
        self._bus = RedisBackend(servers.redis)

    async def until(self, true: Callable[[], object]) -> None:
        """Wait for a state of the workspace."""
        await self.workspace.wait_for(true, QUIET_LIMIT_S)

    async def quiet(self) -> None:
        """Wait until every event was taken, every delivery whose time has come is done, and every card drawn."""
        await self.until(lambda: not self.server.unsettled)
        try:
            async with asyncio.timeout(QUIET_LIMIT_S + 3.0 * self.number("SELECT count(*) FROM tickets")):
                while await self._stuck() or self.number("SELECT count(*) FROM tickets WHERE card_due"):  # noqa: ASYNC110 - the state is in servers
                    await asyncio.sleep(LOOK_EVERY_S)
        except TimeoutError:
            raise AssertionError(f"not done: {[each.message.type for each in await self._stuck()][:10]}") from None

    async def _stuck(self) -> list[Delivery]:
        left = await self._bus.find(states=sorted(set(State) - FINAL_STATES))
        checks = {POST_CHECK}  # they take copies away, of what was posted twice since nobody knew; others come in time
        return [each for each in left if each.message.not_before is None or each.message.type in checks]

    async def letters(self) -> list[str]:
        """Return what ended as a dead letter."""
        found = await self._bus.find(states=sorted(DEAD_LETTERS))
        return [f"{letter.message.type}: {letter.error}" for letter in found]

    def number(self, query: LiteralString, *values: str) -> int:
        """Return the number that a query of the tickets' database gives."""
        return int(str(self.rows(query, *values)[0][0]))

    def rows(self, query: LiteralString, *values: str, of: str = "") -> list[tuple[object, ...]]:
        """Return what a query gives, of the tickets' database or another one."""
        with psycopg.connect(of or self._servers.store) as connection:
            return connection.execute(query, values).fetchall()

    def paid(self) -> Counter[str]:
        """Return how often each order was paid back."""
        rows = self.rows("SELECT order_id FROM refunds", of=self._servers.orders)
        return Counter(str(row[0]) for row in rows)


@asynccontextmanager
async def two_bots(
    server: WorkspaceServer, servers: Servers, folder: Path, vectors: Path, *more: dict[str, str]
) -> AsyncIterator[tuple[BotProcess, BotProcess]]:
    """Run both, each as if on a machine of its own; `more` are variables of the first and of the second."""
    shared = {
        "HERMES_BUS__BACKEND": "redis",
        "HERMES_REDIS_URL": servers.redis,
        "HERMES_DATABASE_URL": servers.store,
        "HERMES_ORDERS__URL": servers.orders,
        **MORE,
        **PATIENT,
    }
    bots = []
    for number in range(2):
        data = folder / f"bot{number}"
        shutil.copytree(vectors, data / "cache")
        own = more[number] if more else {}
        bots.append(BotProcess(environment(server, data, **shared, **own), folder))
    async with bots[0], bots[1]:
        yield bots[0], bots[1]


async def play(
    servers: Servers,
    folder: Path,
    vectors: Path,
    *,
    tickets: int,
    kills: int,
    seed: int,
    step: Callable[[int, int], None] = lambda _done, _of: None,
) -> Told:
    """Let so many customers ask for refunds while people decide and bots die; say what was wrong in the end."""
    began, people = time.monotonic(), crowd_of(tickets)
    await open_shop(servers.orders, people)
    async with WorkspaceServer(world=world_of(people), seed=seed) as server:
        stage = SharedStage(server, folder, servers)
        async with two_bots(server, servers, folder, vectors) as bots:
            crowd = RefundCrowd(server, people, seed, step)
            async with asyncio.TaskGroup() as acts:
                playing = acts.create_task(crowd.play(AT_ONCE), name="crowd")
                acts.create_task(_deaths(server, crowd, bots, tickets, kills, random.Random(seed)), name="deaths")
            await stage.quiet()
            seen = [crowd.again(each) for each in playing.result()]
            problems = [*_wrong_with(seen, stage), *_wrong_cards(stage), *await _wrong_in_store(servers, stage)]
    outcome = Counter(str(row[0]) for row in stage.rows("SELECT status FROM approvals"))
    took_s = round(time.monotonic() - began, 1)
    return Told(
        problems=tuple(problems),
        tickets=tickets,
        paid=outcome["approved"],
        rejected=outcome["rejected"],
        kills=kills,
        took_s=took_s,
    )


async def _deaths(
    server: WorkspaceServer,
    crowd: RefundCrowd,
    bots: Sequence[BotProcess],
    tickets: int,
    kills: int,
    chance: random.Random,
) -> None:
    """Kill one of the two whenever so many more customers have been served, at a moment of no particular kind."""

    def served(count: int) -> bool:
        return crowd.finished >= count

    def shown(count: int) -> bool:
        return len(server.workspace.posts.all()) >= count or crowd.finished == tickets

    for number in range(1, kills + 1):
        limit_s = QUIET_LIMIT_S + PATIENCE_S * tickets
        await server.workspace.wait_for(partial(served, tickets * number // (kills + 1)), limit_s)
        moment = len(server.workspace.posts.all()) + chance.randrange(10)
        await server.workspace.wait_for(partial(shown, moment), limit_s)
        bot = chance.choice(bots)
        await bot.kill()
        await bot.start()


def _wrong_with(seen: Sequence[Seen], stage: SharedStage) -> list[str]:
    """Return what is wrong with a request: the decision, what was paid, what the customer read, and the card."""
    rows = stage.rows("SELECT id, status, result FROM approvals")
    decided, paid, wrong = {str(row[0]): str(row[1]) for row in rows}, stage.paid(), []
    if len(rows) != len(seen):
        wrong.append(f"{len(rows)} approvals for {len(seen)} requests")
    for each in seen:
        order, status = each.buyer.order.id, decided.get(approval_of(each.card), "unknown")
        good = sum(word in text for text in each.said for word in PAID)
        bad = sum(word in text for text in each.said for word in DECLINED)
        expected = (1, 1, 0) if status == "approved" else (0, 0, 1)
        if status not in ENDINGS or (paid[order], good, bad) != expected:
            wrong.append(f"{order}: {status}, paid {paid[order]} times, told {list(each.said)}")
        if buttons(each.card) or ENDINGS.get(status, "?") not in each.card.text:
            wrong.append(f"{order}: {status}, and its card says {each.card.text!r}")
    return wrong


def _wrong_cards(stage: SharedStage) -> list[str]:
    """Return the cards of tickets, and of approvals, that do not show how it ended, or stand there twice."""
    posts = [post for post in stage.workspace.posts.all() if post.bot and not post.seen_by]
    keys = Counter(key_of(post) for post in posts if key_of(post).startswith(("ticket:", "approval:", "reply:")))
    wrong = [f"{key} stands there {count} times" for key, count in keys.items() if count > 1]
    cards = [post for post in posts if post.channel == HANDOFF and key_of(post).startswith("ticket:")]
    ended = stage.number("SELECT count(*) FROM tickets WHERE status = 'solved'")
    shown = sum("solved" in post.text for post in cards)
    return wrong if shown == ended else [*wrong, f"{ended} tickets are solved, and {shown} cards say so"]


async def _wrong_in_store(servers: Servers, stage: SharedStage) -> list[str]:
    """Return tickets that somebody has twice, endings of approvals that were written twice, and dead letters."""
    wrong = [f"{row[0]} has {row[1]} tickets" for row in stage.rows(TICKETS_OF_ONE)]
    wrong += [f"{row[0]} ended {row[1]} times" for row in stage.rows(ENDINGS_OF_ONE)]
    database = Database(servers.store)
    await database.open()
    try:
        verdict = await AuditLog(database).verify()
    finally:
        await database.close()
    return [*wrong, *([] if verdict.whole else [f"audit: {verdict.problem}"]), *await stage.letters()]


TICKETS_OF_ONE = "SELECT requester, count(*) FROM tickets GROUP BY requester HAVING count(*) > 1"
ENDINGS_OF_ONE = """
    SELECT subject, count(*) FROM audit WHERE action IN ('approved', 'rejected', 'expired', 'cancelled')
    GROUP BY subject HAVING count(*) > 1
"""
