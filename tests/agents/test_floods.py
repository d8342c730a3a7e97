"""Who writes more than anybody could answer is told so once, and has the last of it taken up when they pause."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from agents.desk import FloodLimits
from agents.entry import EntryAgent
from hermes_bot.bus.port import Delivery
from hermes_bot.bus.stamp import stamp
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import HANDOFF_NOTED, REPLY_READY, Work, read
from hermes_bot.messages.ticket_payloads import TICKET_GATHERED
from hermes_bot.tickets.sayings import Sayings
from tests.agents.harness import SUPPORT, TEAM, Clock, Pump, Turn

EMMA, DM = "U0EMMA", "D0EMMA"
LIMITS = FloodLimits(messages=2, window_s=60.0)


@pytest.fixture
def flooded(pump: Pump) -> Pump:
    """A desk that answers two messages of a person's in a minute."""
    return replace(pump, desk=replace(pump.desk, flood=LIMITS))


async def say(pump: Pump, clock: Clock, *texts: str, channel: str = DM) -> Turn:
    """Say these things one second after another; return what follows from the last."""
    turn = Turn(messages=())
    for text in texts:
        clock.now += timedelta(seconds=1)
        turn = await pump.says(EMMA, text, channel=channel)
    return turn


async def too_much(pump: Pump, clock: Clock, text: str = "Hello?") -> Message:
    """Say three things, and return the message that looks for what is open when the window has passed."""
    turn = await say(pump, clock, "Where is my order 10001?", "Hello?", text)
    (check,) = turn.of(TICKET_GATHERED)
    return check


async def due(pump: Pump, check: Message) -> list[Message]:
    """Return what follows when the check comes up, which it may do twice."""
    delivery = Delivery(message=check, subscription="entry:ticket.gathered", agent="entry")
    desk = replace(pump.desk, tickets=pump.desk.tickets.on_behalf(check.id, "entry"))
    outputs = stamp(delivery, await EntryAgent().handle(check, desk), pump.clock())
    again = await EntryAgent().handle(check, replace(desk, redelivered=True))
    assert stamp(delivery, again, pump.clock()) == outputs
    return list(outputs)


async def test_the_word_is_said_once_and_the_check_is_one_for_its_message(flooded: Pump, clock: Clock) -> None:
    check = await too_much(flooded, clock)
    more = await say(flooded, clock, "Are you there?")

    assert check.not_before == check.created_at + timedelta(seconds=60)
    assert check.task_id == f"flood:{check.data['message_id']}"
    assert (more.of(REPLY_READY), more.of(TICKET_GATHERED)) == ([], [])


async def test_while_they_still_write_the_check_waits_for_the_last_message(flooded: Pump, clock: Clock) -> None:
    check = await too_much(flooded, clock)
    await say(flooded, clock, "Are you there?", "Please")

    (waiting,) = await due(flooded, check)

    assert waiting.type == TICKET_GATHERED
    assert waiting.not_before == clock.now + timedelta(seconds=60)
    assert waiting.task_id != check.task_id


async def test_the_last_message_is_taken_up_with_what_came_before_it(flooded: Pump, clock: Clock) -> None:
    check = await too_much(flooded, clock, "And where is my other order?")
    await say(flooded, clock, "I mean 10002", "I mean 10002")
    (waiting,) = await due(flooded, check)
    clock.now += timedelta(seconds=90)

    (work,) = await due(flooded, waiting)

    assert read(work, Work).text == "And where is my other order?\nI mean 10002"


async def test_who_wrote_again_later_and_was_answered_hears_nothing_more(flooded: Pump, clock: Clock) -> None:
    check = await too_much(flooded, clock)
    clock.now += timedelta(seconds=90)
    assert (await say(flooded, clock, "Where is my order 10001?")).of(REPLY_READY)

    assert await due(flooded, check) == []


async def test_what_was_deleted_meanwhile_is_not_taken_up(flooded: Pump, clock: Clock) -> None:
    check = await too_much(flooded, clock)
    sayings = Sayings.of(flooded.desk.tickets)
    last = await sayings.last_of(check.data["ticket_id"])
    assert last is not None
    await sayings.delete(last)

    assert await due(flooded, check) == []


async def test_of_several_threads_the_last_message_of_all_is_taken_up(flooded: Pump, clock: Clock) -> None:
    check = await too_much(flooded, clock)
    await say(flooded, clock, "Where is my order 10002?", channel=SUPPORT)
    (waiting,) = await due(flooded, check)

    (work,) = await due(flooded, waiting)

    assert read(work, Work).text == "Where is my order 10002?"
    assert work.context_id.startswith(f"{TEAM}:{SUPPORT}:")


async def test_where_a_person_has_the_ticket_they_read_it(flooded: Pump, clock: Clock) -> None:
    check = await too_much(flooded, clock)
    await flooded.desk.tickets.hand_to_human(check.data["ticket_id"], reason="asked", summary="")

    assert [each.type for each in await due(flooded, check)] == [HANDOFF_NOTED]
