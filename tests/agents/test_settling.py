"""What follows when a request was taken back: a deletion or Stop is told, an edit is answered with the new words."""

from __future__ import annotations

import pytest

from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import (
    APPROVAL_REQUESTED,
    APPROVAL_SETTLED,
    HANDOFF_REQUESTED,
    ApprovalSettled,
    HandoffRequested,
    fields_of,
    read,
)
from hermes_bot.store.database import Database
from hermes_bot.store.tables import approvals
from hermes_bot.tickets.ticket import TicketStatus
from tests.agents.harness import NOON, Pump, Turn

WORDS = {"refund": "I want a refund for order 10592", "order": "cancel order 10587"}


async def settled(pump: Pump, asked: Turn, status: str, cause: str = "") -> Turn:
    """Return what the waiting agent does with this settlement."""
    request: ApprovalRequest = (await pump.desk.approvals.listing())[0]
    body = ApprovalSettled(approval_id=request.id, ticket_id=request.ticket_id, status=status, cause=cause)
    return await pump.run(
        Message(
            type=APPROVAL_SETTLED,
            sender="approvals",
            recipient=request.agent,
            context_id=request.context_id,
            id=f"MSG-{pump.next_ts()}",
            data=fields_of(body),
            created_at=NOON,
        )
    )


@pytest.mark.parametrize("agent", ["refund", "order"])
@pytest.mark.parametrize("cause", ["deleted", "stopped"])
async def test_what_was_taken_back_is_told_and_may_be_asked_for_again(pump: Pump, agent: str, cause: str) -> None:
    asked = await pump.says("U0EMMA", WORDS[agent], channel="D0EMMA")
    told = await settled(pump, asked, "cancelled", cause)

    assert asked.of(APPROVAL_REQUESTED)
    assert "I've withdrawn the request" in told.answer.text
    assert told.answer.choices == ()
    memory = await pump.desk.runs.load(told.answer.ticket_id, agent, message_id="")
    assert memory["refunds" if agent == "refund" else "cancels"] == {}


@pytest.mark.parametrize("agent", ["refund", "order"])
async def test_what_was_approved_of_a_tool_that_has_changed_meanwhile_goes_to_people_and_is_not_run(
    pump: Pump, database: Database, agent: str
) -> None:
    asked = await pump.says("U0EMMA", WORDS[agent], channel="D0EMMA")
    await database.run(lambda connection: connection.execute(approvals.update().values(fingerprint="of another day")))
    told = await pump.decides("U0OMAR", asked, "approve")

    (request,) = await pump.desk.approvals.listing()
    assert request.result == "Not carried out: tool_changed"
    assert told.of(HANDOFF_REQUESTED)


async def test_people_read_what_the_customer_was_told_of_the_decision_and_not_that_it_waits(pump: Pump) -> None:
    asked = await pump.says("U0EMMA", WORDS["refund"], channel="D0EMMA")
    told = await settled(pump, asked, "rejected")

    turn = await pump.says("U0EMMA", "human", channel="D0EMMA")

    summary = read(turn.of(HANDOFF_REQUESTED)[0], HandoffRequested).summary
    assert f"The bot said last: {' '.join(told.answer.text.split())}" in summary


@pytest.mark.parametrize("agent", ["refund", "order"])
async def test_what_was_edited_is_answered_with_the_new_words_and_not_before(pump: Pump, agent: str) -> None:
    asked = await pump.says("U0EMMA", WORDS[agent], channel="D0EMMA")
    told = await settled(pump, asked, "cancelled", "edited")

    assert told.replies == []
    assert (await pump.desk.tickets.get(asked.answer.ticket_id)).status is TicketStatus.WORKING
