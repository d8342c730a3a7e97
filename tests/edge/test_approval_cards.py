"""Approval cards beyond the first one: votes, versions, questions, reminders, and where they go."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.approvals.rules import ApprovalRule, ApprovalRules
from hermes_bot.errors import PermanentError, SettingsError
from hermes_bot.messages.approval_payloads import (
    APPROVAL_ANSWERED,
    APPROVAL_CHANGED,
    APPROVAL_REMINDED,
    ApprovalAnswered,
)
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import APPROVAL_REQUESTED, APPROVAL_SETTLED, ApprovalRequested, fields_of
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.workspace.faults import ApiError
from hermes_bot.workspace.people import Channel, World, demo_world
from hermes_bot.workspace.server import WorkspaceServer
from tests.edge.rig import APPROVERS, POLICY, Rig, buttons, connected

MONEY, HANDOFF, SUPPORT = "C0MONEY", "C0HANDOFF", "C0SUPPORT"
BUTTONS = ["Approve", "Reject", "Edit", "Ask customer"]
MEMBERS = ("U0OMAR", "U0OLIVIA")
RULES = ApprovalRules(
    [ApprovalRule(tool="issue_refund", from_cents=10_000, channel="money")],
    approvers=APPROVERS,
)
SMALL = {"order_id": "1001", "amount_cents": 3000, "currency": "EUR"}
LARGE = SMALL | {"amount_cents": 30_000}


def money_world(**changes: Any) -> World:
    world = demo_world()
    channel = Channel(id=MONEY, name="money", members=(*MEMBERS, world.app.user))
    return replace(world, channels=(*world.channels, replace(channel, **changes)))


@pytest_asyncio.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    """An edge whose refunds from a hundred euros go to a channel of their own."""
    policy = replace(POLICY, approvals_channels=RULES.channels)
    async with (
        WorkspaceServer(world=money_world()) as server,
        connected(server, tmp_path, rules=RULES, policy=policy) as rig,
    ):
        yield rig


def word(request: ApprovalRequest, type_: str = APPROVAL_CHANGED) -> Message:
    body = ApprovalRequested(approval_id=request.id, ticket_id=request.ticket_id)
    data = fields_of(body) | ({"status": request.status.value} if type_ == APPROVAL_SETTLED else {})
    return Message(type=type_, sender="approvals", context_id=f"card:{request.id}", data=data)


async def posted(rig: Rig, ticket: Ticket | None = None, **changes: Any) -> tuple[Ticket, ApprovalRequest]:
    ticket = ticket or await rig.ticket()
    request = await rig.approval(ticket, **{"arguments": SMALL} | changes)
    await rig.deliver(word(request, APPROVAL_REQUESTED))
    return ticket, request


async def edited(rig: Rig, request: ApprovalRequest, **arguments: Any) -> ApprovalRequest:
    await rig.approvals.edit(
        request.id,
        by="U0OMAR",
        message_id=f"MSG-edit-{request.version}",
        seen=request.shown_hash,
        arguments=request.arguments | arguments,
        title="Refund another amount for order 1001",
        shown=request.shown,
        level="L2",
    )
    return await rig.approvals.get(request.id)


async def test_one_of_two_stands_on_the_card_and_its_block_is_another_one(rig: Rig) -> None:
    ticket, request = await posted(rig, level="L3")
    (before,) = rig.thread(SUPPORT, ticket.thread_ts)
    await rig.approvals.approve(request.id, by="U0OMAR", message_id="MSG-1", seen=request.shown_hash)

    await rig.deliver(word(request))

    (card,) = rig.thread(SUPPORT, ticket.thread_ts)
    ids = [[block["block_id"] for block in each["blocks"] if block["type"] == "actions"] for each in (before, card)]
    assert "*1 of 2* needed approvals: Omar Haddad" in str(card["blocks"])
    assert buttons(card) == BUTTONS
    assert ids[0] != ids[1]


async def test_only_the_approving_button_is_primary(rig: Rig) -> None:
    ticket, _ = await posted(rig)

    (card,) = rig.thread(SUPPORT, ticket.thread_ts)
    rows = [block for block in card["blocks"] if block["type"] == "actions"]
    assert [each.get("style", "") for row in rows for each in row["elements"]] == ["primary", "", "", ""]


async def test_checks_stand_only_where_no_customer_reads(rig: Rig) -> None:
    checks = (("Policy check", "allowed until tomorrow"), ("History", "three refunds"))
    thread, _ = await posted(rig, internal=checks)
    await posted(rig, await rig.ticket(channel="D0EMMA"), internal=checks, key="direct")

    (in_thread,), (in_handoff,) = rig.thread(SUPPORT, thread.thread_ts), rig.root(HANDOFF)
    assert "three refunds" not in str(in_thread)
    assert "level L2" not in str(in_thread)
    assert "three refunds" in str(in_handoff["blocks"])


async def test_the_rules_channel_gets_the_card_and_the_thread_a_note_that_follows_it(rig: Rig) -> None:
    ticket, request = await posted(rig, arguments=LARGE)
    (card,), (note,) = rig.root(MONEY), rig.thread(SUPPORT, ticket.thread_ts)
    await rig.approvals.approve(request.id, by="U0OMAR", message_id="MSG-1", seen=request.shown_hash)

    await rig.deliver(word(await rig.approvals.get(request.id), APPROVAL_SETTLED))

    (after,), (told,) = rig.root(MONEY), rig.thread(SUPPORT, ticket.thread_ts)
    assert (buttons(card), buttons(after), buttons(note)) == (BUTTONS, [], [])
    assert (note["text"], told["text"]) == ("A colleague has to approve this.", "A colleague has approved this.")


@pytest.mark.parametrize("members", [("U0OMAR",), ()])
async def test_where_too_few_of_those_who_decide_are_the_card_goes_to_the_handoff_channel(
    rig: Rig, members: tuple[str, ...]
) -> None:
    roster = rig.server.workspace.roster
    roster.put_channel(replace(roster.channel(MONEY), members=(*members, rig.server.world.app.user)))

    await posted(rig, arguments=LARGE, level="L3")

    assert rig.root(MONEY) == []
    assert [buttons(card) for card in rig.root(HANDOFF)] == [BUTTONS]


@pytest.mark.parametrize("channel", [SUPPORT, MONEY])
async def test_a_card_never_stands_where_another_company_reads(rig: Rig, channel: str) -> None:
    roster = rig.server.workspace.roster
    roster.put_channel(replace(roster.channel(channel), shared_with=("T9OTHER",)))
    ticket = await rig.ticket()

    await posted(rig, ticket, arguments=LARGE if channel == MONEY else SMALL)

    assert [each for each in rig.thread(SUPPORT, ticket.thread_ts) if buttons(each)] == []
    assert rig.root(MONEY) == []
    assert len(rig.root(HANDOFF)) == 1


async def test_where_the_handoff_channel_itself_is_shared_there_is_no_card(rig: Rig) -> None:
    roster = rig.server.workspace.roster
    roster.put_channel(replace(roster.channel(HANDOFF), shared_with=("T9OTHER",)))

    with pytest.raises(PermanentError, match="shared"):
        await posted(rig, await rig.ticket(channel="D0EMMA"))


@pytest.mark.parametrize(
    "changes, said", [({"shared_with": ("T9OTHER",)}, "another company"), ({"name": "x"}, "no channel")]
)
async def test_a_rules_channel_that_will_not_do_ends_the_start(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    policy = replace(POLICY, approvals_channels=RULES.channels)
    async with WorkspaceServer(world=money_world(**changes)) as server:
        with pytest.raises(SettingsError, match=said):
            async with connected(server, tmp_path, rules=RULES, policy=policy):
                pass


async def test_an_edit_that_others_decide_takes_the_card_to_them(rig: Rig) -> None:
    ticket, request = await posted(rig)

    await rig.deliver(word(await edited(rig, request, amount_cents=30_000)))
    again = await rig.deliver(word(request))

    cards, (moved, note) = rig.root(MONEY), rig.thread(SUPPORT, ticket.thread_ts)
    assert [buttons(card) for card in cards] == [BUTTONS]
    assert "Version 2, changed by Omar Haddad" in str(cards[0]["blocks"])
    assert (buttons(moved), buttons(note)) == ([], [])
    assert again == []


async def test_a_moved_card_shows_the_record_in_both_places(rig: Rig) -> None:
    ticket, request = await posted(rig)
    changed = await edited(rig, request, amount_cents=30_000)
    await rig.deliver(word(changed))
    await rig.approvals.approve(request.id, by="U0OLIVIA", message_id="MSG-1", seen=changed.shown_hash)

    await rig.deliver(word(await rig.approvals.get(request.id), APPROVAL_SETTLED))

    (card,), (moved, _) = rig.root(MONEY), rig.thread(SUPPORT, ticket.thread_ts)
    assert "Approved" in str(card["blocks"])
    assert "Approved" in str(moved["blocks"])


async def test_a_question_and_its_answer_stand_on_the_card_and_the_answer_under_it(rig: Rig) -> None:
    ticket, request = await posted(rig, await rig.ticket(channel="D0EMMA"))
    await rig.approvals.ask(request.id, by="U0OMAR", message_id="MSG-1", question="Is it <really> broken?")
    await rig.deliver(word(request))
    (waiting,) = rig.root(HANDOFF)
    await rig.approvals.answer(ticket.id, by="U0EMMA", message_id="MSG-2", text="*Yes* & how")
    told = ApprovalAnswered(approval_id=request.id, question_id="MSG-1")

    for _ in range(2):  # the second is one that redraws later
        await rig.deliver(Message(type=APPROVAL_ANSWERED, sender="entry", context_id="c", data=fields_of(told)))

    (card,) = rig.root(HANDOFF)
    (under,) = rig.thread(HANDOFF, card["ts"])
    assert "no answer yet" in str(waiting["blocks"])
    assert "Is it &lt;really&gt; broken?" in str(card["blocks"])
    assert "*Yes* &amp; how" in str(card["blocks"])
    assert under["text"] == "<@U0OMAR> Emma Fischer answered: *Yes* &amp; how"
    assert buttons(card) == BUTTONS


async def test_a_reminder_names_who_may_decide_once(rig: Rig) -> None:
    ticket, request = await posted(rig)

    await rig.deliver(word(request, APPROVAL_REMINDED))
    await rig.deliver(word(request, APPROVAL_REMINDED), redelivered=True)

    _, reminder = rig.thread(SUPPORT, ticket.thread_ts)
    assert reminder["text"].startswith("<!subteam^S0APPROVERS> Refund 30.00 EUR for order 1001 still waits")


async def test_after_the_decision_nobody_is_reminded(rig: Rig) -> None:
    ticket, request = await posted(rig)
    await rig.approvals.approve(request.id, by="U0OMAR", message_id="MSG-1", seen=request.shown_hash)

    assert await rig.deliver(word(request, APPROVAL_REMINDED)) == []
    assert len(rig.thread(SUPPORT, ticket.thread_ts)) == 1


async def test_a_request_that_belongs_to_no_ticket_stands_in_the_handoff_channel(rig: Rig) -> None:
    request = await rig.approval(await rig.ticket(), ticket_id="", requested_by="", arguments=SMALL)

    await rig.deliver(word(request, APPROVAL_REQUESTED))

    assert [buttons(card) for card in rig.root(HANDOFF)] == [BUTTONS]


@pytest.mark.parametrize("error", ["edit_window_closed", "cant_update_message", "missing_scope"])
async def test_under_a_card_that_nobody_may_change_any_more_stands_what_became_of_it(rig: Rig, error: str) -> None:
    _, request = await posted(rig)
    rig.server.faults.add(method="chat.update", fault=ApiError(error), times=5)
    await rig.approvals.reject(request.id, by="U0OMAR", message_id="MSG-no", reason="worn", team="T0HERMES")
    settled = word(await rig.approvals.get(request.id), APPROVAL_SETTLED)

    await rig.deliver(settled)
    await rig.deliver(settled, redelivered=True)

    card = next(post for post in rig.thread(SUPPORT, rig.root(SUPPORT)[0]["ts"]) if buttons(post))
    after = [post for post in rig.thread(SUPPORT, rig.root(SUPPORT)[0]["ts"]) if post["ts"] > card["ts"]]
    assert ["Rejected" in post["text"] for post in after] == [True]
    assert buttons(after[0]) == []
