from collections import Counter
from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, insert, select

from hermes_bot.store.database import Database
from hermes_bot.tools import order_tables
from hermes_bot.tools.demo_shop import EMMA, LI_NA, create_demo_shop, demo_customers, demo_shop
from hermes_bot.tools.order import OrderStatus, RefundStatus
from hermes_bot.tools.order_book import OrderBook
from hermes_bot.tools.order_number import order_numbers_in
from hermes_bot.tools.refund_policy import RefundCode, RefundPolicy
from tests.tools.conftest import NOON, TODAY

POLICY = RefundPolicy(
    window_days=30,
    states=frozenset({OrderStatus.DELIVERED, OrderStatus.RETURNED, OrderStatus.LOST}),
    max_cents={"EUR": 50_000, "USD": 50_000, "CNY": 400_000},
)
SHOP = demo_shop(TODAY)


def test_there_are_300_customers_in_two_languages_the_demo_customers_first() -> None:
    people = demo_customers()

    assert people[:2] == (EMMA, LI_NA)
    assert len({person.id for person in people}) == len({person.email for person in people}) == 300
    assert Counter(person.locale for person in people) == {"en": 150, "zh": 150}
    assert all(person.email.endswith("@example.com") for person in people)


def test_there_are_600_orders_with_numbers_that_are_found_in_text() -> None:
    numbers = [order.id for order in SHOP.orders]

    assert len(set(numbers)) == 600
    assert all(order_numbers_in(f"Where is {number}?") == (number,) for number in numbers)


def test_every_state_is_there_and_every_customer_has_an_order() -> None:
    assert {order.status for order in SHOP.orders} == set(OrderStatus) - {OrderStatus.UNKNOWN}
    assert {order.customer_id for order in SHOP.orders} == {person.id for person in SHOP.customers}
    assert {refund.status for refund in SHOP.refunds} == set(RefundStatus)


def test_the_policy_is_met_from_all_sides() -> None:
    codes = Counter(
        POLICY.decide(order, [each for each in SHOP.refunds if each.order_id == order.id], NOON).code
        for order in SHOP.orders
    )

    covered = set(RefundCode) - {RefundCode.STATE_NOT_COVERED, RefundCode.CURRENCY_NOT_COVERED, RefundCode.ABOVE_TOTAL}
    assert set(codes) == covered
    assert codes[RefundCode.ELIGIBLE] > 50


@settings(max_examples=5)
@given(today=st.dates(date(2020, 1, 1), date(2040, 1, 1)))
def test_on_any_day_the_shop_is_consistent(today: date) -> None:
    shop = demo_shop(today)

    midnight = datetime.combine(today, time(), tzinfo=UTC)
    languages = {person.id: person.locale for person in shop.customers}
    totals = {order.id: order.total_cents for order in shop.orders}
    assert shop == demo_shop(today)
    assert all(refund.amount_cents <= totals[refund.order_id] for refund in shop.refunds)
    for order in shop.orders:
        assert order.placed_at <= midnight
        assert order.delivered_at is None or order.placed_at < order.delivered_at <= midnight
        assert (order.currency == "CNY") is (languages[order.customer_id] == "zh")
        assert order.total_cents == sum(item.quantity * item.price_cents for item in order.items) > 0
        assert bool(order.tracking) is (order.status.value in {"shipped", "delivered", "returned", "lost"})


async def test_a_shop_is_made_once_and_an_existing_one_stays(database: Database, book: OrderBook) -> None:
    before = await book.recent_orders(EMMA.id)

    made_again = await create_demo_shop(database, TODAY + timedelta(days=100))

    assert made_again is False
    assert await book.recent_orders(EMMA.id) == before


async def test_a_shop_of_ones_own_gets_no_demo_customers(url: str) -> None:
    own = Database(url)
    await own.open()
    row = {"id": "1", "email": "own@example.com", "name": "Own", "locale": "en"}
    await own.run(order_tables.shop.create_all)
    await own.run(lambda connection: connection.execute(insert(order_tables.customers).values(row)).close())

    made = await create_demo_shop(own, TODAY)

    query = select(func.count()).select_from(order_tables.customers)
    people = await own.run(lambda connection: connection.scalar(query))
    await own.close()
    assert (made, people) == (False, 1)


@pytest.mark.parametrize("number", [0, 11, 12, 300, 599])
async def test_the_order_book_holds_what_was_generated(book: OrderBook, number: int) -> None:
    order = SHOP.orders[number]

    found = await book.order(order.customer_id, order.id)

    assert found is not None
    assert (found.status, found.placed_at, found.delivered_at) == (order.status, order.placed_at, order.delivered_at)
    assert set(found.items) == set(order.items)
