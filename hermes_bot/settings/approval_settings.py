"""`approvals` of the settings: who may allow what, and what is wrong with the rules for it."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from pydantic import Field, Strict

from hermes_bot.settings.checked import PointAt
from hermes_bot.settings.problems import Problem
from hermes_bot.settings.section import Seconds, Section, Words

MOST_PEOPLE = 10
ANY_TOOL = "*"


class ApprovalRuleSettings(Section):
    """One of `approvals.rules`. What it leaves out comes from `approvals`; the most specific that fits decides alone.

    `tool` is `*` for every one. A rule without `currency` counts for each; `from_cents` is the least amount.
    """

    tool: Annotated[str, Field(min_length=1, max_length=120)] = ANY_TOOL
    from_cents: Annotated[int, Field(ge=0)] = 0
    currency: Annotated[str, Field(pattern=r"^([A-Z]{3})?$")] = ""
    needed: Annotated[int, Field(ge=1, le=MOST_PEOPLE)] = 1
    approvers: Words = ()
    channel: str = ""


class ApprovalSettings(Section):
    """`approvals`: who may allow a privileged action, for how long they are asked, and where the card is posted."""

    approvers: Words = ()
    rules: Annotated[tuple[ApprovalRuleSettings, ...], Strict(strict=False)] = ()
    expires_after_s: Seconds = 86_400.0
    remind_before_s: Annotated[float, Field(ge=0, le=1_000_000_000)] = 3_600.0
    allow_requester: bool = False
    channel: str = "thread"

    @property
    def everyone(self) -> tuple[str, ...]:
        """The ids of all who may approve anything."""
        named = (*self.approvers, *(each for rule in self.rules for each in rule.approvers))
        return tuple(dict.fromkeys(named))


def check_rules(approvals: ApprovalSettings, point_at: PointAt) -> list[Problem]:
    """Return the rules that say the same thing twice, and those that nobody could ever satisfy."""
    problems = []
    seen = Counter[tuple[str, int, str]]()
    for number, rule in enumerate(approvals.rules):
        path = ("approvals", "rules", number)
        what = (rule.tool, rule.from_cents, rule.currency)
        seen[what] += 1
        if seen[what] > 1:
            text = f"approvals.rules[{number}] is about the same tool, amount and currency as one before; keep one"
            problems.append(point_at(path, text))
        named = dict.fromkeys(rule.approvers or approvals.approvers)
        groups = [each for each in named if each.startswith("S")]
        if named and not groups and len(named) < rule.needed:
            text = f"approvals.rules[{number}].needed is {rule.needed}, but only {len(named)} may approve it; name more"
            problems.append(point_at((*path, "needed"), text))
    return problems
