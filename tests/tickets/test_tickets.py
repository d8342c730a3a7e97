import asyncio

import pytest

from hermes_bot.errors import PermanentError
from hermes_bot.store.database import Database
from hermes_bot.tickets.runs import Runs
from hermes_bot.tickets.ticket import Owner, TicketStatus
from hermes_bot.tickets.tickets import Tickets
from tests.tickets.conftest import Clock, inbound

THREAD = "T0HERMES:C0SUPPORT:1700000000.000100"
DM = "T0HERMES:D0EMMA"


async def test_a_first_message_opens_a_ticket_whose_thread_starts_at_it(tickets: Tickets) -> None:
    located = await tickets.locate(inbound(), context_id=THREAD, message_id="MSG-1", language="en")

    assert located.opened
    assert located.ticket.thread_ts == "1700000000.000100"
    assert located.ticket.owner is Owner.BOT
    assert located.ticket.status is TicketStatus.NEW


async def test_the_same_message_again_gives_the_same_answer(tickets: Tickets) -> None:
    first = await tickets.locate(inbound(), context_id=THREAD, message_id="MSG-1", language="en")
    again = await tickets.locate(inbound(), context_id=THREAD, message_id="MSG-1", language="en")

    assert again == first
    assert len(await tickets.listing()) == 1


async def test_words_that_another_message_told_of_are_known_by_their_place_and_their_author(tickets: Tickets) -> None:
    first = await tickets.locate(inbound(), context_id=THREAD, message_id="MSG-1", language="en")

    assert await tickets.told_in(inbound()) == first.ticket.id
    assert await tickets.told_in(inbound(), but_not_by="MSG-2") == first.ticket.id
    assert await tickets.told_in(inbound(), but_not_by="MSG-1") == ""
    assert await tickets.told_in(inbound(user="U0LINA")) == ""
    assert await tickets.told_in(inbound(ts="1700000001.000100")) == ""


async def test_a_reply_in_the_thread_continues_the_requesters_ticket(tickets: Tickets) -> None:
    first = await tickets.locate(inbound(), context_id=THREAD, message_id="MSG-1", language="en")
    reply = inbound("any news?", ts="1700000001.000100", thread_ts="1700000000.000100")
    located = await tickets.locate(reply, context_id=THREAD, message_id="MSG-2", language="en")

    assert not located.opened
    assert located.ticket.id == first.ticket.id


async def test_another_customer_in_the_thread_gets_a_ticket_of_their_own(tickets: Tickets) -> None:
    first = await tickets.locate(inbound(), context_id=THREAD, message_id="MSG-1", language="en")
    reply = inbound("mine too", user="U0LINA", ts="1700000001.000100", thread_ts="1700000000.000100")
    located = await tickets.locate(reply, context_id=THREAD, message_id="MSG-2", language="en")

    assert located.opened
    assert located.ticket.id != first.ticket.id
    assert located.ticket.thread_ts == "1700000000.000100"


async def test_a_direct_message_continues_the_ticket_within_the_window_and_opens_one_after(
    tickets: Tickets, clock: Clock
) -> None:
    direct = inbound(channel="D0EMMA", channel_type="im")
    first = await tickets.locate(direct, context_id=DM, message_id="MSG-1", language="en")
    clock.forward(899)
    second = await tickets.locate(direct, context_id=DM, message_id="MSG-2", language="en")
    clock.forward(901)
    third = await tickets.locate(direct, context_id=DM, message_id="MSG-3", language="en")

    assert first.ticket.thread_ts == ""
    assert (second.opened, second.ticket.id) == (False, first.ticket.id)
    assert third.opened


async def test_of_two_claims_the_first_wins_and_a_repeat_of_it_still_wins(tickets: Tickets) -> None:
    ticket = (await tickets.locate(inbound(), context_id=THREAD, message_id="MSG-1", language="en")).ticket
    await tickets.hand_to_human(ticket.id, reason="asked", summary="wants a person")

    await asyncio.gather(
        tickets.claim(ticket.id, user="U0OMAR", message_id="MSG-C1"),
        tickets.claim(ticket.id, user="U0OLIVIA", message_id="MSG-C2"),
    )
    claimed = await tickets.get(ticket.id)
    winner = {"MSG-C1": "U0OMAR", "MSG-C2": "U0OLIVIA"}[claimed.ownership_message_id]
    again = await tickets.claim(ticket.id, user=winner, message_id=claimed.ownership_message_id)

    assert claimed.owner is Owner.HUMAN
    assert claimed.assignee == winner
    assert again.ownership_message_id == claimed.ownership_message_id


async def test_handing_over_twice_is_one_round_and_after_a_return_the_next(tickets: Tickets) -> None:
    ticket = (await tickets.locate(inbound(), context_id=THREAD, message_id="MSG-1", language="en")).ticket
    await tickets.hand_to_human(ticket.id, reason="asked", summary="first")
    once_more = await tickets.hand_to_human(ticket.id, reason="asked", summary="second")
    await tickets.claim(ticket.id, user="U0OMAR", message_id="MSG-C1")
    returned = await tickets.give_back(ticket.id, message_id="MSG-R1")
    next_round = await tickets.hand_to_human(ticket.id, reason="asked", summary="third")

    assert (once_more.handoff_round, once_more.handoff_summary) == (1, "first")
    assert (returned.owner, returned.assignee) == (Owner.BOT, "")
    assert (next_round.handoff_round, next_round.handoff_summary) == (2, "third")


@pytest.mark.parametrize("ticket_id", ["", "T-", "T-x", "T-99", "99", "T-٣", "T--1", "T-" + "9" * 30])
async def test_an_unknown_ticket_id_is_a_clear_error(tickets: Tickets, ticket_id: str) -> None:
    with pytest.raises(PermanentError):
        await tickets.get(ticket_id)


async def test_a_run_repeated_for_the_same_message_starts_from_the_state_before_it(
    database: Database, clock: Clock
) -> None:
    runs = Runs(database, clock=clock)
    await runs.save("T-1", "order", {"asked": 1}, message_id="MSG-1")
    await runs.save("T-1", "order", {"asked": 2}, message_id="MSG-2")
    repeated = await runs.load("T-1", "order", message_id="MSG-2")
    await runs.save("T-1", "order", {"asked": 2}, message_id="MSG-2")

    assert repeated == {"asked": 1}
    assert await runs.load("T-1", "order", message_id="MSG-3") == {"asked": 2}
    assert await runs.load("T-1", "refund", message_id="MSG-3") == {}
