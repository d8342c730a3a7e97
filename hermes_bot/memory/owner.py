"""Whose a fact is, where it came from, and which of both go together: the wall between one owner and the next.

What a customer said can become a fact of that customer and of nobody else. The types say so (`Memory.remember` takes a
person's fact with a person's source only), and `check_source` says it again while the program runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hermes_bot.errors import PermanentError
from hermes_bot.people import Roles

_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,79}")


@dataclass(frozen=True, slots=True)
class PersonOwner:
    """One person in Slack, by team and user id."""

    team: str
    user: str

    def __post_init__(self) -> None:
        if not self.user:
            raise PermanentError("a person without a user id owns nothing")


@dataclass(frozen=True, slots=True)
class AgentOwner:
    """An agent: what it knows of its own errors."""

    name: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise PermanentError(f"{self.name!r} is not an agent's name")


@dataclass(frozen=True, slots=True)
class Shop:
    """The shop: its conventions, which hold for everybody."""


Owner = PersonOwner | AgentOwner | Shop

SHOP = Shop()


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The person `by` wrote it, in the message `message_id` of the ticket."""

    by: PersonOwner
    ticket_id: str = ""
    message_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluded:
    """An agent concluded it about the person whose ticket it was: a decision, a result, a summary."""

    about: PersonOwner
    agent: str
    ticket_id: str = ""
    message_id: str = ""


class StaffAuthority:
    """Proof that somebody of the staff stands behind a sentence; only `authority_of` and `operator_here` give it."""

    __slots__ = ("by",)
    _key = object()

    def __init__(self, by: str, key: object) -> None:
        if key is not StaffAuthority._key:
            raise PermanentError("a staff authority is given by authority_of, and not made")
        self.by = by


async def authority_of(roles: Roles, staff: Sequence[str], team: str, user: str) -> StaffAuthority | None:
    """Return the authority of a member of staff, None for everybody else; raise TransientError when nobody can say."""
    if not await roles.includes(staff, team, user):
        return None
    return StaffAuthority(f"{team}:{user}", StaffAuthority._key)


def operator_here(name: str) -> StaffAuthority:
    """Return the authority of whoever may run commands on this machine; for commands alone."""
    return StaffAuthority(f"command:{name}", StaffAuthority._key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taught:
    """Somebody of the staff wrote it; `reference` says where."""

    authority: StaffAuthority
    reference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownError:
    """What an agent met: a tool and a code, both names of ours and never anybody's words."""

    tool: str
    code: str

    def __post_init__(self) -> None:
        for name in (self.tool, self.code):
            if not _NAME.fullmatch(name):
                raise PermanentError(f"{name[:80]!r} is not a name: an agent's error holds no free text")

    @property
    def text(self) -> str:
        """The error in words."""
        return f"The tool {self.tool} answered with {self.code}."


Source = Said | Concluded | Taught | KnownError


def check_source(owner: Owner, source: Source) -> None:
    """Raise PermanentError unless what comes from `source` may become a fact of `owner`."""
    match owner, source:
        case PersonOwner(), Said(by=person) | Concluded(about=person) if person == owner:
            return
        case Shop(), Taught():
            return
        case AgentOwner(), Taught() | KnownError():
            return
    raise PermanentError(f"{type(source).__name__} cannot become a fact of {key_of(owner)[0]}")


def key_of(owner: Owner) -> tuple[str, str, str]:
    """Return the owner as the store keeps it: kind, team, id."""
    match owner:
        case PersonOwner(team=team, user=user):
            return "person", team, user
        case AgentOwner(name=name):
            return "agent", "", name
        case Shop():
            return "shop", "", ""
