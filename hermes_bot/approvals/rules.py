"""Who may allow what, how many of them it takes, and where the card belongs: `approvals.rules` of the settings.

The most specific rule that fits decides alone; what it does not say comes from `approvals.*`. See docs/approvals.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ANY_TOOL = "*"
ONE_IS_ENOUGH = frozenset({"L0", "L1", "L2"})
THREAD = "thread"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRule:
    """One entry of `approvals.rules`. No `approvers` or `channel`: those of `approvals`. No `currency`: any."""

    tool: str = ANY_TOOL
    from_cents: int = 0
    currency: str = ""
    needed: int = 1
    approvers: tuple[str, ...] = ()
    channel: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """Who decides about one request: `needed` different people out of `approvers` (U… and S… ids)."""

    approvers: tuple[str, ...]
    needed: int
    channel: str


class ApprovalRules:
    """The rules with what holds where they say nothing. `channel` is `thread` or a channel's id."""

    def __init__(
        self,
        rules: Sequence[ApprovalRule] = (),
        *,
        approvers: Sequence[str] = (),
        allow_requester: bool = False,
        channel: str = THREAD,
    ) -> None:
        self.rules = tuple(rules)
        self.approvers = tuple(approvers)
        self.allow_requester = allow_requester
        self.channel = channel or THREAD

    def authority(self, tool: str, level: str, arguments: Mapping[str, Any]) -> Authority:
        """Return who decides about this call. L3, and a level that nobody knows, takes two people at least."""
        rule = self._rule(tool, *amount_of(arguments))
        least = 1 if level in ONE_IS_ENOUGH else 2
        return Authority(
            approvers=rule.approvers or self.approvers,
            needed=max(rule.needed, least),
            channel=rule.channel or self.channel,
        )

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels that cards are sent to, as they are named; the ticket's thread is none of them."""
        named = dict.fromkeys([self.channel, *(rule.channel for rule in self.rules)])
        return tuple(name for name in named if name not in ("", THREAD))

    def _rule(self, tool: str, cents: int | None, currency: str) -> ApprovalRule:
        fitting = [rule for rule in self.rules if _fits(rule, tool, cents, currency)]
        return max(fitting, key=_specificity, default=ApprovalRule())


def amount_of(arguments: Mapping[str, Any]) -> tuple[int | None, str]:
    """Return the amount in cents, None where the call names none, and its currency, empty where that is not known."""
    cents, currency = arguments.get("amount_cents"), arguments.get("currency")
    known = cents if isinstance(cents, int) and not isinstance(cents, bool) else None
    return known, currency.strip().upper() if isinstance(currency, str) else ""


def _fits(rule: ApprovalRule, tool: str, cents: int | None, currency: str) -> bool:
    """Return whether the rule is about this call; an amount or a currency that is not known counts as one that is."""
    if rule.tool not in (ANY_TOOL, tool):
        return False
    if rule.currency and currency and rule.currency != currency:
        return False
    if cents is None:
        return not rule.from_cents or rule.tool == tool
    return cents >= rule.from_cents


def _specificity(rule: ApprovalRule) -> tuple[bool, bool, int]:
    return rule.tool != ANY_TOOL, bool(rule.currency), rule.from_cents
