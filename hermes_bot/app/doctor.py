"""Looks at everything that Hermes needs and keeps, changes nothing, and says what is wrong and what to do about it."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
from sqlalchemy import Connection, inspect

from hermes_bot.app import slack_doctor, tool_doctor
from hermes_bot.app.build import Clock, bus_file
from hermes_bot.app.bus_view import BusView
from hermes_bot.app.finding import Finding, note, ok, problem
from hermes_bot.app.health import stale_deliveries, told_stale
from hermes_bot.app.offline import bus_view
from hermes_bot.bus.port import DEAD_LETTERS
from hermes_bot.bus.schema import as_store_error
from hermes_bot.errors import HermesError, StoreError
from hermes_bot.settings import Settings
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
REMEDY_NOT_READY = "its log, hermes.log in the data folder, tells more"
REMEDY_RUN = "hermes-bot run starts it (on another port: set HERMES_HTTP__PORT here too)"


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
        found.append(problem(name, f"no answer within {LIMIT_S:g} s", REMEDIES.get(name, "")))
    except (HermesError, OSError) as error:
        found.append(problem(name, str(error), REMEDIES.get(name, "")))
    return found


async def _data(settings: Settings, _clock: Clock) -> AsyncIterator[Finding]:
    folder = settings.data.path
    if not folder.is_dir():
        yield note("data", f"{folder} does not exist yet", "it is made at the first start")
        return
    free = shutil.disk_usage(folder).free
    told = f"{folder}, {free / 1e9:.1f} GB free"
    if free < TOO_LITTLE_BYTES:
        yield problem("data", told, "make room: without it nothing can be taken in")
    elif free < LITTLE_BYTES:
        yield note("data", told, "make room soon")
    else:
        yield ok("data", told)


async def _store(settings: Settings, _clock: Clock) -> AsyncIterator[Finding]:
    if Database(settings.store_url).missing:
        yield note("store", "there is no database yet", "it is made at the first start")
        return
    async with _opened(settings.store_url) as database:
        current, newest = await revisions(database)
    if current == newest:
        yield ok("store", f"{database.shown_url}, schema {current}")
    else:
        text = f"{database.shown_url} has schema {current or 'none'}, this program's is {newest}"
        yield note("store", text, "the next start of the bot brings it up to date")


async def _orders(settings: Settings, _clock: Clock) -> AsyncIterator[Finding]:
    if Database(settings.orders_url).missing:
        if settings.demo_shop:
            yield note("orders", "there is no order book yet", "the demo shop is made at the first start")
        else:
            yield problem("orders", f"{settings.orders_url} does not exist", REMEDY_ORDERS)
        return
    async with _opened(settings.orders_url) as database:
        tables = await database.run(_tables)
    missing = ", ".join(sorted(shop.tables.keys() - tables))
    if missing:
        yield problem("orders", f"{database.shown_url} has no {missing}", REMEDY_ORDERS)
    else:
        yield ok("orders", database.shown_url)


async def _routes(settings: Settings, _clock: Clock) -> AsyncIterator[Finding]:
    table = await asyncio.to_thread(load_table, settings.routing.file)
    yield ok("routes", f"{settings.routing.file}, {len(table.routes)} routes")


async def _bus(settings: Settings, clock: Clock) -> AsyncIterator[Finding]:
    if settings.bus.backend == "memory":
        yield note("bus", "memory: messages are lost with the process", "set bus.backend: sqlite")
        return
    if settings.bus.backend == "sqlite":
        file = bus_file(settings)
        if not file.is_file():
            yield note("bus", "there is no bus database yet", "it is made at the first start")
            return
        fault = await asyncio.to_thread(_fault_in, file)
        if fault:
            remedy = "stop the bot, restore the file from a backup or move it away: a new one is made at the start"
            yield problem("bus", f"{file} is damaged: {fault}", remedy)
            return
    async with AsyncExitStack() as done:
        bus = bus_view(settings, done)
        yield ok("bus", f"{settings.bus.backend}, {sum((await bus.counts()).values())} deliveries kept")
        async for finding in _messages(bus, settings, clock):
            yield finding


async def _messages(bus: BusView, settings: Settings, clock: Clock) -> AsyncIterator[Finding]:
    paused_since = await bus.paused_since()
    if paused_since is not None:
        text = f"nothing is executed or posted since {paused_since.astimezone():%Y-%m-%d %H:%M:%S}"
        yield note("pause", text, "hermes-bot resume")
    stale_after_s = settings.bus.stale_after_s
    stale = told_stale(await stale_deliveries(bus, stale_after_s, clock()), stale_after_s)
    if stale and paused_since is None:
        yield problem("stuck messages", stale, "hermes-bot trace ID tells where it waits, and for what")
    else:
        yield ok("stuck messages", "none")
    dead = sum(count for (_, state), count in (await bus.counts()).items() if state in DEAD_LETTERS)
    if dead:
        yield problem("dead letters", f"{dead} wait for a person", "hermes-bot dead list, then replay or drop them")
    else:
        yield ok("dead letters", "none")


async def _running(settings: Settings, _clock: Clock) -> AsyncIterator[Finding]:
    if not settings.http.port:
        return
    url = f"http://{settings.http.host}:{settings.http.port}/readyz"
    try:
        async with aiohttp.ClientSession() as session, session.get(url, allow_redirects=False) as answer:
            told = await answer.json()
            ready, reason = bool(told.get("ok")), str(told.get("reason", ""))
    except (aiohttp.ClientError, ValueError, AttributeError):
        yield note("bot", f"nobody of ours answers at {url}", REMEDY_RUN)
        return
    yield (
        ok("bot", f"runs and is ready, {url}")
        if ready
        else problem("bot", f"runs and is not ready: {reason}", REMEDY_NOT_READY)
    )


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
        yield problem("spans", f"{place} cannot be reached: {error.strerror}", "check observe.otlp_endpoint")
        return
    yield ok("spans", place)


CHECKS: dict[str, Check] = {
    "data": _data,
    "store": _store,
    "orders": _orders,
    "routes": _routes,
    "bus": _bus,
    "connectors": tool_doctor.connectors,
    "calls": tool_doctor.calls,
    "slack": slack_doctor.slack,
    "spans": _spans,
    "bot": _running,
}


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
