"""People and user groups as Slack knows them: the edge's `Directory`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.people import Person

KEPT_FOR = timedelta(seconds=60)
KEPT_PEOPLE = 5_000
NAME_CHARACTERS = 100


class SlackDirectory:
    """Looks people up with users.info, kept for a minute, and user groups with usergroups.users.list, never kept."""

    def __init__(self, api: SlackApi, *, clock: Callable[[], datetime]) -> None:
        self._api = api
        self._clock = clock
        self._people: dict[tuple[str, str], tuple[datetime, Person]] = {}

    async def person(self, team: str, user: str, *, fresh: bool = False) -> Person:
        """Return the person; `fresh` asks Slack in any case. Raise SlackRefused (permanent) for an unknown id."""
        kept = self._people.get((team, user))
        if kept is not None and not fresh and self._clock() - kept[0] < KEPT_FOR:
            return kept[1]
        answer = await self._api.call("users.info", user=user, include_locale=True)
        person = _person(answer.get("user") or {}, team, user)
        if len(self._people) >= KEPT_PEOPLE:
            self._people.clear()
        self._people[team, user] = (self._clock(), person)
        return person

    async def group_members(self, group: str) -> frozenset[str]:
        """Return the user ids in the group, asked now. Raise SlackRefused (permanent) for an unknown id."""
        answer = await self._api.call("usergroups.users.list", usergroup=group)
        return frozenset(str(user) for user in answer.get("users") or ())


def _person(raw: dict[str, Any], team: str, user: str) -> Person:
    """Return the person. An address that its owner has not confirmed yet is none: it would open somebody's orders.

    Somebody of an enterprise may be of several of its teams: of `team` as well, where it is among them.
    """
    profile = raw.get("profile") or {}
    of_teams = (raw.get("enterprise_user") or {}).get("teams") or ()
    name = profile.get("real_name") or raw.get("real_name") or profile.get("display_name") or raw.get("name") or user
    return Person(
        team=team if team in of_teams else str(raw.get("team_id") or team),
        id=str(raw.get("id") or user),
        name=" ".join(str(name).split())[:NAME_CHARACTERS],
        email="" if raw.get("is_email_confirmed") is False else str(profile.get("email") or ""),
        locale=str(raw.get("locale") or ""),
        bot=bool(raw.get("is_bot")),
        deactivated=bool(raw.get("deleted")),
        guest=bool(raw.get("is_restricted") or raw.get("is_ultra_restricted")),
        stranger=bool(raw.get("is_stranger")),
    )
