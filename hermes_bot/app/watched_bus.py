"""The bus as the bot runs it, with the limits, journal, metrics and alarms of the defaults, and no bot around it.

For benches and for tests under load: they measure what runs, not what is bare.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from hermes_bot.app.build import build_bus
from hermes_bot.app.watch import Watch
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import Backend
from hermes_bot.bus.redis_backend import RedisBackend
from hermes_bot.bus.sqlite import SqliteBackend
from hermes_bot.errors import SettingsError
from hermes_bot.messages.message import utc_now
from hermes_bot.settings import Settings
from hermes_bot.settings.models import DataSettings
from hermes_bot.store.database import Database
from hermes_bot.store.schema import migrate

STOP_LIMIT_S = 10.0


@asynccontextmanager
async def watched_bus(
    kind: str, folder: Path, *, url: str = "", prefix: str = "hermes", journal: bool = True
) -> AsyncIterator[Bus]:
    """Give a bus of that kind (memory, sqlite, redis), not started; its files lie in `folder`.

    Without `journal` nothing is reported: that shows what reports cost.
    """
    settings = Settings(data=DataSettings(path=folder))
    async with AsyncExitStack() as parts:
        database = Database(settings.store_url)
        await database.open()
        parts.push_async_callback(database.close)
        await migrate(database)
        watch = Watch(settings, database, utc_now)
        backend = _backend(kind, folder, url, prefix)
        bus = build_bus(settings, backend, watch, utc_now) if journal else Bus(backend)
        parts.push_async_callback(watch.stop)
        await watch.start(bus.publish)
        parts.push_async_callback(bus.stop, STOP_LIMIT_S)
        yield bus


def _backend(kind: str, folder: Path, url: str, prefix: str) -> Backend:
    if kind == "memory":
        return MemoryBackend()
    if kind == "sqlite":
        return SqliteBackend(folder / "bus.db")
    if kind == "redis":
        return RedisBackend(url, prefix=prefix)
    raise SettingsError(f"there is no backend {kind!r}; choose memory, sqlite or redis")
