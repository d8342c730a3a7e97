import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, func, select, update

from hermes_bot.errors import PermanentError
from hermes_bot.store.database import Database
from hermes_bot.tools.demo_shop import EMMA, LI_NA
from hermes_bot.tools.order import Cancelled, Change, ChangeKind, Order, OrderStatus
from hermes_bot.tools.order_book import OrderBook
from hermes_bot.tools.order_effects import NotKept
from hermes_bot.tools.order_tables import order_changes, orders, refunds
from tests.tools.conftest import NOON

PAID, PAID_TOTAL = "10587", 7_150
UNPAID = "10589"
NEW_ADDRESS = "12 Example Street, Springfield"


class Stopped(Exception):
    """Whoever was asked said no."""


def all_of_it(order: Order, _earlier: object) -> int:
    return order.total_cents


def nothing(_order: Order, _earlier: object) -> int:
    return 0


def anything(_order: Order) -> None:
    return None


def never(order: Order, *_earlier: object) -> Any:
    raise Stopped(order.id)


async def write(database: Database, statement: Any) -> None:
    await database.run(lambda connection: connection.execute(statement).close())


async def count(database: Database, table: Any) -> int:
    query = select(func.count()).select_from(table)
    work: Callable[[Connection], int] = lambda connection: connection.scalar(query) or 0  # noqa: E731 - it needs a type
    return await database.run(work)


async def cancel(book: OrderBook, approval_id: str = "APR-1", order_id: str = PAID, **other: Any) -> Cancelled:
    amount_of = other.get("amount_of", all_of_it)
    return await book.cancel(EMMA.id, order_id, "no longer needed", approval_id, NOON, amount_of=amount_of)


async def readdress(book: OrderBook, key: str = "K-1", address: str = NEW_ADDRESS, **other: Any) -> Change:
    who, may = other.get("customer_id", EMMA.id), other.get("may", anything)
    return await book.change_address(who, other.get("order_id", PAID), address, key, NOON, may=may)


async def order_of(book: OrderBook, order_id: str = PAID) -> Order:
    order = await book.order(EMMA.id, order_id)
    assert order is not None
    return order


async def test_a_cancelled_order_and_its_refund_are_written_together(book: OrderBook) -> None:
    done = await cancel(book)

    (refund,) = await book.refunds(EMMA.id, PAID)
    assert (await order_of(book)).status is OrderStatus.CANCELLED
    assert done.refund == refund
    assert (refund.amount_cents, refund.approval_id) == (PAID_TOTAL, "APR-1")


async def test_twenty_runs_of_one_approval_cancel_once(book: OrderBook, database: Database) -> None:
    before = await count(database, refunds)
    done = await asyncio.gather(*(cancel(book) for _ in range(20)))

    assert all(each == done[0] for each in done)
    assert await count(database, refunds) == before + 1


async def test_who_says_no_stops_both(book: OrderBook) -> None:
    with pytest.raises(Stopped):
        await cancel(book, amount_of=never)

    assert (await order_of(book)).status is OrderStatus.PAID
    assert await book.refunds(EMMA.id, PAID) == ()


async def test_more_than_the_order_cost_never_goes_back(book: OrderBook) -> None:
    with pytest.raises(PermanentError):
        await cancel(book, amount_of=lambda order, _earlier: order.total_cents + 1)

    assert (await order_of(book)).status is OrderStatus.PAID


async def test_what_was_not_paid_is_cancelled_without_a_refund(book: OrderBook) -> None:
    done = await cancel(book, order_id=UNPAID, amount_of=nothing)
    again = await cancel(book, order_id=UNPAID, amount_of=never)

    assert done.refund is None
    assert again == done
    assert (await order_of(book, UNPAID)).status is OrderStatus.CANCELLED
    assert await book.refunds(EMMA.id, UNPAID) == ()


async def test_an_approval_of_another_order_cancels_nothing(book: OrderBook) -> None:
    await cancel(book)
    with pytest.raises(PermanentError):
        await cancel(book, order_id="10588")

    assert (await order_of(book, "10588")).status is OrderStatus.PACKED


async def test_nobody_cancels_somebody_elses_order(book: OrderBook) -> None:
    with pytest.raises(PermanentError):
        await book.cancel(LI_NA.id, PAID, "", "APR-1", NOON, amount_of=all_of_it)

    assert (await order_of(book)).status is OrderStatus.PAID


async def test_an_address_is_changed_and_the_old_one_kept(book: OrderBook) -> None:
    before = (await order_of(book)).address
    change = await readdress(book)

    assert (await order_of(book)).address == NEW_ADDRESS
    assert (change.kind, change.before, change.after) == (ChangeKind.ADDRESS, before, NEW_ADDRESS)
    assert await book.changes(EMMA.id, PAID) == (change,)


async def test_a_key_changes_an_address_once_also_when_it_has_been_changed_since(book: OrderBook) -> None:
    first = await readdress(book)
    await readdress(book, "K-2", "7 Mill Road, Galway")
    again = await readdress(book)

    assert again == first
    assert (await order_of(book)).address == "7 Mill Road, Galway"


async def test_a_key_belongs_to_one_change(book: OrderBook) -> None:
    await readdress(book)

    with pytest.raises(PermanentError):
        await readdress(book, address="7 Mill Road, Galway")
    assert (await order_of(book)).address == NEW_ADDRESS


async def test_who_says_no_leaves_the_address(book: OrderBook, database: Database) -> None:
    before = await count(database, order_changes)
    with pytest.raises(Stopped):
        await readdress(book, may=never)

    assert await count(database, order_changes) == before
    assert (await order_of(book)).address != NEW_ADDRESS


async def test_nobody_changes_or_reads_somebody_elses_order(book: OrderBook) -> None:
    with pytest.raises(PermanentError):
        await readdress(book, customer_id=LI_NA.id)
    await readdress(book)

    assert await book.changes(LI_NA.id, PAID) == ()


async def test_a_return_is_opened_once_for_its_key(book: OrderBook) -> None:
    goods = "RC-500 x1"
    opened = [
        await book.open_return(EMMA.id, "10592", goods, "K-1", NOON + timedelta(days=day), may=anything)
        for day in (0, 1)
    ]

    assert opened[0] == opened[1]
    assert (opened[0].kind, opened[0].after, opened[0].created_at) == (ChangeKind.RETURN, goods, NOON)


async def test_a_shop_without_a_place_for_changes_says_so_and_changes_nothing(
    book: OrderBook, database: Database
) -> None:
    await database.run(order_changes.drop)

    with pytest.raises(NotKept):
        await readdress(book)
    assert await book.changes(EMMA.id, PAID) == ()
    assert (await order_of(book)).address != NEW_ADDRESS


async def test_refunds_over_all_orders_come_newest_first_and_are_ones_own(book: OrderBook) -> None:
    found = await book.recent_refunds(EMMA.id)

    assert [(order.id, refund.order_id) for order, refund in found] == [("10590", "10590"), ("10005", "10005")]
    assert {order.customer_id for order, _ in found} == {EMMA.id}


async def test_an_order_that_was_shipped_meanwhile_is_seen_as_it_is(book: OrderBook, database: Database) -> None:
    await write(database, update(orders).where(orders.c.id == PAID).values(status="shipped"))
    seen: list[OrderStatus] = []

    def look(order: Order, _earlier: object) -> int:
        seen.append(order.status)
        raise Stopped

    with pytest.raises(Stopped):
        await cancel(book, amount_of=look)
    assert seen == [OrderStatus.SHIPPED]
