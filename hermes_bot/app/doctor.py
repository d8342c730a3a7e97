"""Looks at everything that Hermes needs and keeps, changes nothing, and says what is wrong and what to do about it."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
from sqlalchemy import Connection, inspect

from hermes_bot.app.build import Clock, bus_file, secret
from hermes_bot.app.bus_view import BusView
from hermes_bot.app.health import stale_deliveries, told_stale
from hermes_bot.app.offline import bus_view
from hermes_bot.bus.port import DEAD_LETTERS
from hermes_bot.bus.schema import as_store_error
from hermes_bot.edge.slack_api import SlackApi, web_client
from hermes_bot.errors import HermesError, StoreError
from hermes_bot.settings import Mode, Settings
from hermes_bot.store.database import Database
from hermes_bot.store.schema import revisions
from hermes_bot.tools.order_tables import shop
from routing.routes_file import load_table

LIMIT_S = 10.0
LITTLE_BYTES = 1_000_000_000
TOO_LITTLE_BYTES = 100_000_000
REMEDY_ORDERS = "set orders.url to the order book"
REMEDIES = {
    "store": "check store.url, and that its server runs",
    "orders": "check orders.url, and that its server runs",
    "bus": "check bus.url, and that its server runs",
    "routes": "mend the file; docs/routing.md tells what it may hold",
}
REMEDY_RUN = "hermes-bot run starts it (on another port: set HERMES_HTTP__PORT here too)"


class Level(StrEnum):
    """How serious a finding is. A `note` is worth knowing, a `problem` makes `doctor` fail."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a look at one thing found; `remedy` says what to do, empty where nothing is."""

    check: str
    level: Level
    text: str
    remedy: str = ""


Check = Callable[[Settings, Clock], AsyncIterator[Finding]]


async def examine(settings: Settings, clock: Clock) -> Sequence[Finding]:
    """Return all findings, in a fixed order; a look that fails or hangs is a finding itself."""
    found: list[Finding] = []
    for name, check in CHECKS.items():
        found += await _within_limit(name, check, settings, clock)
    return found


async def _within_limit(name: str, check: Check, settings: Settings, clock: Clock) -> list[Finding]:
    found: list[Finding] = []
    try:
        async with asyncio.timeout(LIMIT_S):
            async for finding in check(settings, clock):
                found.append(finding)
    except TimeoutError:
        found.append(_problem(name, f"no answer within {LIMIT_S:g} s", REMEDIES.get(name, "")))
    except (HermesError, OSError) as error:
        found.append(_problem(name, str(error), REMEDIES.get(name, "")))
    return found


async def _data(settings: Settings, _clock: Clock) -> AsyncIterator[Finding]:
    folder = settings.data.path
    if not folder.is_dir():
        yield _note("data", f"{folder} does not exist yet", "it is made at the first start")
        return
    free = shutil.disk_usage(folder).free
    told = f"{folder}, {free / 1e9:.1f} GB free"
    if free < TOO_LITTLE_BYTES:
        yield _problem("data", told, "make room: without it nothing can be taken in")
    elif free < LITTLE_BYTES:
        yield _note("data", told, "make room soon")
    else:
        yield _ok("data", told)


async def _store(settings: Settings, _clock: Clock) -> AsyncIterator[Finding]:
    if Database(settings.store_url).missing:
        yield _note("store", "there is no database yet", "it is made at the first start")
        return
    async with _opened(settings.store_url) as database:
        current, newest = await revisions(database)
    if current == newest:
        yield _ok("store", f"{database.shown_url}, schema {current}")
    else:
        text = f"{database.shown_url} has schema {current or 'none'}, this program's is {newest}"
        yield _note("store", text, "the next start of the bot brings it up to date")


async def _orders(settings: Settings, _clock: Clock) -> AsyncIterator[Finding]:
    if Database(settings.orders_url).missing:
        if settings.demo_shop:
            yield _note("orders", "there is no order book yet", "the demo shop is made at the first start")
        else:
            yield _problem("orders", f"{settings.orders_url} does not exist", REMEDY_ORDERS)
        return
    async with _opened(settings.orders_url) as database:
        tables = await database.run(_tables)
    missing = ", ".join(sorted(shop.tables.keys() - tables))
    if missing:
        yield _problem("orders", f"{database.shown_url} has no {missing}", REMEDY_ORDERS)
    else:
        yield _ok("orders", database.shown_url)


async def _routes(settings: Settings, _clock: Clock) -> AsyncIterator[Finding]:
    table = await asyncio.to_thread(load_table, settings.routing.file)
    yield _ok("routes", f"{settings.routing.file}, {len(table.routes)} routes")


async def _bus(settings: Settings, clock: Clock) -> AsyncIterator[Finding]:
    if settings.bus.backend == "memory":
        yield _note("bus", "memory: messages are lost with the process", "set bus.backend: sqlite")
        return
    if settings.bus.backend == "sqlite":
        file = bus_file(settings)
        if not file.is_file():
            yield _note("bus", "there is no bus database yet", "it is made at the first start")
            return
        fault = await asyncio.to_thread(_fault_in, file)
        if fault:
            remedy = "stop the bot, restore the file from a backup or move it away: a new one is made at the start"
            yield _problem("bus", f"{file} is damaged: {fault}", remedy)
            return
    async with AsyncExitStack() as done:
        bus = bus_view(settings, done)
        yield _ok("bus", f"{settings.bus.backend}, {sum((await bus.counts()).values())} deliveries kept")
        async for finding in _messages(bus, settings, clock):
            yield finding


async def _messages(bus: BusView, settings: Settings, clock: Clock) -> AsyncIterator[Finding]:
    paused_since = await bus.paused_since()
    if paused_since is not None:
        text = f"nothing is executed or posted since {paused_since.astimezone():%Y-%m-%d %H:%M:%S}"
        yield _note("pause", text, "hermes-bot resume")
    stale_after_s = settings.bus.stale_after_s
    stale = told_stale(await stale_deliveries(bus, stale_after_s, clock()), stale_after_s)
    if stale and paused_since is None:
        yield _problem("stuck messages", stale, "hermes-bot trace ID tells where it waits, and for what")
    else:
        yield _ok("stuck messages", "none")
    dead = sum(count for (_, state), count in (await bus.counts()).items() if state in DEAD_LETTERS)
    if dead:
        yield _problem("dead letters", f"{dead} wait for a person", "hermes-bot dead list, then replay or drop them")
    else:
        yield _ok("dead letters", "none")


async def _slack(settings: Settings, _clock: Clock) -> AsyncIterator[Finding]:
    if settings.mode is Mode.WORKSPACE:
        yield _ok("slack", "no token: the local workspace is used")
        return
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=LIMIT_S)) as session:
        access = settings.access
        api = SlackApi(web_client(secret(access.bot_token), access.api_url, session))
        try:
            told = await api.call("auth.test")
        except HermesError as error:
            yield _problem("slack", str(error), "check SLACK_BOT_TOKEN and the way to Slack")
            return
    yield _ok("slack", f"{told.get('user')} in {told.get('team')}, {settings.mode.value}")


async def _running(settings: Settings, _clock: Clock) -> AsyncIterator[Finding]:
    if not settings.http.port:
        return
    url = f"http://{settings.http.host}:{settings.http.port}/readyz"
    try:
        async with aiohttp.ClientSession() as session, session.get(url, allow_redirects=False) as answer:
            told = await answer.json()
            ready, reason = bool(told.get("ok")), str(told.get("reason", ""))
    except (aiohttp.ClientError, ValueError, AttributeError):
        yield _note("bot", f"nobody of ours answers at {url}", REMEDY_RUN)
        return
    yield _ok("bot", f"runs and is ready, {url}") if ready else _problem("bot", f"runs and is not ready: {reason}")


async def _spans(settings: Settings, _clock: Clock) -> AsyncIterator[Finding]:
    endpoint = settings.observe.otlp_endpoint
    if not endpoint:
        return
    address = urlsplit(endpoint)
    port = address.port or (443 if address.scheme == "https" else 80)
    place = f"{address.scheme}://{address.hostname}:{port}"
    try:
        _, writer = await asyncio.open_connection(address.hostname, port)
        writer.close()
    except OSError as error:
        yield _problem("spans", f"{place} cannot be reached: {error.strerror}", "check observe.otlp_endpoint")
        return
    yield _ok("spans", place)


CHECKS: dict[str, Check] = {
    "data": _data,
    "store": _store,
    "orders": _orders,
    "routes": _routes,
    "bus": _bus,
    "slack": _slack,
    "spans": _spans,
    "bot": _running,
}


def _ok(check: str, text: str) -> Finding:
    return Finding(check=check, level=Level.OK, text=text)


def _note(check: str, text: str, remedy: str = "") -> Finding:
    return Finding(check=check, level=Level.NOTE, text=text, remedy=remedy)


def _problem(check: str, text: str, remedy: str = "") -> Finding:
    return Finding(check=check, level=Level.PROBLEM, text=text, remedy=remedy)


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[Database]:
    database = Database(url)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


def _tables(connection: Connection) -> frozenset[str]:
    return frozenset(inspect(connection).get_table_names())


def _fault_in(file: Path) -> str:
    """Return what SQLite finds wrong with the file, empty when nothing is."""
    try:
        with as_store_error(file), closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            (told,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except StoreError as error:
        return str(error)
    return "" if told == "ok" else str(told)
