import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import update

from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.approvals.request import ApprovalStatus
from hermes_bot.bus.port import Delivery
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import ApprovalRequested, ApprovalSettled, Reply, fields_of, read
from hermes_bot.store.database import Database
from hermes_bot.store.tables import approvals as table
from tests.approvals.kit import NOW, Clock, People, ask, click, desk_for, press


async def test_a_request_with_the_same_key_is_the_same_request(approvals: Approvals) -> None:
    assert await ask(approvals) == await ask(approvals)
    assert len(await approvals.listing()) == 1


async def test_an_approval_goes_once_to_the_agent_and_once_to_the_edge(
    desk: ApprovalDesk, approvals: Approvals
) -> None:
    request = await ask(approvals)
    outputs = await press(desk, click(request, "U0OMAR"))

    assert [(output.type, output.recipient) for output in outputs] == [
        ("approval.settled", "refund"),
        ("approval.settled", "slack"),
    ]
    assert [output.context_id for output in outputs] == [request.context_id, f"card:{request.id}"]
    assert read(outputs[0], ApprovalSettled).status == "approved"


async def test_the_same_click_handled_again_gives_the_same_outputs(desk: ApprovalDesk, approvals: Approvals) -> None:
    message = click(await ask(approvals), "U0OMAR")
    first, again = await press(desk, message), await press(desk, message)

    assert [output.data for output in first] == [output.data for output in again]


async def test_of_racing_clicks_exactly_one_settles(desk: ApprovalDesk, approvals: Approvals) -> None:
    request = await ask(approvals)
    clicks = [click(request, user, decision) for user in ("U0OMAR", "U0OLIVIA") for decision in ("approve", "reject")]
    outputs = await asyncio.gather(*(press(desk, message) for message in clicks * 3))

    resumed = {id(output.data): output for batch in outputs for output in batch if output.recipient == "refund"}
    settled_by = {read(output, ApprovalSettled).by for output in resumed.values()}
    assert len(settled_by) == 1
    assert len({read(output, ApprovalSettled).status for output in resumed.values()}) == 1


@pytest.mark.parametrize(
    "user, team",
    [("U0EMMA", "T0HERMES"), ("U0GUEST", "T0HERMES"), ("U0GONE", "T0HERMES"), ("U0NOBODY", "T0HERMES"), ("", ""),
     ("U0OMAR", "T0OTHER")],
)  # fmt: skip
async def test_whoever_is_not_an_active_approver_of_ours_is_refused_in_private(
    desk: ApprovalDesk, approvals: Approvals, user: str, team: str
) -> None:
    request = await ask(approvals)
    outputs = await press(desk, click(request, user, team=team))

    assert [output.type for output in outputs] == ["reply.ready"]
    assert read(outputs[0], Reply).audience == "ephemeral"
    assert (await approvals.get(request.id)).status is ApprovalStatus.PENDING


async def test_a_member_of_an_approving_group_may_decide(desk: ApprovalDesk, approvals: Approvals) -> None:
    request = await ask(approvals)
    await press(desk, click(request, "U0OLIVIA", "reject"))

    assert (await approvals.get(request.id)).status is ApprovalStatus.REJECTED


async def test_when_slack_does_not_answer_nothing_is_decided(
    desk: ApprovalDesk, approvals: Approvals, people: People
) -> None:
    request = await ask(approvals)
    people.down = True
    await press(desk, click(request, "U0OMAR"))

    assert (await approvals.get(request.id)).status is ApprovalStatus.PENDING


async def test_without_approvers_nobody_may_decide(approvals: Approvals, people: People) -> None:
    request = await ask(approvals)
    await press(desk_for(approvals, people, []), click(request, "U0OMAR"))

    assert (await approvals.get(request.id)).status is ApprovalStatus.PENDING


async def test_who_asked_may_not_approve_unless_allowed(approvals: Approvals, people: People) -> None:
    request = await ask(approvals)
    await press(desk_for(approvals, people, ["U0EMMA"]), click(request, "U0EMMA"))
    refused = await approvals.get(request.id)
    await press(desk_for(approvals, people, ["U0EMMA"], allow_requester=True), click(request, "U0EMMA"))

    assert refused.status is ApprovalStatus.PENDING
    assert (await approvals.get(request.id)).status is ApprovalStatus.APPROVED


async def test_a_card_that_shows_something_else_decides_nothing(desk: ApprovalDesk, approvals: Approvals) -> None:
    request = await ask(approvals)
    message = click(request, "U0OMAR")
    tampered = Message(type=message.type, sender="slack", context_id="x", data=message.data | {"shown_hash": "0" * 64})
    await press(desk, tampered)

    assert (await approvals.get(request.id)).status is ApprovalStatus.PENDING


async def test_an_approval_after_the_expiry_settles_as_expired(
    desk: ApprovalDesk, approvals: Approvals, clock: Clock
) -> None:
    request = await ask(approvals)
    clock.now = NOW + timedelta(seconds=3601)
    outputs = await press(desk, click(request, "U0OMAR"))

    assert (await approvals.get(request.id)).status is ApprovalStatus.EXPIRED
    assert outputs[-1].type == "reply.ready"


async def test_the_expiry_message_waits_for_its_time_and_then_settles_what_is_pending(
    desk: ApprovalDesk, approvals: Approvals
) -> None:
    request = await ask(approvals)
    asked = Message(
        type="approval.requested",
        sender="refund",
        context_id="x",
        data=fields_of(ApprovalRequested(approval_id=request.id)),
    )
    (timer,) = await desk.on_requested(asked, Delivery(message=asked, subscription="s", agent="approvals"))
    outputs = await desk.on_expired(timer, Delivery(message=timer, subscription="s", agent="approvals"))

    assert timer.not_before == request.expires_at
    assert read(outputs[0], ApprovalSettled).status == "expired"


async def test_only_what_was_shown_and_approved_is_handed_out_to_run(
    desk: ApprovalDesk, approvals: Approvals, database: Database
) -> None:
    request = await ask(approvals)
    with pytest.raises(PermanentError, match="pending"):
        await approvals.approved_arguments(request.id)
    await press(desk, click(request, "U0OMAR"))
    approved = await approvals.approved_arguments(request.id)
    changed = {"order_id": "10001", "amount_cents": 999_999}
    await database.run(lambda connection: connection.execute(update(table).values(arguments=changed)))

    assert approved == request.arguments
    with pytest.raises(PermanentError, match="not what was shown"):
        await approvals.approved_arguments(request.id)
