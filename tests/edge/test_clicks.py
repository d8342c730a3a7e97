"""Presses of Slack's become messages for the bus, whatever Slack leaves out and whatever a value holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.edge.approval_clicks import approval_concern
from hermes_bot.edge.choice_clicks import choice_concern
from hermes_bot.edge.clicks import Click, read_clicks, read_submission
from hermes_bot.edge.concerns import Concern, Concerns
from hermes_bot.edge.handoff_clicks import handoff_concern
from hermes_bot.edge.inbound import Bot
from hermes_bot.edge.views.reject_modal import reject_modal
from hermes_bot.edge.views.values import packed
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import ApprovalClicked, Clicked, HandoffClicked, read
from hermes_bot.tools.refund_tools import issue_refund

BOT = Bot(team="T0HERMES", user="U0HERMES", bot="B0HERMES")
CONTEXT = "T0HERMES:C0SUPPORT:1.2"
APPROVAL = packed(approval_id="APR-1", shown_hash="abc", context_id=CONTEXT)


class NoApprovals:
    async def get(self, approval_id: str) -> ApprovalRequest:
        raise PermanentError(f"there is no approval {approval_id}")

    async def listing(self, *, status: ApprovalStatus | None = None, limit: int = 50) -> list[ApprovalRequest]:
        return []


TOOLS = {issue_refund.name: issue_refund}
CONCERNS = Concerns([approval_concern(NoApprovals(), TOOLS.get), handoff_concern(), choice_concern()])


def body(action_id: str, value: Any, **more: Any) -> dict[str, Any]:
    action = {"action_id": action_id, "value": value, "action_ts": "17.5", "text": {"text": "Order &amp; Co"}}
    return {
        "type": "block_actions",
        "user": {"id": "U0OMAR", "team_id": "T0HERMES"},
        "channel": {"id": "C0HANDOFF"},
        "message": {"ts": "9.9"},
        "actions": [action],
    } | more


def clicks(payload: dict[str, Any], bot: Bot = BOT) -> list[Click]:
    return read_clicks(payload, bot=bot, ours=CONCERNS.knows)


def meant(click: Click) -> Message | None:
    reader = CONCERNS.reader(click.action_id)
    assert reader is not None
    return reader(click)


def one(payload: dict[str, Any]) -> Any:
    (click,) = clicks(payload)
    return meant(click)


def read_form(payload: dict[str, Any]) -> Any:
    submission = read_submission(payload, bot=BOT)
    form = CONCERNS.form(submission.callback_id) if submission else None
    return form.read(submission) if form and submission else None


@pytest.mark.parametrize("thread_ts, inside", [("1.2", "1.2"), ("9.9", ""), ("", "")])
def test_a_card_in_a_thread_is_told_from_one_that_begins_a_thread(thread_ts: str, inside: str) -> None:
    place = {"message": {"ts": "9.9", "thread_ts": thread_ts}}

    pressed = read(one(body("approval:approve", APPROVAL, **place)), ApprovalClicked)
    claimed = read(one(body("handoff:claim", packed(ticket_id="T-1"), **place)), HandoffClicked)

    assert (pressed.thread_ts, claimed.thread_ts) == (inside, inside)


def test_approve_carries_what_was_shown_and_where_it_was_pressed() -> None:
    message = one(body("approval:approve", APPROVAL))

    clicked = read(message, ApprovalClicked)
    assert message.task_id == "click:T0HERMES:U0OMAR:17.5:approval:approve"
    assert message.context_id == CONTEXT
    assert clicked == ApprovalClicked(
        approval_id="APR-1",
        decision="approve",
        shown_hash="abc",
        user="U0OMAR",
        team="T0HERMES",
        channel="C0HANDOFF",
        message_ts="9.9",
    )


def test_claim_and_give_back_are_told_apart() -> None:
    value = packed(ticket_id="T-1")

    actions = [
        read(one(body(pressed, value)), HandoffClicked).action for pressed in ("handoff:claim", "handoff:return")
    ]

    assert actions == ["claim", "return"]


def test_a_choice_comes_with_the_label_that_was_read() -> None:
    clicked = read(one(body("choice:2", packed(ticket_id="T-1", choice="order:7"))), Clicked)

    assert (clicked.ticket_id, clicked.choice, clicked.label) == ("T-1", "order:7", "Order & Co")


def test_a_click_without_channel_message_and_team_is_still_read() -> None:
    payload = body("approval:approve", APPROVAL)
    bare = {"type": "block_actions", "user": {"id": "U0OMAR"}, "actions": payload["actions"]}

    clicked = read(one(bare), ApprovalClicked)

    assert (clicked.channel, clicked.message_ts, clicked.team) == ("", "", "T0HERMES")


def test_a_click_by_somebody_of_another_team_says_so() -> None:
    clicked = read(one(body("approval:approve", APPROVAL, user={"id": "U1", "team_id": "T0OTHER"})), ApprovalClicked)

    assert clicked.team == "T0OTHER"


@pytest.mark.parametrize(
    "named, team", [("E0ACME", "T0HERMES"), ("E0OTHER", "E0OTHER"), (None, "T0HERMES"), ("", "T0HERMES")]
)
def test_a_click_that_names_our_enterprise_is_of_our_team(named: Any, team: str) -> None:
    payload = body("approval:approve", APPROVAL, user={"id": "W0OMAR", "team_id": named}, team=None)

    (click,) = clicks(payload, Bot(team="T0HERMES", user="W0HERMES", enterprise="E0ACME"))

    assert (click.user, click.team) == ("W0OMAR", team)


@pytest.mark.parametrize("value", [None, 7, "", "{", "[]", '{"approval_id": 7}', '"x"', "[" * 1_500, "{}" * 2_000])
def test_a_value_that_is_not_ours_means_nothing(value: Any) -> None:
    assert one(body("approval:approve", value)) is None


def test_buttons_of_others_are_not_read() -> None:
    assert clicks(body("somebody:else", APPROVAL)) == []


def test_a_menu_says_what_was_chosen() -> None:
    payload = body("choice:1", None)
    payload["actions"][0] |= {"selected_option": {"value": packed(ticket_id="T-1")}, "selected_user": "U0OMAR"}

    (click,) = clicks(payload)

    assert (click.fields, click.selected) == ({"ticket_id": "T-1"}, "U0OMAR")


def test_two_concerns_cannot_name_the_same_button() -> None:
    with pytest.raises(ValueError, match="handoff:claim"):
        Concerns([handoff_concern(), Concern(buttons={"handoff:claim": lambda _click: None})])


def submission(reason: Any) -> dict[str, Any]:
    fields = {"approval_id": "APR-1", "shown_hash": "abc", "context_id": CONTEXT, "channel": "C0HANDOFF"}
    view = reject_modal(fields) | {"id": "V1", "state": {"values": {"reason": {"reason": {"value": reason}}}}}
    return {"type": "view_submission", "user": {"id": "U0OMAR", "team_id": "T0HERMES"}, "view": view}


def test_a_rejection_brings_its_reason_back_with_the_card() -> None:
    message = read_form(submission("  too late "))

    assert message is not None
    clicked = read(message, ApprovalClicked)
    assert (clicked.decision, clicked.reason, clicked.channel) == ("reject", "too late", "C0HANDOFF")


def test_a_rejection_without_a_reason_counts() -> None:
    message = read_form(submission(None))

    assert message is not None
    assert read(message, ApprovalClicked).reason == ""


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = ["user", "team", "channel", "message", "container", "actions", "trigger_id", "view", "type"]


@given(st.dictionaries(st.sampled_from(NAMES), JSON, max_size=5))
def test_mutated_interactions_never_crash(changes: dict[str, Any]) -> None:
    messages = [meant(click) for click in clicks(body("choice:1", APPROVAL) | changes)]

    assert all(message is None for message in messages)
    assert read_form(submission("x") | {"view": changes}) is None
