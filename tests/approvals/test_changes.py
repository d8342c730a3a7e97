"""An edit makes a new version; a question keeps the request open."""

from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.approvals.request import ApprovalStatus
from hermes_bot.messages.payloads import Reply, read
from tests.approvals.kit import (
    EMMA,
    OLIVIA,
    OMAR,
    Clock,
    People,
    ask,
    changes_for,
    click,
    delivery,
    edit,
    press,
    question,
    whispers,
)


async def test_an_edit_makes_a_new_version_that_runs_as_it_is_shown(
    desk: ApprovalDesk, approvals: Approvals, people: People
) -> None:
    request = await ask(approvals)
    submitted = edit(request, OMAR, amount_cents="800")
    outputs = await changes_for(approvals, people).on_edited(submitted, delivery(submitted))
    changed = await approvals.get(request.id)
    await press(desk, click(changed, OLIVIA))

    assert [each.type for each in outputs] == ["approval.changed"]
    assert (changed.version, changed.edited_by, changed.pending) == (2, OMAR, True)
    assert changed.shown_hash != request.shown_hash
    assert (await approvals.approved_arguments(request.id))["amount_cents"] == 800


async def test_a_click_on_the_card_as_it_was_does_nothing(
    desk: ApprovalDesk, approvals: Approvals, people: People
) -> None:
    request = await ask(approvals)
    submitted = edit(request, OMAR, amount_cents="800")
    await changes_for(approvals, people).on_edited(submitted, delivery(submitted))
    outputs = await press(desk, click(request, OLIVIA))

    assert "newest card" in whispers(outputs)[0]
    assert [each.type for each in outputs] == ["approval.changed", "reply.ready"]
    assert (await approvals.get(request.id)).pending


async def test_an_edit_and_back_is_another_version_with_another_hash(approvals: Approvals, people: People) -> None:
    request = await ask(approvals)
    changes = changes_for(approvals, people)
    for cents in ("800", "1000"):
        submitted = edit(await approvals.get(request.id), OMAR, amount_cents=cents)
        await changes.on_edited(submitted, delivery(submitted))
    back = await approvals.get(request.id)

    assert (back.version, back.arguments) == (3, request.arguments)
    assert back.shown_hash != request.shown_hash


async def test_an_edit_voids_what_was_approved_before(desk: ApprovalDesk, approvals: Approvals, people: People) -> None:
    request = await ask(approvals, level="L3", arguments={"order_id": "1", "amount_cents": 4000})
    await press(desk, click(request, OLIVIA))
    submitted = edit(request, OMAR, amount_cents="3500")
    await changes_for(approvals, people).on_edited(submitted, delivery(submitted))
    changed = await approvals.get(request.id)
    await press(desk, click(changed, OMAR))
    between = await approvals.get(request.id)
    await press(desk, click(changed, OLIVIA))

    assert (changed.votes, changed.needed) == ((), 2)
    assert between.pending
    assert (await approvals.get(request.id)).status is ApprovalStatus.APPROVED


async def test_who_changed_it_cannot_be_the_only_one_to_approve_it(
    desk: ApprovalDesk, approvals: Approvals, people: People
) -> None:
    request = await ask(approvals)
    submitted = edit(request, OMAR, amount_cents="800")
    await changes_for(approvals, people).on_edited(submitted, delivery(submitted))
    changed = await approvals.get(request.id)
    outputs = await press(desk, click(changed, OMAR))

    assert "somebody else has to approve it" in whispers(outputs)[0]
    assert (await approvals.get(request.id)).pending


async def test_an_edit_above_an_amount_needs_as_many_as_the_rules_say_for_it(
    approvals: Approvals, people: People
) -> None:
    request = await ask(approvals)
    submitted = edit(request, OMAR, amount_cents="3000")
    await changes_for(approvals, people).on_edited(submitted, delivery(submitted))

    assert (await approvals.get(request.id)).needed == 2


async def test_what_the_policy_refuses_changes_nothing(approvals: Approvals, people: People) -> None:
    request = await ask(approvals)
    submitted = edit(request, OMAR, amount_cents="9000")
    outputs = await changes_for(approvals, people).on_edited(submitted, delivery(submitted))

    assert whispers(outputs) == ["Nothing was changed: the tool refuses it (above_limit)"]
    assert await approvals.get(request.id) == request


async def test_the_same_edit_handled_again_makes_no_further_version(approvals: Approvals, people: People) -> None:
    request = await ask(approvals)
    submitted = edit(request, OMAR, amount_cents="800")
    changes = changes_for(approvals, people)
    first = await changes.on_edited(submitted, delivery(submitted))
    again = await changes.on_edited(submitted, delivery(submitted))

    assert [each.data for each in first] == [each.data for each in again]
    assert (await approvals.get(request.id)).version == 2


async def test_of_two_edits_of_the_same_card_the_second_is_refused(approvals: Approvals, people: People) -> None:
    request = await ask(approvals)
    changes = changes_for(approvals, people)
    for user, cents in ((OMAR, "800"), (OLIVIA, "700")):
        submitted = edit(request, user, amount_cents=cents)
        outputs = await changes.on_edited(submitted, delivery(submitted))

    assert "newest card" in whispers(outputs)[0]
    assert (await approvals.get(request.id)).arguments["amount_cents"] == 800


async def test_who_may_not_decide_may_neither_change_nor_ask(approvals: Approvals, people: People) -> None:
    request = await ask(approvals)
    changes = changes_for(approvals, people)
    edited, asked = edit(request, EMMA, amount_cents="1"), question(request, "U0GUEST", "Why?")
    outputs = [*await changes.on_edited(edited, delivery(edited)), *await changes.on_asked(asked, delivery(asked))]

    assert all("decided only by" in words for words in whispers(outputs))
    assert await approvals.get(request.id) == request


async def test_a_question_goes_to_the_customer_once_and_the_request_stays_open(
    approvals: Approvals, people: People
) -> None:
    request = await ask(approvals)
    asked = question(request, OMAR, " Which colour? ")
    changes = changes_for(approvals, people)
    first, again = await changes.on_asked(asked, delivery(asked)), await changes.on_asked(asked, delivery(asked))

    now = await approvals.get(request.id)
    assert [each.data for each in first] == [each.data for each in again]
    assert "Which colour?" in read(first[0], Reply).text
    assert ([each.question for each in now.questions], now.pending) == (["Which colour?"], True)


async def test_an_answer_is_kept_once_and_later_words_are_none(approvals: Approvals, people: People) -> None:
    request = await ask(approvals)
    asked = question(request, OMAR, "Which colour?")
    await changes_for(approvals, people).on_asked(asked, delivery(asked))
    first = await approvals.answer("T-1", by=EMMA, message_id="MSG-9", text="Blue")
    again = await approvals.answer("T-1", by=EMMA, message_id="MSG-9", text="Blue")
    later = await approvals.answer("T-1", by=EMMA, message_id="MSG-10", text="Thanks")

    assert [each.question_id for each in first] == [each.question_id for each in again] == [asked.id]
    assert later == []
    assert (await approvals.get(request.id)).questions[0].answer == "Blue"


async def test_after_the_decision_nothing_is_an_answer_any_more(
    desk: ApprovalDesk, approvals: Approvals, people: People
) -> None:
    request = await ask(approvals)
    asked = question(request, OMAR, "Which colour?")
    await changes_for(approvals, people).on_asked(asked, delivery(asked))
    await press(desk, click(request, OMAR))

    assert await approvals.answer("T-1", by=EMMA, message_id="MSG-9", text="Blue") == []


async def test_after_its_time_a_request_is_neither_changed_nor_asked_about(
    approvals: Approvals, people: People, clock: Clock
) -> None:
    request = await ask(approvals)
    clock.now = request.expires_at.replace(year=request.expires_at.year + 1)
    submitted = edit(request, OMAR, amount_cents="800")
    outputs = await changes_for(approvals, people).on_edited(submitted, delivery(submitted))

    assert "already expired" in whispers(outputs)[0]
    assert (await approvals.get(request.id)).status is ApprovalStatus.EXPIRED
