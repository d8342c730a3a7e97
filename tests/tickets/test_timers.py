"""What happens to a ticket when nothing happens, and what customers think of it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hermes_bot.bus.port import Delivery
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import HANDOFF_NOTED, HANDOFF_REQUESTED, REPLY_READY, HandoffNoted, Reply, read
from hermes_bot.messages.ticket_payloads import TICKET_DUE, TICKET_RATED, Stopped, TicketDue, TicketRated
from hermes_bot.people import Person, Roles
from hermes_bot.tickets.changes import changes
from hermes_bot.tickets.feedback import Feedback
from hermes_bot.tickets.ticket import Owner, Priority, Ticket, TicketStatus
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tickets.timers import Timers
from hermes_bot.tickets.waits import Waits
from tests.tickets.conftest import Clock, inbound

THREAD = "T0HERMES:C0SUPPORT:1700000000.000100"
WAITS = Waits(
    nudge_after_s=100,
    close_after_s=200,
    first_response_s={Priority.NORMAL: 400.0, Priority.URGENT: 50.0},
    escalate_after_s=300,
    on_call=("S0ONCALL",),
)


class Known:
    async def person(self, team: str, user: str, *, fresh: bool = False) -> Person:
        return Person(team=team, id=user, name=user)

    async def group_members(self, group: str) -> frozenset[str]:
        return frozenset()


class Desk:
    """The timers over a ticket, and what they have set."""

    def __init__(self, tickets: Tickets, clock: Clock) -> None:
        self.tickets = tickets
        self.clock = clock
        self.timers = Timers(tickets, Known(), waits=WAITS, render=lambda language, key, **values: key)
        self.due: list[Message] = []
        self.cancelled: list[str] = []
        self.in_work = 1
        self.number = 0

    async def cancel(self, context_id: str) -> int:
        self.cancelled.append(context_id)
        return self.in_work

    @property
    def feedback(self) -> Feedback:
        roles = Roles(Known(), team="T0HERMES")
        return Feedback(
            self.tickets, roles, staff=("U0OMAR",), cancel=self.cancel, render=lambda language, key, **values: key
        )

    async def opened(self) -> Ticket:
        located = await self.tickets.locate(inbound(), context_id=THREAD, message_id="MSG-0", language="en")
        return located.ticket

    def acting(self) -> tuple[Tickets, Message]:
        self.number += 1
        message = Message(type="test.acts", sender="test", context_id=THREAD, id=f"MSG-{self.number}")
        return self.tickets.on_behalf(message.id, "test"), message

    async def told(self, tickets: Tickets, message: Message) -> None:
        """Let the timers hear what was changed on behalf of the message."""
        for number, changed in enumerate(await changes(tickets, message, redelivered=False)):
            heard = msgspec.structs.replace(changed, id=f"{message.id}-{number}")
            outputs = await self.timers.on_changed(heard, delivery(heard))
            self.due += [each for each in outputs if each.type == TICKET_DUE]

    async def comes(self, what: str) -> list[Message]:
        """Return what follows when the time for this has come, the same on a repeat."""
        due = next(each for each in self.due if read(each, TicketDue).what == what)
        self.due.remove(due)
        assert due.not_before is not None
        self.clock.now = max(self.clock.now, due.not_before)
        message = msgspec.structs.replace(due, id=f"MSG-due-{what}")
        outputs = list(await self.timers.on_due(message, delivery(message)))
        again = list(await self.timers.on_due(message, delivery(message, redelivered=True)))
        assert [each.type for each in again] == [each.type for each in outputs]
        self.due += [each for each in outputs if each.type == TICKET_DUE]
        return [each for each in outputs if each.type in (REPLY_READY, HANDOFF_NOTED)]


def delivery(message: Message, *, redelivered: bool = False) -> Delivery:
    return Delivery(message=message, subscription="tickets", agent="tickets", redelivered=redelivered)


@pytest.fixture
def desk(tickets: Tickets, clock: Clock) -> Desk:
    return Desk(tickets, clock)


async def test_a_customer_who_was_asked_is_asked_again_and_then_the_ticket_is_closed(desk: Desk) -> None:
    ticket = await desk.opened()
    tickets, message = desk.acting()
    await tickets.update(ticket.id, status=TicketStatus.WAITING_CUSTOMER)
    await desk.told(tickets, message)

    nudged, closed = await desk.comes("nudge"), await desk.comes("close")

    assert [read(each, Reply).text for each in (*nudged, *closed)] == ["tickets.nudge", "tickets.closed"]
    assert (await desk.tickets.get(ticket.id)).status is TicketStatus.CLOSED


async def test_who_answers_in_time_is_neither_nudged_nor_closed(desk: Desk) -> None:
    ticket = await desk.opened()
    tickets, message = desk.acting()
    await tickets.update(ticket.id, status=TicketStatus.WAITING_CUSTOMER)
    await desk.told(tickets, message)
    await desk.tickets.locate(inbound("it is 10002"), context_id=THREAD, message_id="MSG-late", language="en")

    assert await desk.comes("nudge") == []
    assert (await desk.tickets.get(ticket.id)).status is TicketStatus.WAITING_CUSTOMER


async def test_those_on_call_hear_that_nobody_claims_a_ticket(desk: Desk) -> None:
    ticket = await desk.opened()
    tickets, message = desk.acting()
    await tickets.hand_to_human(ticket.id, reason="asked", summary="")
    await desk.told(tickets, message)

    (escalated,) = await desk.comes("escalate")

    note = read(escalated, HandoffNoted)
    assert (note.mentions, note.loud) == (("S0ONCALL",), True)
    assert "5 min" in note.text


async def test_a_claimed_ticket_is_not_escalated_and_its_owner_hears_that_the_first_answer_is_late(
    desk: Desk,
) -> None:
    ticket = await desk.opened()
    tickets, message = desk.acting()
    await tickets.hand_to_human(ticket.id, reason="asked", summary="")
    await desk.told(tickets, message)
    await desk.tickets.claim(ticket.id, user="U0OMAR", message_id="MSG-claim")

    assert await desk.comes("escalate") == []
    (late,) = await desk.comes("first_response")
    assert read(late, HandoffNoted).mentions == ("U0OMAR",)
    assert (await desk.tickets.get(ticket.id)).response_late


async def test_a_higher_priority_waits_for_a_shorter_time(desk: Desk) -> None:
    ticket = await desk.opened()
    tickets, message = desk.acting()
    await tickets.change(ticket.id, {"priority": "urgent"})
    await desk.told(tickets, message)

    (due,) = desk.due
    assert due.not_before is not None
    assert (due.not_before - desk.clock.now).total_seconds() == 50


async def test_what_was_solved_long_ago_is_closed_in_silence(desk: Desk) -> None:
    old = await desk.opened()
    await desk.tickets.update(old.id, status=TicketStatus.SOLVED)
    desk.clock.forward(201)
    other = inbound("mine", user="U0LINA", ts="1700000009.000100")
    new = await desk.tickets.locate(
        other, context_id="T0HERMES:C0SUPPORT:1700000009.000100", message_id="M", language=""
    )
    tickets, message = desk.acting()
    await tickets.update(new.ticket.id, status=TicketStatus.WORKING)

    await desk.told(tickets, message)

    assert (await desk.tickets.get(old.id)).status is TicketStatus.CLOSED
    assert (await desk.tickets.get(new.ticket.id)).status is TicketStatus.WORKING


@pytest.mark.parametrize("user, kept", [("U0EMMA", "down"), ("U0LINA", "")])
async def test_only_the_customer_rates_their_ticket(desk: Desk, user: str, kept: str) -> None:
    ticket = await desk.opened()
    body = TicketRated(ticket_id=ticket.id, rating="down", user=user, team="T0HERMES")
    message = Message(type=TICKET_RATED, sender="slack", context_id=THREAD, id="MSG-1", data=msgspec.to_builtins(body))

    outputs = await desk.feedback.on_rated(message, delivery(message))

    assert (await desk.tickets.get(ticket.id)).rating == kept
    assert dict(await desk.tickets.ratings()) == {"up": 0, "down": int(bool(kept))}
    assert read(outputs[0], Reply).user == user


def a_stop(user: str, message_id: str = "MSG-s") -> Message:
    body = Stopped(team="T0HERMES", channel="C0SUPPORT", thread_ts="1", user=user, conversation=THREAD)
    return Message(type="agent.stopped", sender="slack", context_id=f"stop:{THREAD}", id=message_id,
                   data=msgspec.to_builtins(body))  # fmt: skip


async def stopped_by(desk: Desk, user: str) -> list[Any]:
    message = a_stop(user)
    return list(await desk.feedback.on_stopped(message, delivery(message)))


async def test_stop_cancels_what_is_in_work_and_says_so(desk: Desk) -> None:
    ticket = await desk.opened()

    outputs = await stopped_by(desk, "U0EMMA")

    assert desk.cancelled == [THREAD]
    assert read(outputs[0], Reply).text == "tickets.stopped"
    assert (await desk.tickets.get(ticket.id)).status is TicketStatus.WAITING_CUSTOMER


async def test_a_second_stop_says_nothing_again(desk: Desk) -> None:
    await desk.opened()
    await stopped_by(desk, "U0EMMA")
    desk.in_work = 0

    outputs = await desk.feedback.on_stopped(a_stop("U0EMMA", "MSG-s2"), delivery(a_stop("U0EMMA", "MSG-s2")))
    assert list(outputs) == []


async def test_a_stranger_stops_nothing(desk: Desk) -> None:
    await desk.opened()

    assert await stopped_by(desk, "U0LINA") == []
    assert desk.cancelled == []


async def test_a_wish_for_a_person_outlives_stop(desk: Desk) -> None:
    ticket = await desk.opened()
    await desk.tickets.hand_to_human(ticket.id, reason="asked", summary="")

    outputs = await stopped_by(desk, "U0EMMA")

    assert [each.type for each in outputs] == [HANDOFF_REQUESTED]
    assert (await desk.tickets.get(ticket.id)).owner is Owner.PENDING_HUMAN
