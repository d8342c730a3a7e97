"""What customers do besides writing: words in pieces, edits, thumbs; and what reopens a ticket."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from agents.entry import EntryAgent
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import TICKET_ORDER, Work, fields_of, read
from hermes_bot.messages.ticket_payloads import (
    TICKET_DELETED,
    TICKET_EDITED,
    TICKET_GATHERED,
    TICKET_RATED,
    Deleted,
    Edited,
    TicketRated,
)
from hermes_bot.tickets.ticket import TicketStatus
from hermes_bot.tickets.tickets import Tickets
from tests.agents.harness import SUPPORT, TEAM, Clock, Pump, Turn

EMMA = "U0EMMA"


@pytest.fixture
def patient(pump: Pump, clock: Clock) -> Pump:
    """A desk that waits five seconds for the next message."""
    database = pump.desk.tickets.database
    tickets = Tickets(database, clock=clock, continue_window_s=900, merge_window_s=5)
    return replace(pump, desk=replace(pump.desk, tickets=tickets))


async def after(pump: Pump, turn: Turn) -> list[Message]:
    """Return what follows when the time to wait for more is over."""
    (waiting,) = turn.of(TICKET_GATHERED)
    assert waiting.not_before is not None
    message = msgspec.structs.replace(waiting, id=f"{waiting.id}-late")
    tickets = pump.desk.tickets.on_behalf(message.id, "entry")
    return await EntryAgent().handle(message, replace(pump.desk, tickets=tickets))


async def test_what_is_written_in_one_go_is_one_ticket_and_one_request(patient: Pump) -> None:
    first = await patient.says(EMMA, "Where is my order")
    second = await patient.says(EMMA, "10002 please")

    assert await after(patient, first) == []
    (work,) = await after(patient, second)

    assert (work.type, read(work, Work).text) == (TICKET_ORDER, "Where is my order\n10002 please")
    assert len(await patient.desk.tickets.listing()) == 1


async def test_a_message_after_a_pause_is_a_ticket_of_its_own(patient: Pump, clock: Clock) -> None:
    first = await patient.says(EMMA, "Where is my order 10002?")
    clock.now = clock.now.replace(minute=1)
    second = await patient.says(EMMA, "I want a refund for order 10001")

    works = [*await after(patient, first), *await after(patient, second)]

    assert [work.type for work in works] == ["ticket.order", "ticket.refund"]
    assert len(await patient.desk.tickets.listing()) == 2


@pytest.mark.parametrize("thumb, rating", [("👍", "up"), (":-1:", "down"), ("👎🏽", "down"), (":thumbsup:", "up")])
async def test_a_lone_thumb_rates_the_answer(pump: Pump, thumb: str, rating: str) -> None:
    asked = await pump.says(EMMA, "Where is my order 10002?")
    turn = await pump.says(EMMA, thumb, thread_ts=asked.answer.thread_ts)

    (rated,) = turn.of(TICKET_RATED)
    assert read(rated, TicketRated).rating == rating
    assert turn.replies == []


@pytest.mark.parametrize(
    "text, status", [("thanks!", TicketStatus.CLOSED), ("Where is order 10003?", TicketStatus.SOLVED)]
)
async def test_a_reply_reopens_a_closed_ticket_and_thanks_do_not(pump: Pump, text: str, status: TicketStatus) -> None:
    asked = await pump.says(EMMA, "Where is my order 10002?")
    ticket_id = asked.answer.ticket_id
    await pump.desk.tickets.update(ticket_id, status=TicketStatus.CLOSED)

    await pump.says(EMMA, text, thread_ts=asked.answer.thread_ts)

    assert (await pump.desk.tickets.get(ticket_id)).status is status


@pytest.mark.parametrize(
    "now, anew",
    [
        ("Where is my order 10002 ?", False),
        ("Where is my order 10003?", True),
        ("I want a refund for order 10002", True),
    ],
)
async def test_an_edit_is_answered_anew_only_where_the_answer_no_longer_fits(pump: Pump, now: str, anew: bool) -> None:
    before = "Where is my order 10002?"
    asked = await pump.says(EMMA, before)
    ts = asked.answer.thread_ts
    edit = Edited(team=TEAM, channel=SUPPORT, ts=ts, user=EMMA, text=now, previous=before)
    message = Message(
        type=TICKET_EDITED, sender="slack", context_id=f"{TEAM}:{SUPPORT}:{ts}", id="MSG-edit", data=fields_of(edit)
    )
    tickets = pump.desk.tickets.on_behalf(message.id, "entry")

    outputs = await EntryAgent().handle(message, replace(pump.desk, tickets=tickets))

    assert bool(outputs) == anew
    (ticket,) = await pump.desk.tickets.listing()
    assert ticket.subject == now


@pytest.mark.parametrize("type_", [TICKET_EDITED, TICKET_DELETED])
async def test_a_change_that_comes_before_what_it_changes_is_looked_at_again_a_few_times(
    pump: Pump, type_: str
) -> None:
    edit = Edited(team=TEAM, channel=SUPPORT, ts="1.000001", user=EMMA, text="now")
    body = edit if type_ == TICKET_EDITED else Deleted(team=TEAM, channel=SUPPORT, ts="1.000001", user=EMMA)
    message = Message(type=type_, sender="slack", context_id=f"{TEAM}:{SUPPORT}:1.000001", data=fields_of(body))
    waits_s = []
    while again := await EntryAgent().handle(message, pump.desk):
        (later,) = again
        assert later.not_before is not None
        waits_s.append((later.not_before - message.created_at).total_seconds())
        message = msgspec.structs.replace(later, created_at=message.created_at)

    assert waits_s == [5, 60, 300]
    assert await pump.desk.tickets.listing() == []


async def test_who_calls_the_bot_by_an_edit_is_heard_once(pump: Pump) -> None:
    words = "Where is my order 10002?"
    edit = Edited(team=TEAM, channel=SUPPORT, ts="1.000001", user=EMMA, text=words, mentioned=True)
    message = Message(
        type=TICKET_EDITED, sender="slack", context_id=f"{TEAM}:{SUPPORT}:1.000001", data=fields_of(edit), id="MSG-1"
    )
    for attempt in range(2):
        tickets = pump.desk.tickets.on_behalf(message.id, "entry")
        (work,) = await EntryAgent().handle(message, replace(pump.desk, tickets=tickets, redelivered=attempt > 0))

        assert (work.type, read(work, Work).text) == (TICKET_ORDER, words)
    assert len(await pump.desk.tickets.listing()) == 1
