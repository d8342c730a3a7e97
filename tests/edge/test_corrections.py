""" "Wrong team?" opens a form; what cannot be asked or saved is asked for again."""

from __future__ import annotations

from typing import Any

import pytest

from hermes_bot.edge.clicks import read_submission
from hermes_bot.edge.concerns import Concerns
from hermes_bot.edge.inbound import Bot
from hermes_bot.edge.listeners import CLICK_AGAIN
from hermes_bot.edge.proposal_clicks import proposal_concern
from hermes_bot.edge.views.correction_modal import correction_modal
from hermes_bot.edge.views.look import fault_in
from hermes_bot.edge.views.proposal import proposal_look
from hermes_bot.messages.message import Message, utc_now
from hermes_bot.messages.payloads import HANDOFF_REQUESTED, HandoffRequested, RouteCorrected, fields_of, read
from hermes_bot.triage.corrections import Form
from hermes_bot.triage.proposal import Proposal, ProposalStatus
from tests.edge.rig import Rig

BOT = Bot(team="T0HERMES", user="U0HERMES", bot="B0HERMES")
FIELDS = {"ticket_id": "T-1", "channel": "C0HANDOFF", "message_ts": "1.0"}


def submitted(**changes: Any) -> dict[str, Any]:
    form = Form(ticket_id="T-1", route="order", text="my words", routes=(("order", ""), ("refund", "Money back.")))
    view = correction_modal(form, FIELDS) | {"id": "V1"}
    values = {
        "route": {"route": {"selected_option": {"value": "refund"}}},
        "text": {"text": {"value": " my words "}},
    }
    body: dict[str, Any] = {
        "user": {"id": "U0OMAR", "team_id": "T0HERMES"},
        "view": view | {"state": {"values": values}},
    }
    body["view"] |= changes
    return body


def read_correction(body: dict[str, Any]) -> Any:
    submission = read_submission(body, bot=BOT)
    form = submission and Concerns([proposal_concern(None)]).form(submission.callback_id)
    return form.read(submission) if submission and form else None


def test_a_submitted_form_becomes_a_message() -> None:
    message = read_correction(submitted())

    assert message is not None
    assert read(message, RouteCorrected) == RouteCorrected(
        ticket_id="T-1", route="refund", text="my words", user="U0OMAR", team="T0HERMES", channel="C0HANDOFF"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"callback_id": "approval:reject"},
        {"private_metadata": "{}"},
        {"private_metadata": 7},
        {"state": {}},
        {"state": {"values": {"route": {"route": {"selected_option": None}}}}},
        {"id": ""},
    ],
)
def test_any_other_form_and_a_broken_one_become_nothing(changes: dict[str, Any]) -> None:
    assert read_correction(submitted(**changes)) is None


async def test_where_the_form_cannot_open_the_person_is_asked_to_click_again(socket_rig: Rig) -> None:
    rig = socket_rig
    ticket = await rig.ticket()
    request = HandoffRequested(ticket_id=ticket.id, reason="asked", summary="wants a person")
    await rig.deliver(
        Message(type=HANDOFF_REQUESTED, sender="handoff", context_id=ticket.context_id, data=fields_of(request))
    )
    await rig.server.workspace.wait_for(lambda: rig.server.unsettled == 0)
    (card,) = rig.root("C0HANDOFF")
    rig.published.clear()

    outcome = await rig.server.workspace.click("U0OMAR", "C0HANDOFF", card["ts"], "route:wrong")

    assert outcome.ok
    assert [each["text"] for each in rig.server.workspace.ephemerals("U0OMAR")] == [CLICK_AGAIN]
    assert rig.published == []


@pytest.mark.parametrize("status", list(ProposalStatus))
def test_a_card_is_one_that_slack_takes_however_long_its_words(status: ProposalStatus) -> None:
    proposal = Proposal(
        id="P-1",
        ticket_id="T-1",
        route_was="order",
        route="refund",
        language="en",
        utterance="<!channel> & " * 40,
        lines="+ &<>\n" * 2000,
        effect="• & moved\n" * 2000,
        suggested_by="U0OMAR",
        suggested_at=utc_now(),
        status=status,
        settled_by="U0ADA",
    )
    look = proposal_look(proposal, names={"U0OMAR": "Omar"})

    assert fault_in(look.blocks) == ""
    assert "<!channel>" not in look.text
