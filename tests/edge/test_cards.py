"""Cards stand where staff see them, and always come to show what the store says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.approvals.rules import ApprovalRules
from hermes_bot.edge.channels import ChannelPolicy
from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import (
    APPROVAL_REQUESTED,
    APPROVAL_SETTLED,
    HANDOFF_CHANGED,
    HANDOFF_NOTED,
    HANDOFF_REQUESTED,
    ApprovalRequested,
    ApprovalSettled,
    HandoffChanged,
    HandoffNoted,
    HandoffRequested,
    fields_of,
)
from hermes_bot.messages.ticket_payloads import TICKET_CARD, TicketCard
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.workspace.faults import ApiError, ReplyLost, ServerError
from hermes_bot.workspace.server import WorkspaceServer
from tests.edge.rig import APPROVERS, Rig, buttons, connected

UPDATE = "chat.update"
BUTTONS = ["Approve", "Reject", "Edit", "Ask customer"]


@pytest.fixture
def rig(socket_rig: Rig) -> Rig:
    return socket_rig


def requested(request: ApprovalRequest) -> Message:
    data = fields_of(ApprovalRequested(approval_id=request.id))
    return Message(type=APPROVAL_REQUESTED, sender="refund", context_id=request.context_id, data=data)


def settled(request: ApprovalRequest) -> Message:
    data = fields_of(ApprovalSettled(approval_id=request.id, ticket_id=request.ticket_id, status="approved"))
    return Message(type=APPROVAL_SETTLED, sender="approvals", context_id=request.context_id, data=data)


def handoff(ticket: Ticket, type_: str = HANDOFF_REQUESTED, **fields: Any) -> Message:
    payloads: dict[str, Any] = {
        HANDOFF_REQUESTED: lambda: HandoffRequested(ticket_id=ticket.id, reason="asked", summary="wants a person"),
        HANDOFF_CHANGED: lambda: HandoffChanged(ticket_id=ticket.id),
        HANDOFF_NOTED: lambda: HandoffNoted(ticket_id=ticket.id, **fields),
        TICKET_CARD: lambda: TicketCard(ticket_id=ticket.id),
    }
    return Message(type=type_, sender="handoff", context_id=ticket.context_id, data=fields_of(payloads[type_]()))


def replace_id(message: Message) -> Message:
    """Return an output as the bus would have stamped it."""
    return msgspec.structs.replace(message, id=f"MSG-1-{message.type}", sender="slack")


async def waiting_for_a_person(rig: Rig, **where: str) -> Ticket:
    ticket = await rig.ticket(**where)
    return await rig.tickets.hand_to_human(ticket.id, reason="asked", summary="wants <a> person")


async def test_a_card_stands_in_the_thread_where_approvers_see_it(rig: Rig) -> None:
    request = await rig.approval(ticket := await rig.ticket())

    await rig.deliver(requested(request))

    (card,) = rig.thread("C0SUPPORT", ticket.thread_ts)
    assert buttons(card) == BUTTONS
    assert card["text"].startswith("Refund 30.00 EUR for order 1001")
    assert "broken &amp; &lt;late&gt;" in card["text"]
    assert "Emma Fischer" in str(card["blocks"])


async def test_a_card_for_a_direct_message_stands_in_the_handoff_channel(rig: Rig) -> None:
    request = await rig.approval(await rig.ticket(channel="D0EMMA"))

    await rig.deliver(requested(request))

    assert [buttons(card) for card in rig.root("C0HANDOFF")] == [BUTTONS]
    assert not any(one.get("bot_id") for one in rig.root("D0EMMA"))


async def test_a_card_never_stands_where_the_only_approver_is_the_requester(rig: Rig) -> None:
    roster = rig.server.workspace.roster
    support = roster.channel("C0SUPPORT")
    roster.put_channel(replace(support, members=tuple(one for one in support.members if one != "U0OLIVIA")))
    ticket = await rig.ticket(user="U0OMAR")
    request = await rig.approval(ticket)

    await rig.deliver(requested(request))

    assert rig.thread("C0SUPPORT", ticket.thread_ts) == []
    assert len(rig.root("C0HANDOFF")) == 1


async def test_a_card_stands_also_where_slack_gives_no_names_and_no_link(rig: Rig) -> None:
    ticket = await waiting_for_a_person(rig)
    rig.server.faults.add(method="users.info", fault=ServerError())
    rig.server.faults.add(method="chat.getPermalink", fault=ApiError("message_not_found"))

    await rig.deliver(handoff(ticket))

    (card,) = rig.root("C0HANDOFF")
    assert "Customer: <@U0EMMA>" in str(card["blocks"])
    assert rig.server.faults.waiting() == 0


async def test_a_card_waits_while_slack_does_not_say_who_is_in_the_channel(rig: Rig) -> None:
    request = await rig.approval(ticket := await rig.ticket())
    rig.server.faults.add(method="conversations.members", fault=ServerError())

    with pytest.raises(TransientError):
        await rig.deliver(requested(request))

    assert rig.thread("C0SUPPORT", ticket.thread_ts) == []
    assert rig.root("C0HANDOFF") == []


async def test_a_settled_card_shows_the_record_in_place_of_its_buttons(rig: Rig) -> None:
    ticket = await rig.ticket()
    request = await rig.approval(ticket)
    await rig.deliver(requested(request))
    await rig.approvals.settle(request.id, ApprovalStatus.REJECTED, by="U0OMAR", message_id="MSG-1", reason="no & no")

    await rig.deliver(settled(request))

    (card,) = rig.thread("C0SUPPORT", ticket.thread_ts)
    assert buttons(card) == []
    assert "*Rejected* by Omar Haddad" in str(card["blocks"])
    assert "no &amp; no" in str(card["blocks"])


async def test_a_card_that_was_settled_while_it_was_posted_is_redrawn(rig: Rig) -> None:
    ticket = await rig.ticket()
    request = await rig.approval(ticket)
    rig.server.faults.add(method="chat.postMessage", fault=ReplyLost())
    with pytest.raises(TransientError):
        await rig.deliver(requested(request))
    await rig.approvals.settle(request.id, ApprovalStatus.APPROVED, by="U0OMAR", message_id="MSG-1")
    assert await rig.deliver(settled(request)) == []

    await rig.deliver(requested(request), redelivered=True)

    (card,) = rig.thread("C0SUPPORT", ticket.thread_ts)
    assert buttons(card) == []


async def test_a_redraw_that_slack_finds_invalid_becomes_a_shorter_one(rig: Rig) -> None:
    ticket = await rig.ticket()
    request = await rig.approval(ticket)
    await rig.deliver(requested(request))
    await rig.approvals.settle(request.id, ApprovalStatus.APPROVED, by="U0OMAR", message_id="MSG-1")
    rig.server.faults.add(method=UPDATE, fault=ApiError("invalid_blocks"))
    rig.server.faults.add(method=UPDATE, fault=ServerError(500))

    with pytest.raises(TransientError):
        await rig.deliver(settled(request))
    rig.server.faults.add(method=UPDATE, fault=ApiError("invalid_blocks"))
    await rig.deliver(settled(request), attempt=2)

    (card,) = rig.thread("C0SUPPORT", ticket.thread_ts)
    assert buttons(card) == []
    assert "Approved" in str(card["blocks"])


async def test_a_redraw_is_tried_again_later_until_it_shows(rig: Rig) -> None:
    ticket = await rig.ticket()
    request = await rig.approval(ticket)
    await rig.deliver(requested(request))
    await rig.approvals.settle(request.id, ApprovalStatus.APPROVED, by="U0OMAR", message_id="MSG-1")
    rig.server.faults.add(method=UPDATE, fault=ServerError(500), times=3)

    (later,) = await rig.delivered(settled(request))
    (card,) = rig.thread("C0SUPPORT", ticket.thread_ts)
    still_there = buttons(card)
    await rig.deliver(later)

    (card,) = rig.thread("C0SUPPORT", ticket.thread_ts)
    assert still_there == BUTTONS
    assert buttons(card) == []
    assert later.not_before is not None


async def test_a_card_that_somebody_deleted_is_left_alone(rig: Rig) -> None:
    ticket = await rig.ticket()
    request = await rig.approval(ticket)
    await rig.deliver(requested(request))
    rig.server.faults.add(method=UPDATE, fault=ApiError("message_not_found"))

    assert await rig.deliver(settled(request)) == []


async def test_a_handoff_card_has_the_summary_the_link_and_claim(rig: Rig) -> None:
    ticket = await waiting_for_a_person(rig)

    await rig.deliver(handoff(ticket))

    (card,) = rig.root("C0HANDOFF")
    assert buttons(card) == ["Claim", "Solved"]
    assert "wants &lt;a&gt; person" in card["text"]
    assert "Open the conversation" in str(card["blocks"])


async def test_a_claimed_ticket_shows_who_has_it_and_can_be_given_back(rig: Rig) -> None:
    ticket = await waiting_for_a_person(rig)
    await rig.deliver(handoff(ticket))

    await rig.tickets.claim(ticket.id, user="U0OMAR", message_id="MSG-2")
    await rig.deliver(handoff(ticket, HANDOFF_CHANGED))
    (claimed,) = rig.root("C0HANDOFF")
    await rig.tickets.give_back(ticket.id, message_id="MSG-3")
    await rig.deliver(handoff(ticket, HANDOFF_CHANGED))
    (returned,) = rig.root("C0HANDOFF")

    assert buttons(claimed) == ["Reply to customer", "Give back", "Solved"]
    assert buttons(returned) == ["Take over", "Solved"]
    assert "Claimed by Omar Haddad" in str(claimed["blocks"])


async def test_a_second_handoff_is_drawn_on_the_tickets_one_card_and_told_in_the_channel(rig: Rig) -> None:
    ticket = await waiting_for_a_person(rig)
    await rig.deliver(handoff(ticket))
    await rig.tickets.claim(ticket.id, user="U0OMAR", message_id="MSG-2")
    await rig.tickets.give_back(ticket.id, message_id="MSG-3")
    await rig.deliver(handoff(ticket, HANDOFF_CHANGED))

    again = await rig.tickets.hand_to_human(ticket.id, reason="asked", summary="once more")
    await rig.deliver(handoff(again))
    await rig.deliver(handoff(again), redelivered=True)

    card, told = rig.root("C0HANDOFF")
    assert buttons(card) == ["Claim", "Solved"]
    assert (told["thread_ts"], buttons(told)) == (card["ts"], [])
    assert f"A person is wanted for {ticket.id}" in told["text"]


async def test_where_no_card_can_be_posted_those_on_call_are_told_and_it_is_tried_again(rig: Rig) -> None:
    ticket = await waiting_for_a_person(rig)
    rig.server.faults.add(method="chat.postMessage", fault=ApiError("is_archived"))

    *alarms, again = await rig.deliver(handoff(ticket))
    for alarm in alarms:
        await rig.deliver(replace_id(alarm))
    await rig.deliver(replace_id(again))

    assert alarms
    assert any("waits for a person" in one["text"] for one in rig.root("D0OLIVIA"))
    assert again.not_before is not None
    assert [buttons(card) for card in rig.root("C0HANDOFF")] == [["Claim", "Solved"]]


async def test_while_another_company_reads_the_channel_nothing_of_a_customers_is_shown_there(rig: Rig) -> None:
    ticket = await waiting_for_a_person(rig, channel="D0EMMA")
    roster = rig.server.workspace.roster
    roster.put_channel(replace(roster.channel("C0HANDOFF"), shared_with=("T9OTHER",)))

    *alarms, _ = await rig.deliver(handoff(ticket))
    await rig.deliver(handoff(ticket, TICKET_CARD))
    await rig.deliver(handoff(ticket, HANDOFF_CHANGED))
    (later,) = await rig.deliver(handoff(ticket, HANDOFF_NOTED, text="it is broken", user="U0EMMA"))

    assert alarms
    assert later.not_before is not None
    assert rig.root("C0HANDOFF") == []


async def test_only_who_works_here_is_told_that_the_channel_cannot_be_written_to(rig: Rig) -> None:
    ticket = await waiting_for_a_person(rig)
    roster = rig.server.workspace.roster
    roster.put_member(replace(roster.member("U0OMAR"), guest=True))
    rig.server.faults.add(method="chat.postMessage", fault=ApiError("is_archived"))

    *alarms, _ = await rig.deliver(handoff(ticket))

    assert [alarm.data["user"] for alarm in alarms] == ["U0OLIVIA"]


async def test_further_words_of_the_customer_stand_under_the_card(rig: Rig) -> None:
    ticket = await waiting_for_a_person(rig, channel="D0EMMA")
    await rig.deliver(handoff(ticket))

    await rig.deliver(handoff(ticket, HANDOFF_NOTED, text="it is <!here> & broken", user="U0EMMA"))

    (card,) = rig.root("C0HANDOFF")
    (note,) = rig.thread("C0HANDOFF", card["ts"])
    assert note["text"] == f"*Emma Fischer* ({ticket.id}): it is &lt;!here&gt; &amp; broken"


async def test_a_note_without_a_card_brings_the_card_with_it(rig: Rig) -> None:
    ticket = await waiting_for_a_person(rig)

    await rig.deliver(handoff(ticket, HANDOFF_NOTED, text="anybody there?", user="U0EMMA"))
    await rig.deliver(handoff(ticket))

    card, _told = rig.root("C0HANDOFF")
    assert buttons(card) == ["Claim", "Solved"]
    assert "anybody there?" in rig.thread("C0HANDOFF", card["ts"])[0]["text"]


async def test_a_ticket_that_was_claimed_while_its_card_was_posted_is_redrawn(rig: Rig) -> None:
    ticket = await waiting_for_a_person(rig)
    rig.server.faults.add(method="chat.postMessage", fault=ReplyLost())
    with pytest.raises(TransientError):
        await rig.deliver(handoff(ticket))
    await rig.tickets.claim(ticket.id, user="U0OMAR", message_id="MSG-2")
    assert await rig.deliver(handoff(ticket, HANDOFF_CHANGED)) == []

    await rig.deliver(handoff(ticket), attempt=2)

    assert [buttons(card) for card in rig.root("C0HANDOFF")] == [["Reply to customer", "Give back", "Solved"]]


async def test_without_a_handoff_channel_a_card_is_a_permanent_error(tmp_path: Path) -> None:
    async with WorkspaceServer() as server, connected(server, tmp_path, policy=ChannelPolicy()) as rig:
        ticket = await waiting_for_a_person(rig)

        with pytest.raises(PermanentError, match="handoff_channel"):
            await rig.deliver(handoff(ticket))


async def test_a_channel_for_approvals_takes_every_card(tmp_path: Path) -> None:
    policy = ChannelPolicy(handoff_channel="#hermes-handoff", approvals_channels=("hermes-handoff",))
    rules = ApprovalRules(approvers=APPROVERS, channel="hermes-handoff")
    async with WorkspaceServer() as server, connected(server, tmp_path, policy=policy, rules=rules) as rig:
        request = await rig.approval(ticket := await rig.ticket())

        await rig.deliver(requested(request))

        (note,) = rig.thread("C0SUPPORT", ticket.thread_ts)
        assert (note["text"], buttons(note)) == ("A colleague has to approve this.", [])
        assert len(rig.root("C0HANDOFF")) == 1
