"""What was posted where: the durable record that keeps a post from being sent twice, and finds a card again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from hermes_bot.store.database import Database
from hermes_bot.store.tables import posts


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A message of ours in Slack; `key` says which."""

    key: str
    channel: str
    ts: str


class Posts:
    """Posts by key. Every method is one transaction and may be repeated."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def find(self, key: str) -> Post | None:
        """Return the post with this key, None when none was recorded."""
        wanted = select(posts).where(posts.c.key == key)

        def work(connection: Connection) -> Post | None:
            row = connection.execute(wanted).first()
            return None if row is None else Post(key=row.key, channel=row.channel, ts=row.ts)

        return await self._database.run(work)

    async def is_known(self, post: Post) -> bool:
        """Return whether the message was recorded, under whatever key."""
        there = select(posts.c.key).where(posts.c.channel == post.channel, posts.c.ts == post.ts).limit(1)
        return await self._database.run(lambda connection: connection.execute(there).first() is not None)

    async def record(self, post: Post) -> None:
        """Remember the post; one that was remembered for the key before is replaced."""
        row = {"key": post.key, "channel": post.channel, "ts": post.ts, "posted_at": self._clock()}

        def work(connection: Connection) -> None:
            connection.execute(delete(posts).where(posts.c.key == post.key))
            connection.execute(insert(posts).values(**row))

        await self._database.run(work)

    async def forget(self, key: str) -> None:
        """Know nothing of a post with this key any more."""
        await self._database.run(lambda connection: connection.execute(delete(posts).where(posts.c.key == key)))
