"""What customers said, as it stands in Slack by now: also where a message was edited and answered anew."""

from __future__ import annotations

from hermes_bot.store.database import Database
from hermes_bot.store.tables import ticket_messages
from hermes_bot.tickets.sayings import Found, Sayings
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.tickets.tickets import Tickets
from tests.tickets.conftest import Clock, inbound

ROOT, LATER = "1700000000.000100", "1700000000.000200"


async def heard(tickets: Tickets, clock: Clock, message_id: str, text: str, ts: str = ROOT) -> Ticket:
    clock.forward(10)
    said = inbound(text, ts=ts, thread_ts="" if ts == ROOT else ROOT)
    located = await tickets.locate(said, context_id=f"T0HERMES:C0SUPPORT:{ROOT}", message_id=message_id, language="en")
    return located.ticket


async def found(tickets: Tickets, ts: str = ROOT) -> Found:
    result = await Sayings.of(tickets).find("T0HERMES", "C0SUPPORT", ts, user="U0EMMA")
    assert result is not None
    return result


async def test_a_message_that_was_answered_anew_is_one_message_and_the_last(tickets: Tickets, clock: Clock) -> None:
    ticket = await heard(tickets, clock, "MSG-1", "refund 10592")
    await heard(tickets, clock, "MSG-1-1", "refund 10593")

    saying = (await found(tickets)).saying
    assert (saying.text, saying.opened) == ("refund 10593", True)
    assert (await found(tickets)).last
    assert await Sayings.of(tickets).all(ticket.id) == [saying]


async def test_a_message_that_others_follow_is_not_the_last(tickets: Tickets, clock: Clock) -> None:
    ticket = await heard(tickets, clock, "MSG-1", "refund 10592")
    await heard(tickets, clock, "MSG-2", "and quickly", LATER)

    assert not (await found(tickets)).last
    assert (await found(tickets, LATER)).last
    assert [each.text for each in await Sayings.of(tickets).all(ticket.id)] == ["refund 10592", "and quickly"]


async def test_what_was_answered_anew_and_deleted_stands_nowhere(
    tickets: Tickets, clock: Clock, database: Database
) -> None:
    await heard(tickets, clock, "MSG-1", "refund 10592")
    await heard(tickets, clock, "MSG-1-1", "refund 10593")

    ticket = await Sayings.of(tickets).delete(await found(tickets))

    rows = await database.run(lambda connection: connection.execute(ticket_messages.select()).all())
    assert [row.text for row in rows] == ["", ""]
    assert ticket.subject == ""
    assert ticket.source_deleted
    assert await Sayings.of(tickets).all(ticket.id) == []


async def test_somebody_elses_message_is_not_found(tickets: Tickets, clock: Clock) -> None:
    await heard(tickets, clock, "MSG-1", "refund 10592")

    assert await Sayings.of(tickets).find("T0HERMES", "C0SUPPORT", ROOT, user="U0LINA") is None
    assert await Sayings.of(tickets).find("T0HERMES", "C0OTHER", ROOT) is None
