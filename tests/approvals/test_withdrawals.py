"""What a request rests on may change: an edit asks anew, a deletion or Stop cancels, and a decision stands."""

import pytest
from msgspec.structs import replace

from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.approvals.withdrawals import Source, Withdrawals
from hermes_bot.messages.message import Chain, Message
from hermes_bot.messages.payloads import APPROVAL_REQUESTED, ApprovalRequested, ApprovalSettled, Inbound, read
from hermes_bot.messages.ticket_payloads import (
    AGENT_STOPPED,
    TICKET_DELETED,
    TICKET_EDITED,
    Deleted,
    Edited,
    Stopped,
)
from tests.approvals.kit import (
    EMMA,
    OMAR,
    TEAM,
    THREAD,
    People,
    Words,
    access_for,
    ask,
    click,
    delivery,
    message,
    press,
    resumed,
)


@pytest.fixture
def words() -> Words:
    return Words()


@pytest.fixture
def withdrawals(approvals: Approvals, people: People, words: Words) -> Withdrawals:
    return Withdrawals(approvals, access_for(people), words)


def edited(ts: str = "1.1", user: str = EMMA, context_id: str = THREAD) -> Message:
    body = Edited(team=TEAM, channel="C0SUPPORT", ts=ts, user=user, text="refund 10002", thread_ts="")
    return message(TICKET_EDITED, body, context_id=context_id)


def deleted(ts: str = "1.1", user: str = EMMA) -> Message:
    return message(TICKET_DELETED, Deleted(team=TEAM, channel="C0SUPPORT", ts=ts, user=user))


def stopped(user: str) -> Message:
    body = Stopped(team=TEAM, channel="C0SUPPORT", thread_ts="1.1", user=user, conversation=THREAD)
    return message(AGENT_STOPPED, body, context_id=f"stop:{THREAD}")


async def test_an_edit_cancels_and_the_new_words_come_in_after_it(
    withdrawals: Withdrawals, approvals: Approvals
) -> None:
    request = await ask(approvals)
    changed = edited()
    outputs = await withdrawals.on_edited(changed, delivery(changed))

    assert [(each.type, each.recipient) for each in outputs] == [
        ("approval.settled", "refund"),
        ("approval.settled", "slack"),
        ("ticket.created", ""),
    ]
    assert (read(outputs[0], ApprovalSettled).status, read(outputs[0], ApprovalSettled).cause) == (
        "cancelled",
        "edited",
    )
    assert (read(outputs[2], Inbound).text, outputs[2].context_id) == ("refund 10002", THREAD)
    assert (await approvals.get(request.id)).status is ApprovalStatus.CANCELLED


async def test_the_same_edit_handled_again_says_the_same(withdrawals: Withdrawals, approvals: Approvals) -> None:
    await ask(approvals)
    changed = edited()
    first = await withdrawals.on_edited(changed, delivery(changed))
    again = await withdrawals.on_edited(changed, delivery(changed))

    assert [each.data for each in first] == [each.data for each in again]


@pytest.mark.parametrize(
    "changed",
    [edited(ts="1.2"), edited(user="U0OTHER"), edited(context_id=f"{TEAM}:C0SUPPORT:9.9")],
    ids=["a-later-message", "somebody-else's", "another-conversation"],
)
async def test_another_message_changes_nothing(
    withdrawals: Withdrawals, approvals: Approvals, changed: Message
) -> None:
    request = await ask(approvals)

    assert await withdrawals.on_edited(changed, delivery(changed)) == []
    assert (await approvals.get(request.id)).pending


async def test_an_earlier_message_of_the_thread_counts_and_one_of_a_direct_message_does_not(
    withdrawals: Withdrawals, approvals: Approvals
) -> None:
    in_thread = await ask(approvals, source_ts="10.5")
    direct = await ask(approvals, key="direct", source_ts="10.5", context_id=f"{TEAM}:D0EMMA")
    for changed in (edited(ts="9.7"), edited(ts="9.7", context_id=f"{TEAM}:D0EMMA")):
        await withdrawals.on_edited(changed, delivery(changed))

    assert not (await approvals.get(in_thread.id)).pending
    assert (await approvals.get(direct.id)).pending


@pytest.mark.parametrize("user", [EMMA, ""])
async def test_a_deletion_cancels(withdrawals: Withdrawals, approvals: Approvals, user: str) -> None:
    request = await ask(approvals)
    gone = deleted(user=user)
    outputs = await withdrawals.on_deleted(gone, delivery(gone))

    assert read(resumed(outputs)[0], ApprovalSettled).cause == "deleted"
    assert (await approvals.get(request.id)).status is ApprovalStatus.CANCELLED


@pytest.mark.parametrize("user, pending", [(EMMA, False), (OMAR, False), ("U0ODD", True), ("U0OTHER", True)])
async def test_stop_cancels_for_whoever_asked_and_for_those_who_decide(
    withdrawals: Withdrawals, approvals: Approvals, user: str, pending: bool
) -> None:
    request = await ask(approvals)
    pressed = stopped(user)
    outputs = await withdrawals.on_stopped(pressed, delivery(pressed))

    assert (await approvals.get(request.id)).pending is pending
    assert all(each.context_id != THREAD for each in outputs)


async def test_stop_in_a_direct_message_cancels_though_slack_names_a_message_of_it(
    withdrawals: Withdrawals, approvals: Approvals, words: Words
) -> None:
    request = await ask(approvals, context_id=f"{TEAM}:D0EMMA")
    body = Stopped(team=TEAM, channel="D0EMMA", thread_ts="1.7", user=EMMA, conversation=f"{TEAM}:D0EMMA:1.7")
    words.conversations["1.7"] = request.context_id
    pressed = message(AGENT_STOPPED, body, context_id=f"stop:{TEAM}:D0EMMA:1.7")
    await withdrawals.on_stopped(pressed, delivery(pressed))

    assert (await approvals.get(request.id)).status is ApprovalStatus.CANCELLED


async def test_after_the_decision_an_edit_changes_nothing(
    desk: ApprovalDesk, withdrawals: Withdrawals, approvals: Approvals
) -> None:
    request = await ask(approvals)
    await press(desk, click(request, OMAR))
    changed = edited()

    assert await withdrawals.on_edited(changed, delivery(changed)) == []
    assert (await approvals.get(request.id)).status is ApprovalStatus.APPROVED


def requested(request: ApprovalRequest, heard: str) -> Message:
    asked = message(APPROVAL_REQUESTED, ApprovalRequested(approval_id=request.id))
    return replace(asked, context_chain=Chain(text=heard))


def said(text: str, **state: bool) -> Source:
    inbound = Inbound(team=TEAM, channel="C0SUPPORT", channel_type="channel", ts="1.1", user=EMMA, text=text)
    return Source(inbound=inbound, **state)


async def test_what_was_edited_while_the_agent_thought_is_asked_anew(
    withdrawals: Withdrawals, approvals: Approvals, words: Words
) -> None:
    request = await ask(approvals)
    words.sources["1.1"] = said("refund 10002", changed=True)
    asked = requested(request, "refund 10001")
    outputs = await withdrawals.on_requested(asked, delivery(asked))
    again = await withdrawals.on_requested(asked, delivery(asked))

    assert read(resumed(outputs)[0], ApprovalSettled).cause == "edited"
    assert (read(outputs[-1], Inbound).text, outputs[-1].context_chain.text) == ("refund 10002", "refund 10002")
    assert [each.data for each in again] == [each.data for each in outputs]
    assert (await approvals.get(request.id)).status is ApprovalStatus.CANCELLED


async def test_what_was_deleted_while_the_agent_thought_is_cancelled(
    withdrawals: Withdrawals, approvals: Approvals, words: Words
) -> None:
    request = await ask(approvals)
    words.sources["1.1"] = said("", gone=True)
    asked = requested(request, "refund 10001")
    outputs = await withdrawals.on_requested(asked, delivery(asked))

    assert read(resumed(outputs)[0], ApprovalSettled).cause == "deleted"


@pytest.mark.parametrize(
    "source, heard",
    [
        (said("refund  10002", changed=True), "refund 10002"),
        (said("refund 10001"), "refund"),
        (said("refund 10002", changed=True), ""),
        (None, "refund 10001"),
    ],
    ids=["answered-as-it-stands", "never-changed", "a-button", "not-known"],
)
async def test_what_still_stands_is_asked_for(
    withdrawals: Withdrawals, approvals: Approvals, words: Words, source: Source | None, heard: str
) -> None:
    request = await ask(approvals)
    words.sources |= {"1.1": source} if source else {}
    asked = requested(request, heard)

    assert await withdrawals.on_requested(asked, delivery(asked)) == []
    assert (await approvals.get(request.id)).pending
