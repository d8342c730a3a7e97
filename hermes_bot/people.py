"""Who somebody is: the port through which everything below the edge asks Slack about people.

The edge implements `Directory`; tests use the local workspace through it. Roles are decided here, closed on doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hermes_bot.errors import PermanentError, TransientError

MOST_NAMES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A Slack user as of the look-up. The key is (team, id). `email` is empty where Slack does not show one."""

    team: str
    id: str
    name: str
    email: str = ""
    locale: str = ""
    bot: bool = False
    deactivated: bool = False
    guest: bool = False
    stranger: bool = False

    def works_in(self, team: str) -> bool:
        """Return whether the person is a full, active member of the team, and no guest of it."""
        outsider = self.team != team or self.stranger or self.guest
        return not (outsider or self.deactivated or self.bot)


class Directory(Protocol):
    """Looks people up in Slack. Both raise TransientError when Slack does not answer."""

    async def person(self, team: str, user: str, *, fresh: bool = False) -> Person:
        """Return the person; `fresh` skips the cache. Raise PermanentError for an unknown id."""
        ...

    async def group_members(self, group: str) -> frozenset[str]:
        """Return the user ids in a user group, looked up now. Raise PermanentError for an unknown id."""
        ...


class Roles:
    """Decides whether a person holds a role that is given as a list of user (U…) and user group (S…) ids."""

    def __init__(self, directory: Directory, *, team: str) -> None:
        self._directory = directory
        self._team = team

    async def includes(self, members: Sequence[str], team: str, user: str) -> bool:
        """Return whether `user` is listed, or in a listed group, and is a full, active member of our own team.

        Raise TransientError when Slack does not answer: the caller must treat that as "no".
        """
        if not user or (team and team != self._team) or not members:
            return False
        if user not in members and not await self._in_a_group(members, user):
            return False
        try:
            person = await self._directory.person(self._team, user, fresh=True)
        except PermanentError:
            return False
        return person.works_in(self._team)

    async def names(self, members: Sequence[str], *, but: str = "") -> str:
        """Return who of those listed holds the role, in words, for people to read; the first of many, and not `but`.

        Who cannot be looked up is left out, and so is who may not act, such as a guest.
        """
        people = [each for each in members if not each.startswith("S")]
        found: list[str] = []
        everyone = list(dict.fromkeys([*people, *await self._members_of_groups(members)]))
        everyone = [user for user in everyone if user != but]
        for place, user in enumerate(everyone):
            if len(found) == MOST_NAMES:
                return f"{', '.join(found)} and {len(everyone) - place} more"
            try:
                person = await self._directory.person(self._team, user)
            except (PermanentError, TransientError):
                continue
            found += [person.name] if person.works_in(self._team) else []
        return ", ".join(found)

    async def _members_of_groups(self, members: Sequence[str]) -> list[str]:
        found: list[str] = []
        for group in (member for member in members if member.startswith("S")):
            try:
                found += sorted(await self._directory.group_members(group))
            except (PermanentError, TransientError):
                continue
        return found

    async def _in_a_group(self, members: Sequence[str], user: str) -> bool:
        for group in (member for member in members if member.startswith("S")):
            try:
                if user in await self._directory.group_members(group):
                    return True
            except PermanentError:
                continue
        return False
