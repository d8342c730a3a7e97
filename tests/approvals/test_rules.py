"""Who decides, by tool and amount: the most specific rule, and closed where something is not known."""

from typing import Any

import pytest

from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.approvals.rules import ApprovalRule, ApprovalRules
from tests.approvals.kit import ADA, OLIVIA, OMAR, People, access_for, ask, click, press, whispers

RULES = ApprovalRules(
    [
        ApprovalRule(tool="*", channel="C0ANY"),
        ApprovalRule(tool="issue_refund", from_cents=10_000, needed=2, approvers=("U1",), channel="C0MONEY"),
        ApprovalRule(tool="issue_refund", from_cents=10_000, currency="JPY", approvers=("U2",)),
        ApprovalRule(tool="issue_refund", from_cents=50_000, needed=3, approvers=("U3",)),
    ],
    approvers=("U0",),
)


@pytest.mark.parametrize(
    "tool, arguments, expected",
    [
        ("cancel_order", {}, (("U0",), 1, "C0ANY")),
        ("issue_refund", {"amount_cents": 9_999, "currency": "EUR"}, (("U0",), 1, "C0ANY")),
        ("issue_refund", {"amount_cents": 10_000, "currency": "EUR"}, (("U1",), 2, "C0MONEY")),
        ("issue_refund", {"amount_cents": 50_000, "currency": "EUR"}, (("U3",), 3, "thread")),
        ("issue_refund", {"amount_cents": 50_000, "currency": "JPY"}, (("U2",), 1, "thread")),
        ("issue_refund", {"amount_cents": 9_999, "currency": "JPY"}, (("U0",), 1, "C0ANY")),
        ("issue_refund", {"amount_cents": 10_000}, (("U2",), 1, "thread")),
        ("issue_refund", {}, (("U2",), 1, "thread")),
        ("issue_refund", {"amount_cents": True}, (("U2",), 1, "thread")),
    ],
)
def test_the_most_specific_rule_decides_alone(tool: str, arguments: dict[str, Any], expected: Any) -> None:
    authority = RULES.authority(tool, "L2", arguments)

    assert (authority.approvers, authority.needed, authority.channel) == expected


def test_no_rule_makes_level_three_easier() -> None:
    rules = ApprovalRules([ApprovalRule(tool="drop_all", needed=1)], approvers=("U0",))

    assert rules.authority("drop_all", "L3", {}).needed == 2
    assert rules.authority("drop_all", "", {}).needed == 2


async def test_who_may_approve_small_amounts_may_not_approve_large_ones(approvals: Approvals, people: People) -> None:
    rules = ApprovalRules(
        [ApprovalRule(tool="issue_refund", from_cents=5_000, approvers=(OLIVIA, ADA))], approvers=(OMAR,)
    )
    desk = ApprovalDesk(approvals, access_for(people, rules))
    large = await ask(approvals, arguments={"amount_cents": 5_000, "currency": "EUR"})
    refused = await press(desk, click(large, OMAR))
    await press(desk, click(large, ADA))

    assert whispers(refused) == ["Nothing was done: this can be decided only by Olivia, Ada."]
    assert not (await approvals.get(large.id)).pending
