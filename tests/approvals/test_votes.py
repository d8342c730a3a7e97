"""Where one yes is not enough: different people, counted in place, and nobody twice."""

import asyncio

from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.approvals.request import ApprovalStatus
from hermes_bot.approvals.rules import ApprovalRule, ApprovalRules
from hermes_bot.store.database import Database
from tests.approvals.kit import (
    ADA,
    OLIVIA,
    OMAR,
    Clock,
    People,
    access_for,
    approvals_in,
    ask,
    click,
    desk_for,
    press,
    resumed,
    whispers,
)


async def test_level_three_takes_two_different_people(desk: ApprovalDesk, approvals: Approvals) -> None:
    request = await ask(approvals, level="L3")
    first = await press(desk, click(request, OMAR))
    between = await approvals.get(request.id)
    second = await press(desk, click(request, OLIVIA))

    assert request.needed == 2
    assert [(each.type, each.recipient) for each in first] == [("approval.changed", "slack")]
    assert ([vote.user for vote in between.votes], between.pending) == ([OMAR], True)
    assert len(resumed(second)) == 1
    assert (await approvals.get(request.id)).status is ApprovalStatus.APPROVED


async def test_a_level_that_nobody_knows_takes_two_people(approvals: Approvals) -> None:
    assert (await ask(approvals, level="L9")).needed == 2


async def test_the_same_person_counts_once_and_hears_so(desk: ApprovalDesk, approvals: Approvals) -> None:
    request = await ask(approvals, level="L3")
    await press(desk, click(request, OMAR))
    again = await press(desk, click(request, OMAR))

    assert whispers(again) == ["You have approved this already; it takes 1 more, by somebody else."]
    assert (await approvals.get(request.id)).pending


async def test_the_same_click_delivered_again_counts_once_and_says_the_same(
    desk: ApprovalDesk, approvals: Approvals
) -> None:
    request = await ask(approvals, level="L3")
    pressed = click(request, OMAR)
    first, again = await press(desk, pressed), await press(desk, pressed)

    assert [each.data for each in first] == [each.data for each in again]
    assert len((await approvals.get(request.id)).votes) == 1


async def test_a_click_that_counted_says_the_same_after_the_request_was_settled(
    desk: ApprovalDesk, approvals: Approvals
) -> None:
    request = await ask(approvals, level="L3")
    pressed = click(request, OMAR)
    first = await press(desk, pressed)
    await press(desk, click(request, OLIVIA))

    again = await press(desk, pressed)

    assert [each.type for each in again] == [each.type for each in first]


async def test_racing_votes_settle_once_with_the_number_that_is_needed(
    either: Database, clock: Clock, people: People
) -> None:
    approvals = approvals_in(either, clock)
    desk = desk_for(approvals, people, [OMAR, OLIVIA, ADA])
    request = await ask(approvals, level="L3")
    clicks = [click(request, user) for user in (OMAR, OLIVIA, ADA)]

    outputs = await asyncio.gather(*(press(desk, pressed) for pressed in clicks * 3))

    settled = await approvals.get(request.id)
    assert {each.data["by"] for batch in outputs for each in resumed(batch)} == {settled.settled_by}
    assert settled.status is ApprovalStatus.APPROVED
    assert len(settled.votes) == 2


async def test_one_no_is_enough(desk: ApprovalDesk, approvals: Approvals) -> None:
    request = await ask(approvals, level="L3")
    await press(desk, click(request, OMAR))
    await press(desk, click(request, OLIVIA, "reject"))

    assert (await approvals.get(request.id)).status is ApprovalStatus.REJECTED


async def test_a_rule_that_became_stricter_counts_from_the_next_click(approvals: Approvals, people: People) -> None:
    request = await ask(approvals)
    stricter = ApprovalRules([ApprovalRule(tool="issue_refund", needed=2)], approvers=[OMAR, OLIVIA])
    desk = ApprovalDesk(approvals, access_for(people, stricter))
    await press(desk, click(request, OMAR))
    between = await approvals.get(request.id)
    await press(desk, click(request, OLIVIA))

    assert (between.pending, between.needed) == (True, 2)
    assert (await approvals.get(request.id)).status is ApprovalStatus.APPROVED
