"""The form behind Edit is made from the tool's schema, filled with what would run, and read back as the tool reads."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.edge.approval_clicks import read_edit, read_question
from hermes_bot.edge.clicks import read_submission
from hermes_bot.edge.inbound import Bot
from hermes_bot.edge.views.ask_modal import ask_modal
from hermes_bot.edge.views.edit_modal import edit_modal
from hermes_bot.messages.approval_payloads import ApprovalAsked, ApprovalEdited
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import read
from hermes_bot.tools.refund_tools import issue_refund
from hermes_bot.workspace.view_rules import checked_view

BOT = Bot(team="T0HERMES", user="U0HERMES", bot="B0HERMES")
FIELDS = {
    "approval_id": "APR-1",
    "shown_hash": "abc",
    "channel": "C0HANDOFF",
    "message_ts": "1.1",
    "tool": "issue_refund",
}
REQUEST = ApprovalRequest(
    id="APR-1",
    ticket_id="T-1",
    context_id="T:C:1",
    agent="refund",
    tool="issue_refund",
    level="L2",
    arguments={"order_id": "10001", "amount_cents": 1050, "currency": "EUR", "reason": "worn", "items": ["a", "b x2"]},
    title="Refund",
    shown=(),
    shown_hash="abc",
    requested_by="U0EMMA",
    status=ApprovalStatus.PENDING,
    created_at=datetime(2026, 11, 30, tzinfo=UTC),
    expires_at=datetime(2026, 12, 1, tzinfo=UTC),
    trace_id="0" * 32,
)
TOOLS = {issue_refund.name: issue_refund}
ODD = {
    "type": "object",
    "required": ["kind"],
    "properties": {
        "kind": {"type": "string", "enum": ["full", "part"], "description": "What " * 100},
        "loud": {"type": "boolean"},
        "times": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "more": {"type": "object"},
    },
}


def inputs(view: dict[str, Any]) -> dict[str, Any]:
    return {block["block_id"]: block for block in view["blocks"] if block["type"] == "input"}


def submitted(view: dict[str, Any], **typed: str) -> Any:
    """Return the form as Slack sends it: what stood in it, and what was typed instead."""
    values: dict[str, Any] = {}
    for block_id, block in inputs(view).items():
        element, name = block["element"], block_id.removeprefix("argument:")
        values[block_id] = {block_id: {"value": typed.get(name, element.get("initial_value"))}}
    body = {"user": {"id": "U0OMAR", "team_id": "T0HERMES"}, "view": view | {"id": "V1", "state": {"values": values}}}
    form = read_submission(body, bot=BOT)
    assert form is not None
    return form


def test_the_form_shows_what_would_run_in_peoples_words() -> None:
    view = edit_modal(REQUEST, issue_refund.parameters, FIELDS)
    shown = {name: block["element"].get("initial_value") for name, block in inputs(view).items()}

    assert shown == {
        "argument:order_id": "10001",
        "argument:amount_cents": "10.50",
        "argument:currency": "EUR",
        "argument:reason": "worn",
        "argument:items": "a\nb x2",
    }
    assert inputs(view)["argument:amount_cents"]["label"]["text"] == "Amount (EUR)"
    checked_view(view)


@pytest.mark.parametrize("typed, cents", [("25", 2500), ("25.5", 2550), ("10.50", 1050), ("7,20", 720), ("9 EUR", 900)])
def test_an_amount_is_read_as_it_is_shown(typed: str, cents: int) -> None:
    form = submitted(edit_modal(REQUEST, issue_refund.parameters, FIELDS), amount_cents=typed)
    message = read_edit(TOOLS.get, form)

    assert isinstance(message, Message)
    arguments = issue_refund.arguments.read(read(message, ApprovalEdited).arguments)
    assert isinstance(arguments, dict)
    assert arguments["amount_cents"] == cents


def test_an_unchanged_form_gives_the_same_arguments() -> None:
    message = read_edit(TOOLS.get, submitted(edit_modal(REQUEST, issue_refund.parameters, FIELDS)))

    assert isinstance(message, Message)
    assert issue_refund.arguments.read(read(message, ApprovalEdited).arguments) == REQUEST.arguments


def test_what_the_schema_does_not_take_is_said_at_its_input() -> None:
    form = submitted(edit_modal(REQUEST, issue_refund.parameters, FIELDS), amount_cents="much", currency="EURO")
    errors = read_edit(TOOLS.get, form)

    assert isinstance(errors, dict)
    assert set(errors) == {"argument:amount_cents", "argument:currency"}


def test_options_and_yes_or_no_are_menus_and_the_form_is_one_that_slack_takes() -> None:
    request = replace(REQUEST, arguments={"kind": "part", "loud": True, "times": None, "more": {"a": 1}})
    view = edit_modal(request, ODD, FIELDS)
    found = inputs(view)

    assert found["argument:kind"]["element"]["initial_option"]["value"] == "part"
    assert found["argument:loud"]["element"]["initial_option"]["value"] == "true"
    assert found["argument:more"]["element"]["initial_value"] == '{"a": 1}'
    assert [block["optional"] for block in found.values()] == [False, True, True, True]
    checked_view(view)


@given(st.dictionaries(st.sampled_from(sorted(REQUEST.arguments)), st.text(max_size=4_000)))
def test_whatever_stands_in_it_the_form_is_one_that_slack_takes(arguments: dict[str, str]) -> None:
    request = replace(REQUEST, arguments=REQUEST.arguments | arguments)

    checked_view(edit_modal(request, issue_refund.parameters, FIELDS))


def test_a_question_comes_back_with_its_card_and_an_empty_one_stays_open() -> None:
    view = ask_modal(FIELDS) | {"id": "V1"}
    bodies = [
        {"user": {"id": "U0OMAR"}, "view": view | {"state": {"values": {"question": {"question": {"value": words}}}}}}
        for words in (" Why? ", "  ")
    ]
    asked, empty = [read_question(form) for body in bodies if (form := read_submission(body, bot=BOT))]

    assert isinstance(asked, Message)
    told = read(asked, ApprovalAsked)
    assert (told.question, told.approval_id, told.channel) == ("Why?", "APR-1", "C0HANDOFF")
    assert isinstance(empty, dict)
    assert list(empty) == ["question"]
    checked_view(ask_modal(FIELDS))
