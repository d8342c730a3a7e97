"""A demo shop for everyone who has no order book at hand: 300 customers and 600 orders, the same on every machine.

Order numbers have five digits, are unique in the whole shop and begin at 10001. The first twelve and the last fourteen
belong to Emma Fischer and 李娜 and stand for what can be told about an order and done with it; the others come
from a seeded generator. Times count back from `today`, so that a fresh shop has orders inside and outside of the refund
window.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlalchemy import Connection, insert, select, text

from hermes_bot.store.database import Database
from hermes_bot.tools import order_tables
from hermes_bot.tools.demo_words import CHINESE, ENGLISH, Words
from hermes_bot.tools.order import Change, ChangeKind, Customer, Item, Order, OrderStatus, Refund, RefundStatus

SEED = 20_100
CUSTOMERS = 300
ORDERS = 600
FIRST_NUMBER = 10_001
SHOP_LOCK = 72_616_774  # any number but the store's: one process fills the shop at a time

EMMA = Customer(id="C0001", email="emma.fischer@example.com", name="Emma Fischer", locale="en")
LI_NA = Customer(id="C0002", email="li.na@example.com", name="李娜", locale="zh")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoShop:
    """All rows of the demo shop. Refunds have ids from 1, in this order, and no approval: the shop made them itself."""

    customers: tuple[Customer, ...]
    orders: tuple[Order, ...]
    refunds: tuple[Refund, ...]
    returns: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Story:
    """What happened to an order: days ago it was placed and delivered, goods by SKU (twice for two pieces).

    A refund is of a share of the total, or of the goods in `refunded`; `returning`: days ago a return was opened.
    """

    status: OrderStatus
    placed: int
    goods: tuple[str, ...]
    delivered: int | None = None
    refund: RefundStatus | None = None
    refunded_share: float = 1.0
    refunded: tuple[str, ...] = ()
    returning: int | None = None


# Of Emma Fischer (10001 to 10006) and of 李娜 (10007 to 10012), in this order.
_TOLD = (
    _Story(status=OrderStatus.DELIVERED, placed=10, delivered=6, goods=("HD-210", "CH-064")),  # can be refunded
    _Story(status=OrderStatus.SHIPPED, placed=3, goods=("BP-300",)),  # on its way
    _Story(status=OrderStatus.DELIVERED, placed=124, delivered=120, goods=("KB-077", "MS-022")),  # long ago
    _Story(status=OrderStatus.CANCELLED, placed=20, goods=("RC-500",)),
    _Story(status=OrderStatus.DELIVERED, placed=18, delivered=13, goods=("TB-240",), refund=RefundStatus.ISSUED),
    _Story(status=OrderStatus.DELIVERED, placed=14, delivered=9, goods=("CM-900",)),  # above the limit for one refund
)
# The last of all, of the same two: Emma Fischer's are 10587 to 10593, 李娜's 10594 to 10600.
_SHOWN = (
    _Story(status=OrderStatus.PAID, placed=1, goods=("KT-100", "WB-033", "WB-033")),  # not shipped, several items
    _Story(status=OrderStatus.PACKED, placed=2, goods=("SP-110",)),  # can still be cancelled
    _Story(status=OrderStatus.PLACED, placed=0, goods=("YM-012",)),  # not paid yet
    _Story(
        status=OrderStatus.DELIVERED,
        placed=19,
        delivered=12,
        goods=("LM-045", "BL-150"),
        refund=RefundStatus.ISSUED,
        refunded=("LM-045",),
    ),  # a part went back
    _Story(status=OrderStatus.DELIVERED, placed=21, delivered=14, goods=("PN-018",), returning=3),  # on its way back
    _Story(status=OrderStatus.DELIVERED, placed=22, delivered=16, goods=("RC-500",)),  # this one and the next: the
    _Story(
        status=OrderStatus.DELIVERED, placed=22, delivered=16, goods=("RC-500",)
    ),  # same bought twice, charged twice
)
_WEIGHTS = {
    OrderStatus.PLACED: 6,
    OrderStatus.PAID: 8,
    OrderStatus.PACKED: 8,
    OrderStatus.SHIPPED: 16,
    OrderStatus.DELIVERED: 42,
    OrderStatus.RETURNED: 8,
    OrderStatus.LOST: 4,
    OrderStatus.CANCELLED: 8,
}
_AGES = ((0, 3), (3, 14), (14, 29), (30, 31), (32, 60), (61, 400))  # days since delivery: around the window of 30


def demo_customers() -> tuple[Customer, ...]:
    """Return the 300 customers, Emma Fischer and 李娜 first; half write English, half Chinese."""
    names: set[str] = {EMMA.email, LI_NA.email}
    drawn = random.Random(SEED)  # noqa: S311 - a demo that is the same everywhere, not a secret
    people = [EMMA, LI_NA]
    while len(people) < CUSTOMERS:
        words = ENGLISH if len(people) % 2 == 0 else CHINESE
        given, family = drawn.choice(words.given), drawn.choice(words.family)
        email = f"{given[1]}.{family[1]}@example.com"
        if email in names:
            continue
        names.add(email)
        name = f"{given[0]} {family[0]}" if words is ENGLISH else f"{family[0]}{given[0]}"
        people.append(Customer(id=f"C{len(people) + 1:04}", email=email, name=name, locale=words.locale))
    return tuple(people)


def demo_shop(today: date) -> DemoShop:
    """Return all rows of the shop as of `today`; equal for equal days."""
    people = demo_customers()
    owners: list[tuple[Customer, _Story]] = [(person, story) for person in people[:2] for story in _TOLD]
    drawn = random.Random(SEED + 1)  # noqa: S311 - as above
    while len(owners) < ORDERS:
        person = people[len(owners) % (CUSTOMERS - 2) + 2]
        owners.append((person, _draw_story(drawn, _words_of(person))))
    shown = [(person, story) for person in people[:2] for story in _SHOWN]
    owners[-len(shown) :] = shown
    orders = tuple(_order(FIRST_NUMBER + n, person, story, today, drawn) for n, (person, story) in enumerate(owners))
    stories = [story for _, story in owners]
    refunds, returns = tuple(_refunds(orders, stories)), tuple(_returns(orders, stories, today))
    return DemoShop(customers=people, orders=orders, refunds=refunds, returns=returns)


async def create_demo_shop(database: Database, today: date) -> bool:
    """Make the order book's tables and fill them; return whether that was needed. A shop with customers stays."""

    def work(connection: Connection) -> bool:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": SHOP_LOCK})
        order_tables.shop.create_all(connection)
        order_tables.extras.create_all(connection)
        if connection.execute(select(order_tables.customers.c.id).limit(1)).first() is not None:
            return False
        _fill(connection, demo_shop(today))
        return True

    return await database.run(work)


def _fill(connection: Connection, shop: DemoShop) -> None:
    orders = [_row(order, leave_out=("items",)) for order in shop.orders]
    items = [asdict(item) | {"order_id": order.id} for order in shop.orders for item in order.items]
    refunds = [_row(refund, leave_out=("id", "approval_id")) for refund in shop.refunds]
    connection.execute(insert(order_tables.customers), [asdict(customer) for customer in shop.customers])
    connection.execute(insert(order_tables.orders), orders)
    connection.execute(insert(order_tables.order_items), items)
    connection.execute(insert(order_tables.refunds), refunds)
    connection.execute(insert(order_tables.order_changes), [_row(change, leave_out=("id",)) for change in shop.returns])


def _row(value: Order | Refund | Change, *, leave_out: Sequence[str]) -> dict[str, Any]:
    return {name: field for name, field in asdict(value).items() if name not in leave_out}


def _words_of(customer: Customer) -> Words:
    return CHINESE if customer.locale == "zh" else ENGLISH


def _draw_story(drawn: random.Random, words: Words) -> _Story:
    status = drawn.choices(list(_WEIGHTS), weights=list(_WEIGHTS.values()))[0]
    goods = tuple(each.sku for each in drawn.sample(words.goods, drawn.randint(1, 3)))
    if status not in {OrderStatus.DELIVERED, OrderStatus.RETURNED}:
        return _Story(status=status, placed=drawn.randint(0, 40), goods=goods)
    delivered = drawn.randint(*drawn.choice(_AGES))
    refund = drawn.choices((None, *RefundStatus), weights=(14, 2, 5, 1))[0]
    share = drawn.choice((1.0, 0.5))
    placed = delivered + drawn.randint(2, 9)
    return _Story(status=status, placed=placed, delivered=delivered, goods=goods, refund=refund, refunded_share=share)


def _order(number: int, customer: Customer, story: _Story, today: date, drawn: random.Random) -> Order:
    words = _words_of(customer)
    told = customer in (EMMA, LI_NA)
    items = tuple(
        Item(
            sku=each.sku,
            name=each.name,
            quantity=story.goods.count(each.sku) if told else drawn.choice((1, 1, 1, 2)),
            price_cents=each.price_cents,
        )
        for each in words.goods
        if each.sku in story.goods
    )
    sent = story.status in {OrderStatus.SHIPPED, OrderStatus.DELIVERED, OrderStatus.RETURNED, OrderStatus.LOST}
    return Order(
        id=str(number),
        customer_id=customer.id,
        status=story.status,
        placed_at=_moment(today, story.placed, drawn),
        delivered_at=None if story.delivered is None else _moment(today, story.delivered, drawn),
        total_cents=sum(item.quantity * item.price_cents for item in items),
        currency=words.currencies[0] if told else drawn.choice(words.currencies),
        tracking=f"{'SF' if words is CHINESE else 'DX'}{drawn.randrange(10**11, 10**12)}" if sent else "",
        address=_address(words, drawn),
        items=items,
    )


def _moment(today: date, days_ago: int, drawn: random.Random) -> datetime:
    """Return a time on that day before noon, or the very start of `today`, which is never in the future."""
    midnight = datetime.combine(today - timedelta(days=days_ago), time(), tzinfo=UTC)
    return midnight + timedelta(minutes=drawn.randrange(720)) * (days_ago > 0)


def _address(words: Words, drawn: random.Random) -> str:
    city, street, house = drawn.choice(words.cities), drawn.choice(words.streets), drawn.randint(1, 199)
    return f"{city}{street}{house}号" if words is CHINESE else f"{house} {street}, {city}"


def _refunds(orders: Iterable[Order], stories: Iterable[_Story]) -> Iterable[Refund]:
    number = 0
    for order, story in zip(orders, stories, strict=True):
        if story.refund is None:
            continue
        number += 1
        yield Refund(
            id=number,
            order_id=order.id,
            amount_cents=_refunded_cents(order, story),
            reason="质量问题" if order.currency == "CNY" else "Arrived damaged",
            status=story.refund,
            approval_id="",
            created_at=(order.delivered_at or order.placed_at) + timedelta(hours=1),
        )


def _refunded_cents(order: Order, story: _Story) -> int:
    if not story.refunded:
        return round(order.total_cents * story.refunded_share)
    return sum(item.quantity * item.price_cents for item in order.items if item.sku in story.refunded)


def _returns(orders: Iterable[Order], stories: Iterable[_Story], today: date) -> Iterable[Change]:
    number = 0
    for order, story in zip(orders, stories, strict=True):
        if story.returning is None:
            continue
        number += 1
        opened = datetime.combine(today - timedelta(days=story.returning), time(9), tzinfo=UTC)
        yield Change(
            id=number,
            order_id=order.id,
            kind=ChangeKind.RETURN,
            before="",
            after=", ".join(f"{item.sku} x{item.quantity}" for item in order.items),
            change_key=f"demo:{order.id}",
            created_at=opened,
        )
