"""The audit says who decided what, can only grow, and notices whatever was done to it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import delete, func, insert, select, text, update
from sqlalchemy.exc import DatabaseError

from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.audit_log import AuditLog, AuditRow
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.approvals.request import ApprovalStatus
from hermes_bot.errors import TransientError
from hermes_bot.store.approval_tables import audit, audit_texts
from hermes_bot.store.database import Database
from hermes_bot.store.schema import migrate
from tests.approvals.kit import (
    EMMA,
    OLIVIA,
    OMAR,
    Clock,
    People,
    approvals_in,
    ask,
    changes_for,
    click,
    delivery,
    desk_for,
    edit,
    press,
    question,
)

UNGUARDED = {
    "sqlite": ("DROP TRIGGER audit_no_update", "DROP TRIGGER audit_no_delete"),
    "postgresql": ("DROP TRIGGER audit_append_only ON audit",),
}


async def story(database: Database, clock: Clock, people: People) -> Approvals:
    """Play one request that is refused, changed, asked about and approved, and one that is rejected."""
    approvals = approvals_in(database, clock)
    desk, changes = desk_for(approvals, people, [OMAR, OLIVIA]), changes_for(approvals, people)
    request = await ask(approvals)
    await press(desk, click(request, EMMA))
    edited = edit(request, OMAR, amount_cents="800", reason="worn")
    await changes.on_edited(edited, delivery(edited))
    request = await approvals.get(request.id)
    asked = question(request, OMAR, "Which colour?")
    await changes.on_asked(asked, delivery(asked))
    await approvals.answer("T-1", by=EMMA, message_id="MSG-9", text="Blue, says Emma")
    await press(desk, click(request, OLIVIA))
    await approvals.record_result(request.id, "€8.00 refunded")
    await press(desk, click(await ask(approvals, key="another"), OMAR, "reject"))
    return approvals


async def unguarded(database: Database, *statements: Any) -> None:
    """Do to the audit what its triggers forbid, as somebody with the database's password could."""
    kind = "postgresql" if database.url.startswith("postgresql") else "sqlite"

    def work(connection: Any) -> None:
        for trigger in UNGUARDED[kind]:
            connection.execute(text(trigger))
        for statement in statements:
            connection.execute(statement)

    await database.run(work)


def actions(rows: Sequence[AuditRow]) -> list[str]:
    return [row.action for row in rows]


async def test_every_step_is_told_with_who_what_when_and_under_which_policy(
    either: Database, clock: Clock, people: People
) -> None:
    await story(either, clock, people)
    rows = await AuditLog(either).export()

    assert actions(rows) == [
        "requested", "refused", "edited", "asked", "answered", "approved", "ran", "requested", "rejected",
    ]  # fmt: skip
    assert [row.actor for row in rows[:6]] == [EMMA, EMMA, OMAR, OMAR, EMMA, OLIVIA]
    assert all(row.facts["policy"] == "abc" and row.at == clock.now for row in rows)
    assert rows[2].facts["arguments"] == {"order_id": "10001", "amount_cents": 800, "currency": "EUR"}
    assert rows[2].texts["arguments.reason"] == "worn"
    assert rows[6].texts == {"result": "€8.00 refunded"}


async def test_the_audit_is_whole_and_stays_so_when_personal_words_are_erased(
    either: Database, clock: Clock, people: People
) -> None:
    await story(either, clock, people)
    before = await AuditLog(either).verify()
    emmas = audit_texts.c.owner == EMMA
    await either.run(lambda connection: connection.execute(update(audit_texts).where(emmas).values(text="", salt="")))
    blanked = await AuditLog(either).verify()
    await either.run(lambda connection: connection.execute(delete(audit_texts).where(emmas)))
    gone = await AuditLog(either).verify()

    assert (before.whole, before.rows, before.erased) == (True, 9, 0)
    assert (blanked.whole, gone.whole) == (True, True)
    assert blanked.erased == gone.erased > 5
    assert "Emma" not in repr(await AuditLog(either).export()).replace(EMMA, "")


async def test_the_chain_itself_holds_no_personal_words(either: Database, clock: Clock, people: People) -> None:
    await story(either, clock, people)
    rows = await either.run(lambda connection: [str(row) for row in connection.execute(select(audit))])

    for words in ("worn", "Blue", "colour", "Refund"):
        assert not any(words in row for row in rows)


@pytest.mark.parametrize("change", [update(audit).values(actor="U0EVIL"), delete(audit)])
async def test_the_database_itself_refuses_a_change(
    either: Database, clock: Clock, people: People, change: Any
) -> None:
    await story(either, clock, people)

    with pytest.raises((DatabaseError, TransientError), match="append-only"):
        await either.run(lambda connection: connection.execute(change))
    assert (await AuditLog(either).verify()).rows == 9


TAMPERED = [
    pytest.param([update(audit).where(audit.c.number == 6).values(actor="U0EVIL")], 6, id="another-actor"),
    pytest.param([update(audit).where(audit.c.number == 3).values(facts={})], 3, id="other-facts"),
    pytest.param([update(audit).where(audit.c.number == 9).values(hash="0" * 64)], 9, id="another-hash"),
    pytest.param([delete(audit).where(audit.c.number == 2)], 3, id="a-row-less"),
    pytest.param([delete(audit).where(audit.c.number == 1)], 2, id="the-first-less"),
    pytest.param([update(audit_texts).where(audit_texts.c.number == 7).values(text="€9")], 7, id="other-words"),
    pytest.param([update(audit_texts).where(audit_texts.c.number == 7).values(salt="0")], 7, id="another-salt"),
    pytest.param([delete(audit).where(audit.c.number > 5)], 5, id="its-end-cut-off"),
]


@pytest.mark.parametrize("statements, number", TAMPERED)
async def test_what_was_done_to_the_audit_is_found_with_its_place(
    either: Database, clock: Clock, people: People, statements: list[Any], number: int
) -> None:
    await story(either, clock, people)
    await unguarded(either, *statements)
    found = await AuditLog(either).verify()

    assert not found.whole
    assert found.number == number
    assert found.problem


async def test_a_row_that_was_put_in_is_found(either: Database, clock: Clock, people: People) -> None:
    await story(either, clock, people)
    forged = {"number": 10, "key": "x", "at": clock.now, "action": "approved", "subject": "APR-1", "ticket_id": "T-1"}
    forged |= {"actor": OMAR, "team": "T", "facts": {}, "texts": {}, "previous": "0" * 64, "hash": "0" * 64}
    await either.run(lambda connection: connection.execute(insert(audit).values(**forged)))

    assert (await AuditLog(either).verify()).number == 10


async def test_many_writers_at_once_make_one_chain(both: str, clock: Clock, people: People) -> None:
    databases = [Database(both) for _ in range(3)]
    for database in databases:
        await database.open()
    await migrate(databases[0])
    desks = [approvals_in(database, clock) for database in databases]

    async def one(number: int) -> None:
        approvals = desks[number % 3]
        request = await ask(approvals, key=f"key-{number}")
        await approvals.settle(request.id, ApprovalStatus.CANCELLED, by=EMMA, message_id=f"MSG-{number}")

    await asyncio.gather(*(one(number) for number in range(30)))
    found = await AuditLog(databases[0]).verify()
    for database in databases:
        await database.close()

    assert (found.whole, found.rows) == (True, 60)


async def test_racing_and_repeated_clicks_leave_one_row(
    desk: ApprovalDesk, approvals: Approvals, database: Database
) -> None:
    request = await ask(approvals)
    clicks = [click(request, user) for user in (OMAR, OMAR, OLIVIA)]
    await asyncio.gather(*(press(desk, pressed) for pressed in clicks * 3))

    assert actions(await AuditLog(database).export(subject=request.id)) == ["requested", "approved"]


async def test_a_refused_click_is_one_row_however_often_it_is_delivered(
    desk: ApprovalDesk, approvals: Approvals, database: Database
) -> None:
    pressed = click(await ask(approvals), EMMA)
    await press(desk, pressed)
    await press(desk, pressed)
    wanted = select(func.count()).select_from(audit).where(audit.c.action == "refused", audit.c.actor == EMMA)

    assert await database.run(lambda connection: connection.scalar(wanted)) == 1
