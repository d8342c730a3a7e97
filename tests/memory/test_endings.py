"""Each ticket that ends is summed up, and later tickets of the same person find it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, update

from hermes_bot.memory.endings import Endings
from hermes_bot.memory.fact import FactKind
from hermes_bot.memory.memory import Memory
from hermes_bot.store.database import Database
from hermes_bot.store.tables import approvals, boards, tickets
from tests.memory.kit import EMMA, LI, Clock


async def ticket(database: Database, clock: Clock, number: int, status: str, **more: Any) -> None:
    values = {
        "opened_by": f"M{number}", "context_id": f"T1:C1:{number}", "team": "T1", "channel": "C1", "language": "en",
        "channel_type": "channel", "thread_ts": str(number), "requester": "U0EMMA", "agent": "refund", "owner": "bot",
        "subject": "The lamp of order 10031 flickers", "opened_at": clock(), "updated_at": clock(),
    }  # fmt: skip
    row = {**values, "number": number, "status": status, **more}
    await database.run(lambda connection: connection.execute(insert(tickets).values(row)))


async def done(database: Database, clock: Clock) -> None:
    approval = {
        "id": "A1", "key": "k1", "ticket_id": "T-1", "context_id": "T1:C1:1", "agent": "refund", "tool": "issue_refund",
        "level": "L2", "arguments": {"order_id": "10031"}, "title": "", "shown": [], "shown_hash": "",
        "requested_by": "U0EMMA", "trace_id": "", "status": "approved", "created_at": clock(), "expires_at": clock(),
    }  # fmt: skip
    board = {"ticket_id": "T-1", "version": 1, "key": "decision.lamp", "value": "a new one is sent", "author": "refund"}
    await database.run(lambda connection: connection.execute(insert(approvals).values(approval)))
    values = {**board, "message_id": "M1", "at": clock()}
    await database.run(lambda connection: connection.execute(insert(boards).values(values)))


async def test_a_ticket_that_ended_is_summed_up_and_found_again(
    database: Database, memory: Memory, clock: Clock
) -> None:
    await ticket(database, clock, 1, "solved")
    await ticket(database, clock, 2, "working")
    await ticket(database, clock, 3, "closed", requester="U0LI", subject="台灯一直闪")
    await done(database, clock)

    assert await Endings(database, memory).sum_up() == 2
    (found,) = await memory.recall(EMMA, "my lamp flickers again", kinds=[FactKind.SUMMARY])
    assert found.fact.text == (
        "Ticket T-1 of 2026-05-04, solved. Asked: The lamp of order 10031 flickers. About order 10031. "
        "Done: issue_refund approved. Decided: lamp: a new one is sent."
    )
    assert [fact.ticket_id for fact in await memory.facts(LI)] == ["T-3"]


async def test_it_is_summed_up_once_and_again_when_it_ends_again(
    database: Database, memory: Memory, clock: Clock
) -> None:
    endings = Endings(database, memory)
    await ticket(database, clock, 1, "solved")
    assert [await endings.sum_up(), await endings.sum_up()] == [1, 0]
    clock.pass_by(10)
    change = update(tickets).values(status="closed", updated_at=clock())
    await database.run(lambda connection: connection.execute(change))

    assert [await endings.sum_up(), await endings.sum_up()] == [1, 0]
    assert [fact.text.split(". ")[0] for fact in await memory.facts(EMMA)] == ["Ticket T-1 of 2026-05-04, closed"]
    assert len(await memory.history(EMMA)) == 2


async def test_the_same_end_seen_again_is_no_second_summary(database: Database, memory: Memory, clock: Clock) -> None:
    await ticket(database, clock, 1, "solved")
    for _ in range(2):  # as two processes do
        await Endings(database, memory).sum_up()
        clock.pass_by(1)
        await database.run(lambda connection: connection.execute(update(tickets).values(updated_at=clock())))

    assert await Endings(database, memory).sum_up() == 1
    assert await Endings(database, memory).sum_up() == 0
    assert len(await memory.history(EMMA)) == 1


async def test_a_secret_in_the_request_is_not_in_the_summary(database: Database, memory: Memory, clock: Clock) -> None:
    await ticket(database, clock, 1, "solved", subject="My card 4111 1111 1111 1111 was charged twice")
    await Endings(database, memory).sum_up()

    (fact,) = await memory.facts(EMMA)
    assert "Asked: My card [removed] was charged twice." in fact.text


async def test_a_ticket_can_be_summed_up_at_once(database: Database, memory: Memory, clock: Clock) -> None:
    await ticket(database, clock, 1, "working")
    await Endings(database, memory).finish("T-1")
    await Endings(database, memory).finish("T-99")

    assert len(await memory.facts(EMMA)) == 1


async def test_more_tickets_than_are_summed_up_at_once_are_all_summed_up(
    database: Database, memory: Memory, clock: Clock
) -> None:
    for number in range(1, 46):
        await ticket(database, clock, number, "solved", subject=f"matter {number}")
    endings = Endings(database, memory)

    assert [await endings.sum_up() for _ in range(4)] == [20, 20, 5, 0]
    assert len(await memory.facts(EMMA)) == 45


async def test_a_start_with_nothing_left_to_sum_up_looks_only_at_what_changes_from_then_on(
    database: Database, memory: Memory, clock: Clock
) -> None:
    long_ago = clock()
    clock.pass_by(60)
    await ticket(database, clock, 1, "solved")
    await Endings(database, memory).sum_up()
    restarted = Endings(database, memory)
    assert await restarted.sum_up() == 0
    await ticket(database, clock, 2, "solved", updated_at=long_ago)
    await ticket(database, clock, 3, "solved")

    assert await restarted.sum_up() == 1
    assert {fact.ticket_id for fact in await memory.facts(EMMA)} == {"T-1", "T-3"}
