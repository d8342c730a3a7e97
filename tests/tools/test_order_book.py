import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, func, insert, select, update

from hermes_bot.errors import PermanentError
from hermes_bot.store.database import Database
from hermes_bot.tools.demo_shop import EMMA, LI_NA
from hermes_bot.tools.order import OrderStatus, Refund, RefundStatus
from hermes_bot.tools.order_book import OrderBook
from hermes_bot.tools.order_tables import customers, orders, refunds
from tests.tools.conftest import NOON

EMMAS = "10001"
EMMAS_TOTAL = 10_280
LI_NAS = "10007"


async def write(database: Database, statement: Any) -> None:
    await database.run(lambda connection: connection.execute(statement).close())


async def count(database: Database, order_id: str) -> int:
    query = select(func.count()).select_from(refunds).where(refunds.c.order_id == order_id)
    work: Callable[[Connection], int] = lambda connection: connection.scalar(query) or 0  # noqa: E731 - it needs a type
    return await database.run(work)


async def refund(book: OrderBook, approval_id: str, amount_cents: int = EMMAS_TOTAL, order_id: str = EMMAS) -> Refund:
    return await book.issue_refund(EMMA.id, order_id, amount_cents, "broken", approval_id, NOON)


async def test_a_customer_is_found_by_address_whatever_its_capitals(book: OrderBook) -> None:
    found = await book.customer_by_email(" Emma.FISCHER@Example.com ")

    assert found == EMMA


@pytest.mark.parametrize("email", ["", "  ", "nobody@example.com", "%@example.com", "emma.fischer@example"])
async def test_an_unknown_address_is_no_customer(book: OrderBook, email: str) -> None:
    assert await book.customer_by_email(email) is None


async def test_an_address_that_two_customers_share_is_nobodys(book: OrderBook, database: Database) -> None:
    twin = {"id": "C9999", "email": EMMA.email.upper(), "name": "Emma Fischer", "locale": "en"}
    await write(database, insert(customers).values(twin))

    assert await book.customer_by_email(EMMA.email) is None


async def test_an_order_comes_with_its_items_and_times_in_utc(book: OrderBook) -> None:
    order = await book.order(EMMA.id, EMMAS)

    assert order is not None
    assert order.status is OrderStatus.DELIVERED
    assert order.delivered_at is not None
    assert order.delivered_at.utcoffset() == timedelta(0)
    assert sum(item.quantity * item.price_cents for item in order.items) == order.total_cents == EMMAS_TOTAL


@pytest.mark.parametrize("order_id", [LI_NAS, "99999", "", "#", "1000"])
async def test_an_order_of_somebody_else_is_like_one_that_does_not_exist(book: OrderBook, order_id: str) -> None:
    assert await book.order(EMMA.id, order_id) is None
    assert await book.refunds(EMMA.id, order_id) == ()


@pytest.mark.parametrize("written", ["10001", "#10001", "１０００１", "W10001", "10 001"])
async def test_an_order_is_found_as_people_write_its_number(book: OrderBook, written: str) -> None:
    order = await book.order(EMMA.id, written)

    assert order is not None
    assert order.id == EMMAS


async def test_a_number_that_two_of_the_customers_orders_share_is_neither(book: OrderBook, database: Database) -> None:
    row = {"customer_id": EMMA.id, "status": "paid", "placed_at": NOON, "total_cents": 1, "currency": "EUR"}
    await write(database, insert(orders).values([row | {"id": "A77001"}, row | {"id": "B77001"}]))

    assert await book.order(EMMA.id, "77001") is None
    assert await book.order(EMMA.id, "b77001") is not None


async def test_a_state_that_hermes_does_not_know_is_unknown(book: OrderBook, database: Database) -> None:
    await write(database, update(orders).where(orders.c.id == EMMAS).values(status="in the drone"))

    order = await book.order(EMMA.id, EMMAS)

    assert order is not None
    assert order.status is OrderStatus.UNKNOWN


async def test_recent_orders_are_the_customers_own_newest_first(book: OrderBook) -> None:
    recent = await book.recent_orders(EMMA.id, limit=3)

    assert [order.id for order in recent] == ["10589", "10587", "10588"]
    assert all(order.items for order in recent)


async def test_twenty_runs_of_one_approval_refund_once(book: OrderBook, database: Database) -> None:
    issued = await asyncio.gather(*(refund(book, "APR-1") for _ in range(20)))

    assert set(issued) == {issued[0]}
    assert issued[0].status is RefundStatus.ISSUED
    assert await count(database, EMMAS) == 1


async def test_two_processes_that_run_one_approval_refund_once(
    shop_url: str, book: OrderBook, database: Database
) -> None:
    other = Database(shop_url)
    await other.open()

    issued = await asyncio.gather(*(refund(each, "APR-1") for each in (book, OrderBook(other)) * 5))

    await other.close()
    assert set(issued) == {issued[0]}
    assert await count(database, EMMAS) == 1


async def test_of_approvals_that_exceed_the_total_together_one_is_served(
    shop_url: str, book: OrderBook, database: Database
) -> None:
    other = Database(shop_url)
    await other.open()
    books = (book, OrderBook(other)) * 4

    outcomes = await asyncio.gather(
        *(refund(each, f"APR-{n}", 6_000) for n, each in enumerate(books)), return_exceptions=True
    )

    await other.close()
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["PermanentError"] * 7 + ["Refund"]
    assert await count(database, EMMAS) == 1


async def test_parts_of_an_order_can_be_refunded_up_to_its_total(book: OrderBook) -> None:
    await refund(book, "APR-1", 10_000)
    await refund(book, "APR-2", 280)

    with pytest.raises(PermanentError, match="gone already"):
        await refund(book, "APR-3", 1)
    assert [each.amount_cents for each in await book.refunds(EMMA.id, EMMAS)] == [10_000, 280]


async def test_a_refund_that_failed_does_not_count(book: OrderBook, database: Database) -> None:
    await refund(book, "APR-1")
    await write(database, update(refunds).where(refunds.c.approval_id == "APR-1").values(status="failed"))

    again = await refund(book, "APR-2")

    assert again.amount_cents == EMMAS_TOTAL


async def test_a_refund_in_a_state_that_hermes_does_not_know_counts(book: OrderBook, database: Database) -> None:
    await refund(book, "APR-1")
    await write(database, update(refunds).where(refunds.c.approval_id == "APR-1").values(status="on the way"))

    with pytest.raises(PermanentError):
        await refund(book, "APR-2")


@pytest.mark.parametrize("amount_cents", [0, -1, EMMAS_TOTAL + 1])
async def test_an_amount_outside_of_the_order_is_refused(
    book: OrderBook, database: Database, amount_cents: int
) -> None:
    with pytest.raises(PermanentError):
        await refund(book, "APR-1", amount_cents)

    assert await count(database, EMMAS) == 0


@pytest.mark.parametrize("order_id", [LI_NAS, "99999"])
async def test_no_refund_for_an_order_of_somebody_else(book: OrderBook, database: Database, order_id: str) -> None:
    with pytest.raises(PermanentError):
        await refund(book, "APR-1", 100, order_id)

    assert await count(database, order_id) == 0


async def test_no_refund_without_an_approval(book: OrderBook) -> None:
    with pytest.raises(PermanentError, match="approval"):
        await refund(book, "")


async def test_an_approval_serves_for_no_other_amount_and_no_other_order(book: OrderBook) -> None:
    await refund(book, "APR-1", 100)

    with pytest.raises(PermanentError, match="another refund"):
        await refund(book, "APR-1", 200)
    with pytest.raises(PermanentError, match="another refund"):
        await book.issue_refund(LI_NA.id, LI_NAS, 100, "broken", "APR-1", NOON)


async def test_one_approval_for_two_orders_at_once_serves_one(shop_url: str, book: OrderBook) -> None:
    other = Database(shop_url)
    await other.open()

    outcomes = await asyncio.gather(
        refund(book, "APR-1", 100),
        OrderBook(other).issue_refund(LI_NA.id, LI_NAS, 100, "broken", "APR-1", NOON),
        return_exceptions=True,
    )

    await other.close()
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["PermanentError", "Refund"]


async def test_a_check_that_raises_stops_the_refund(book: OrderBook, database: Database) -> None:
    def check(*_: object) -> None:
        raise PermanentError("not today")

    with pytest.raises(PermanentError, match="not today"):
        await book.issue_refund(EMMA.id, EMMAS, 100, "broken", "APR-1", NOON, check=check)

    assert await count(database, EMMAS) == 0
