"""Who somebody is to us when they give a command or look at Home: their roles, and the language of our answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hermes_bot.errors import PermanentError
from hermes_bot.people import Directory, Person, Roles
from hermes_bot.store.preferences import Preferences


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One person. `stranger`: of another company, or somebody of whom Slack tells nothing. Nobody else holds a role."""

    user: str
    team: str
    language: str = "en"
    chosen: str = ""
    stranger: bool = False
    staff: bool = False
    admin: bool = False
    approver: bool = False


class Standings:
    """Looks people up as of now. Who holds a role is asked of Slack each time; see `Roles`."""

    def __init__(
        self,
        directory: Directory,
        preferences: Preferences,
        *,
        team: str,
        staff: Sequence[str],
        admins: Sequence[str],
        approvers: Sequence[str],
    ) -> None:
        self._directory = directory
        self._preferences = preferences
        self._roles = Roles(directory, team=team)
        self._team = team
        self._members = {"staff": tuple(staff), "admin": tuple(admins), "approver": tuple(approvers)}

    async def of(self, team: str, user: str) -> Standing:
        """Return who that is; raise TransientError when Slack does not answer."""
        try:
            person = await self._directory.person(team or self._team, user)
        except PermanentError:
            person = None
        chosen = await self._preferences.language(self._team, user)
        language = chosen or _language(person)
        if person is None or self._strange(person, team):
            return Standing(user=user, team=team, language=language, chosen=chosen, stranger=True)
        held = {role: await self._roles.includes(members, team, user) for role, members in self._members.items()}
        return Standing(user=user, team=self._team, language=language, chosen=chosen, **held)

    def _strange(self, person: Person, team: str) -> bool:
        elsewhere = person.team != self._team or (bool(team) and team != self._team)
        return elsewhere or person.stranger or person.deactivated or person.bot


def _language(person: Person | None) -> str:
    return "zh" if person is not None and person.locale.lower().startswith("zh") else "en"
