"""Cards and replies are valid Block Kit within Slack's limits, and escaped once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.edge.views.approval import approval_look, short_approval_look
from hermes_bot.edge.views.handoff import handoff_look, short_handoff_look
from hermes_bot.edge.views.look import Look, fault_in
from hermes_bot.edge.views.reject_modal import reject_modal
from hermes_bot.edge.views.reply import reply_looks
from hermes_bot.messages.payloads import Choice, Reply
from hermes_bot.tickets.ticket import Owner, Ticket, TicketStatus

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
NAMES = {"U0EMMA": "Emma <Fischer>", "U0OMAR": "Omar Haddad"}
HOSTILE = st.text(alphabet=st.sampled_from("<!channel>&é中👍🏽\n *_`"), min_size=1, max_size=3_000)

REQUEST = ApprovalRequest(
    id="APR-1",
    ticket_id="T-1",
    context_id="T:C:1",
    agent="refund",
    tool="issue_refund",
    level="L2",
    arguments={"order": 1},
    title="Refund 30.00 EUR for order 1001",
    shown=(("Order", "1001"), ("Reason", "<!channel> & broken")),
    shown_hash="abc",
    requested_by="U0EMMA",
    status=ApprovalStatus.PENDING,
    created_at=NOW,
    expires_at=NOW,
    trace_id="0" * 32,
)
TICKET = Ticket(
    id="T-1",
    context_id="T:C:1",
    team="T",
    channel="C0SUPPORT",
    channel_type="channel",
    thread_ts="1.2",
    requester="U0EMMA",
    language="en",
    subject="help",
    status=TicketStatus.WITH_HUMAN,
    owner=Owner.PENDING_HUMAN,
    opened_at=NOW,
    updated_at=NOW,
    handoff_summary="<@U1> wants a person",
)


def buttons(look: Look) -> list[dict[str, Any]]:
    elements = [element for block in look.blocks if block["type"] == "actions" for element in block["elements"]]
    return [element for element in elements if element["type"] == "button"]


def everything(look: Look) -> str:
    return look.text + str(look.blocks)


def test_a_pending_card_shows_what_will_run_and_offers_the_decision() -> None:
    look = approval_look(REQUEST, names=NAMES, context_id="T:C:1", thread_url="https://s.example/1")

    assert look.text.startswith("Refund 30.00 EUR for order 1001")
    assert [(one["text"]["text"], one.get("style")) for one in buttons(look)] == [
        ("Approve", "primary"),
        ("Reject", None),
        ("Edit", None),
        ("Ask customer", None),
    ]
    assert "Emma &lt;Fischer&gt;" in everything(look)
    assert "&lt;!channel&gt; &amp; broken" in everything(look)


@pytest.mark.parametrize(
    "status, words",
    [
        (ApprovalStatus.APPROVED, "*Approved* by Omar Haddad"),
        (ApprovalStatus.REJECTED, "*Rejected* by Omar Haddad"),
        (ApprovalStatus.EXPIRED, "*Expired*"),
        (ApprovalStatus.CANCELLED, "*Cancelled*"),
    ],
)
def test_a_settled_card_has_the_record_in_place_of_its_buttons(status: ApprovalStatus, words: str) -> None:
    settled = replace(
        REQUEST, status=status, settled_by="U0OMAR", settled_at=NOW, reason="not <again>", result="refund 7"
    )

    look = approval_look(settled, names=NAMES)

    assert buttons(look) == []
    assert words in everything(look)
    assert "not &lt;again&gt;" in everything(look)
    assert "refund 7" in everything(look)
    assert buttons(short_approval_look(settled, names=NAMES)) == []


SPOOF = "please\n*Amount*\n1.00 EUR\n:white_check_mark: *Approved* by Omar Haddad \u202egnorw"


def formatted(look: Look) -> str:
    """Return all text of the blocks in which Slack sees bold, lines and emoji."""
    parts: list[Any] = list(look.blocks)
    found = ""
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            found += str(part["text"]) if part.get("type") == "mrkdwn" else ""
            parts += part.values()
        elif isinstance(part, list | tuple):
            parts += part
    return found


def test_what_a_customer_wrote_cannot_look_like_a_part_of_the_card() -> None:
    request = replace(REQUEST, title="Refund *Approved*", shown=(("Amount", "30.00 EUR"), ("Reason", SPOOF)))
    short = short_approval_look(request, names=NAMES)
    asked = approval_look(request, names=NAMES | {"U0EMMA": "*Approved* by\nOmar"})
    handed = handoff_look(replace(TICKET, handoff_summary=SPOOF), names=NAMES)

    assert "\n*Amount*" not in asked.text
    assert all(
        words not in formatted(look) for look in (asked, short, handed) for words in ("*Approved*", "1.00 EUR\n")
    )
    assert "\u202e" not in everything(asked) + everything(handed)
    assert "Asked for by Approved by Omar ·" in formatted(asked)


def test_a_card_names_the_customer_once() -> None:
    ticket = replace(TICKET, handoff_summary="Customer: Emma Fischer (writes English)\nLatest message: help")

    assert repr(handoff_look(ticket, names={ticket.requester: "Emma Fischer"}).blocks).count("Emma Fischer") == 1
    assert "Emma Fischer" in repr(handoff_look(TICKET, names={TICKET.requester: "Emma Fischer"}).blocks)


@given(HOSTILE, st.lists(st.tuples(HOSTILE, HOSTILE), max_size=25), HOSTILE)
def test_a_card_is_valid_whatever_it_shows(title: str, shown: list[tuple[str, str]], reason: str) -> None:
    for status in (ApprovalStatus.PENDING, ApprovalStatus.REJECTED):
        request = replace(
            REQUEST, status=status, title=title, shown=tuple(shown), reason=reason, result=reason, settled_at=NOW
        )
        look = approval_look(request, names=NAMES)

        assert fault_in(look.blocks) == ""
        assert len(look.text) <= 4_000
        assert "<!channel" not in everything(look)


@pytest.mark.parametrize(
    "owner, label, words",
    [
        (Owner.PENDING_HUMAN, ["Claim", "Solved"], "Waiting for somebody"),
        (Owner.HUMAN, ["Reply to customer", "Give back", "Solved"], "Claimed by Omar Haddad"),
        (Owner.BOT, ["Take over", "Solved"], "Given back to Hermes"),
    ],
)
def test_a_handoff_card_says_who_has_the_ticket(owner: Owner, label: list[str], words: str) -> None:
    ticket = replace(TICKET, owner=owner, assignee="U0OMAR", handoff_round=1)

    for look in (handoff_look(ticket, names=NAMES), short_handoff_look(ticket, names=NAMES)):
        assert [button["text"]["text"] for button in buttons(look)] == label
        assert words in everything(look)


@given(HOSTILE)
def test_a_handoff_card_is_valid_whatever_the_customer_wrote(text: str) -> None:
    look = handoff_look(replace(TICKET, handoff_summary=text, handoff_reason=text), names={"U0EMMA": text})

    assert fault_in(look.blocks) == ""
    assert len(look.text) <= 4_000
    assert "<!channel" not in everything(look)


@given(
    st.text(max_size=15_000),
    st.lists(st.tuples(HOSTILE, HOSTILE), max_size=25),
    st.lists(st.builds(Choice, id=st.text(min_size=1, max_size=40), label=HOSTILE), max_size=30),
)
def test_a_reply_is_valid_whatever_it_says(text: str, fields: list[tuple[str, str]], choices: list[Choice]) -> None:
    reply = Reply(
        ticket_id="T-1", channel="C", thread_ts="1.2", text=text, fields=tuple(fields), choices=tuple(choices)
    )

    looks = reply_looks(reply, context_id="T:C:1")

    assert [fault_in(look.blocks) for look in looks] == [""] * len(looks)
    assert all(0 < len(look.text) <= 40_000 for look in looks)
    assert "<!channel" not in "".join(everything(look) for look in looks)


def test_each_choice_has_an_action_id_of_its_own() -> None:
    choices = (Choice(id="a", label="Order A & B"), Choice(id="b", label="B"))
    (look,) = reply_looks(
        Reply(ticket_id="T-1", channel="C", thread_ts="1.2", text="Which?", choices=choices), context_id="x"
    )

    assert [one["action_id"] for one in buttons(look)] == ["choice:1", "choice:2"]
    assert buttons(look)[0]["text"]["text"] == "Order A &amp; B"


def test_blocks_over_a_limit_are_noticed() -> None:
    block = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2_900}}

    assert fault_in([block] * 51)
    assert fault_in([block] * 5)
    assert fault_in([{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3_001}}])


def test_the_reject_modal_keeps_within_slacks_limits() -> None:
    modal = reject_modal({"approval_id": "APR-1"})

    assert len(modal["title"]["text"]) <= 24
    assert fault_in(modal["blocks"]) == ""
