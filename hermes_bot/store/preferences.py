"""What people chose for themselves: the language of their answers; and whether they ever looked at the app's Home."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, insert, select, update

from hermes_bot.store.database import Database
from hermes_bot.store.tables import preferences


class Preferences:
    """By team and user. Every method is one transaction and may be repeated."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def language(self, team: str, user: str) -> str:
        """Return the language that the person chose, empty where they chose none."""
        wanted = select(preferences.c.language).where(*_of(team, user))
        return await self._database.run(lambda connection: str(connection.scalar(wanted) or ""))

    async def look_at_home(self, team: str, users: Iterable[str]) -> frozenset[str]:
        """Return which of the people ever opened the app's Home."""
        wanted = select(preferences.c.user).where(
            preferences.c.team == team, preferences.c.user.in_(sorted(users)), preferences.c.home
        )
        return await self._database.run(lambda connection: frozenset(connection.scalars(wanted)))

    async def choose_language(self, team: str, user: str, language: str) -> None:
        """Keep the language; an empty one takes the choice back."""
        await self._set(team, user, language=language)

    async def opened_home(self, team: str, user: str) -> None:
        """Keep that the person looks at Home."""
        await self._set(team, user, home=True)

    async def _set(self, team: str, user: str, **values: Any) -> None:
        def work(connection: Connection) -> None:
            known = connection.execute(select(preferences.c.user).where(*_of(team, user))).first()
            if known is None:
                connection.execute(insert(preferences).values(team=team, user=user, **values))
            else:
                connection.execute(update(preferences).where(*_of(team, user)).values(**values))

        await self._database.run(work)


def _of(team: str, user: str) -> tuple[Any, Any]:
    return preferences.c.team == team, preferences.c.user == user
