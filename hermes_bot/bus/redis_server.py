"""Whether a redis server can carry the bus: its version, what it does when memory runs out, what is kept there."""

from __future__ import annotations

import asyncio
import logging

import msgspec
from redis import exceptions
from redis.asyncio.connection import AbstractConnection

from hermes_bot.bus.redis_link import UNREACHABLE, Address, connect, invoke
from hermes_bot.errors import StoreError

OLDEST = (7, 0)
VERSION = 1
"""Of what is kept in redis; redis_records.lua writes it into a new bus."""

logger = logging.getLogger(__name__)


async def check_server(address: Address) -> None:
    """Raise StoreError unless the bus can be used; warn where a restart of redis would lose it."""
    connection = address.connection()
    try:
        await connect(connection)
        async with asyncio.timeout(address.answer_limit_s):
            await connection.send_command("INFO")
            about = _fields(await connection.read_response())
            _check(about, address)
            await _check_version(connection, address)
    except (*UNREACHABLE, exceptions.RedisError) as error:
        raise StoreError(f"redis at {address.shown} cannot be used: {error}") from error
    finally:
        await connection.disconnect(nowait=True)


def _fields(info: bytes) -> dict[str, str]:
    pairs = (line.partition(":") for line in info.decode().splitlines())
    return {name: value for name, _, value in pairs}


def _check(about: dict[str, str], address: Address) -> None:
    version = about.get("redis_version", "0.0")
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        raise StoreError(f"redis at {address.shown} is version {version}; the bus needs 7.0 or newer")
    policy = about.get("maxmemory_policy", "noeviction")
    if policy.startswith("allkeys"):
        raise StoreError(
            f"redis at {address.shown} throws keys away when memory is short (maxmemory-policy {policy}), which would"
            " lose messages; set maxmemory-policy to noeviction"
        )
    if about.get("aof_enabled", "1") == "0":
        logger.warning(
            "redis keeps no append-only file: when it restarts, messages are lost; set appendonly yes",
            extra={"server": address.shown},
        )


async def _check_version(connection: AbstractConnection, address: Address) -> None:
    operations = msgspec.msgpack.encode([["open"]])
    results, _ = await invoke(connection, "work", address.key, "", "", "", operations)
    version = int(results[0])
    if version > VERSION:
        raise StoreError(
            f"the bus {address.prefix!r} at {address.shown} has version {version}, this program knows {VERSION}:"
            " install a newer program"
        )
