"""Presses in the workspace become messages; a press that cannot be saved is asked for again."""

from __future__ import annotations

from typing import Any

import pytest

from hermes_bot.edge.listeners import ANSWER_WITHIN_S, CLICK_AGAIN, FORM_SPARE_S
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import (
    APPROVAL_REQUESTED,
    ApprovalClicked,
    ApprovalRequested,
    Audience,
    Choice,
    Clicked,
    fields_of,
    read,
)
from hermes_bot.workspace.faults import ApiError, ServerError, Slow
from hermes_bot.workspace.interactions import Outcome
from tests.edge.rig import Rig, owner_only, reply_to


async def card(rig: Rig) -> dict[str, Any]:
    """Return the card of an approval for a ticket in a DM, in the handoff channel; nothing published yet."""
    request = await rig.approval(await rig.ticket(channel="D0EMMA"))
    data = fields_of(ApprovalRequested(approval_id=request.id))
    await rig.deliver(Message(type=APPROVAL_REQUESTED, sender="refund", context_id="T:C:1", data=data))
    await rig.server.workspace.wait_for(lambda: rig.server.unsettled == 0)
    rig.published.clear()
    (found,) = rig.root("C0HANDOFF")
    return found


async def pressed(rig: Rig, post: dict[str, Any], action_id: str, user: str = "U0OMAR") -> Outcome:
    return await rig.server.workspace.click(user, "C0HANDOFF", post["ts"], action_id)


async def test_approve_is_published_at_once(rig: Rig) -> None:
    post = await card(rig)

    outcome = await pressed(rig, post, "approval:approve")

    (clicked,) = [read(message, ApprovalClicked) for message in rig.published]
    assert outcome.ok
    assert (clicked.decision, clicked.user, clicked.team) == ("approve", "U0OMAR", "T0HERMES")
    assert (clicked.channel, clicked.message_ts) == ("C0HANDOFF", post["ts"])
    assert clicked.shown_hash == (await rig.approvals.get(clicked.approval_id)).shown_hash


async def test_reject_asks_for_a_reason_and_publishes_it(rig: Rig) -> None:
    post = await card(rig)

    await pressed(rig, post, "approval:reject")
    before = list(rig.published)
    (modal,) = rig.server.workspace.modals("U0OMAR")
    await rig.server.workspace.submit("U0OMAR", modal["id"], {"reason": {"reason": "already paid"}})

    (clicked,) = [read(message, ApprovalClicked) for message in rig.published]
    assert before == []
    assert (clicked.decision, clicked.reason, clicked.message_ts) == ("reject", "already paid", post["ts"])
    assert rig.server.workspace.modals("U0OMAR") == []


@pytest.mark.parametrize("fault", [ApiError("expired_trigger_id"), ServerError()])
async def test_a_rejection_counts_without_a_reason_when_the_modal_does_not_open(rig: Rig, fault: Any) -> None:
    post = await card(rig)
    rig.server.faults.add(method="views.open", fault=fault)

    outcome = await pressed(rig, post, "approval:reject")

    (clicked,) = [read(message, ApprovalClicked) for message in rig.published]
    assert outcome.ok
    assert (clicked.decision, clicked.reason) == ("reject", "")


async def test_a_click_that_the_bus_did_not_take_is_asked_for_again(rig: Rig) -> None:
    post = await card(rig)
    rig.to_fail = 1

    await pressed(rig, post, "approval:approve")
    asked = [one["text"] for one in rig.server.workspace.ephemerals("U0OMAR")]
    await pressed(rig, post, "approval:approve")

    assert asked == [CLICK_AGAIN]
    assert len(rig.published) == 1


async def test_a_rejection_that_the_bus_did_not_take_keeps_the_modal_open(rig: Rig) -> None:
    post = await card(rig)
    await pressed(rig, post, "approval:reject")
    (modal,) = rig.server.workspace.modals("U0OMAR")
    rig.to_fail = 1

    first = await rig.server.workspace.submit("U0OMAR", modal["id"], {"reason": {"reason": "no"}})
    second = await rig.server.workspace.submit("U0OMAR", modal["id"], {"reason": {"reason": "no"}})

    assert (first.errors, second.errors) == ({"reason": CLICK_AGAIN}, {})
    assert len(rig.published) == 1


async def test_a_form_that_slack_does_not_open_leaves_time_to_say_so_before_the_acknowledgement_is_due(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = await card(rig)
    rig.server.faults.add(method="views.open", fault=Slow(3_600.0))
    for name in ("ANSWER_WITHIN_S", "FORM_SPARE_S"):  # nothing is left for the form, and much for all that follows
        monkeypatch.setattr(f"hermes_bot.edge.listeners.{name}", 60.0)

    outcome = await pressed(rig, post, "approval:edit")

    assert outcome.ok
    assert [message.data["decision"] for message in rig.published] == ["edit"]
    assert FORM_SPARE_S < ANSWER_WITHIN_S < 3.0


@pytest.mark.parametrize("audience", [Audience.THREAD, Audience.EPHEMERAL])
async def test_a_choice_comes_back_to_its_ticket_in_its_conversation(rig: Rig, audience: Audience) -> None:
    ticket = await rig.ticket()
    choices = (Choice(id="1001", label="Order 1001"), Choice(id="1002", label="Order 1002"))
    reply = owner_only if audience is Audience.EPHEMERAL else reply_to
    more = {"audience": audience} if audience is Audience.EPHEMERAL else {}
    await rig.deliver(reply(ticket, "Which one?", choices=choices, **more))
    workspace = rig.server.workspace
    await workspace.wait_for(lambda: rig.server.unsettled == 0)
    rig.published.clear()
    shown = (
        workspace.ephemerals("U0EMMA") if audience is Audience.EPHEMERAL else rig.thread("C0SUPPORT", ticket.thread_ts)
    )

    await workspace.click("U0EMMA", "C0SUPPORT", shown[0]["ts"], "choice:2")

    (message,) = rig.published
    clicked = read(message, Clicked)
    assert (clicked.ticket_id, clicked.choice, clicked.label) == (ticket.id, "1002", "Order 1002")
    assert message.context_id == ticket.context_id


async def test_a_press_of_an_unknown_button_is_acknowledged(rig: Rig) -> None:
    button = {"type": "button", "text": {"type": "plain_text", "text": "?"}, "action_id": "unknown", "value": "x"}
    blocks = [{"type": "actions", "elements": [button]}]
    posted = await rig.api.call("chat.postMessage", channel="C0HANDOFF", text="?", blocks=blocks)

    outcome = await rig.server.workspace.click("U0OMAR", "C0HANDOFF", posted["ts"], "unknown")

    assert outcome.ok
    assert rig.published == []
