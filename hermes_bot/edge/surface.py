"""What commands, shortcuts and Home read beside the desk: the parts that are built where the whole bot is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from hermes_bot.store.preferences import Preferences
from hermes_bot.tickets.overview import Overview
from hermes_bot.triage.proposal import Proposal


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """`staff`, `admins` and `approvers` are user and user group ids.

    `explain` says which agent would get a text and why, `facts` what is known of a person (team, user), `trouble` what
    is wrong with the bot, empty when nothing is, `proposals` which changes of the routes wait for an admin.
    """

    preferences: Preferences
    overview: Overview
    explain: Callable[[str], Awaitable[str]]
    facts: Callable[[str, str], Awaitable[Sequence[str]]]
    trouble: Callable[[], Awaitable[str]]
    proposals: Callable[[], Awaitable[Sequence[Proposal]]]
    staff: Sequence[str] = ()
    admins: Sequence[str] = ()
    approvers: Sequence[str] = ()
