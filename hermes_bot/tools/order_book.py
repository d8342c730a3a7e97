"""The shop's order book: customers, their orders, and refunds, each of which happens once.

Whose order it is, is decided here: an order of somebody else looks exactly like one that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, func, insert, select
from sqlalchemy.exc import IntegrityError

from hermes_bot.errors import PermanentError
from hermes_bot.store.database import Database
from hermes_bot.tools.order import Customer, Item, Order, OrderStatus, Refund, RefundStatus
from hermes_bot.tools.order_number import same_number
from hermes_bot.tools.order_tables import customers, order_items, orders, refunds

Check = Callable[[Order, Sequence[Refund]], None]


class OrderBook:
    """Reads customers and orders, and writes refunds."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def customer_by_email(self, email: str) -> Customer | None:
        """Return the one customer with this address, upper and lower case alike; None for none, or for several."""
        wanted = email.strip()
        if not wanted:
            return None
        query = select(customers).where(func.lower(customers.c.email) == func.lower(wanted)).limit(2)
        rows = await self._database.run(lambda connection: connection.execute(query).mappings().all())
        return Customer(**rows[0]) if len(rows) == 1 else None

    async def order(self, customer_id: str, order_id: str) -> Order | None:
        """Return the customer's own order, or None. `order_id` may be written as people write it (see same_number)."""

        def work(connection: Connection) -> Order | None:
            found = _own_order_id(connection, customer_id, order_id)
            return None if found is None else _order(connection, customer_id, found)

        return await self._database.run(work)

    async def recent_orders(self, customer_id: str, limit: int = 5) -> tuple[Order, ...]:
        """Return the customer's newest orders, newest first, at most `limit`."""
        query = _own_orders(customer_id).order_by(orders.c.placed_at.desc(), orders.c.id.desc()).limit(limit)

        def work(connection: Connection) -> tuple[Order, ...]:
            rows = connection.execute(query).mappings().all()
            return tuple(_order_of(row, _items(connection, row["id"])) for row in rows)

        return await self._database.run(work)

    async def refunds(self, customer_id: str, order_id: str) -> tuple[Refund, ...]:
        """Return the refunds of the customer's own order, oldest first, failed ones included; empty for any other."""

        def work(connection: Connection) -> tuple[Refund, ...]:
            found = _own_order_id(connection, customer_id, order_id)
            return () if found is None else _refunds(connection, found)

        return await self._database.run(work)

    async def issue_refund(
        self,
        customer_id: str,
        order_id: str,
        amount_cents: int,
        reason: str,
        approval_id: str,
        at: datetime,
        *,
        check: Check | None = None,
    ) -> Refund:
        """Return the one refund of this approval: a repeat returns the stored row and writes nothing.

        Two refunds of one order wait for each other. In that same transaction the order must be the customer's own,
        all its refunds together must stay within its total, and `check`, when given, may raise to stop it.
        Raise PermanentError where one of these does not hold.
        """

        def work(connection: Connection) -> Refund:
            order = _lock_order(connection, customer_id, order_id)
            known = _refund_of(connection, approval_id)
            if known is not None:
                return _same_refund(known, order, amount_cents)
            earlier = _refunds(connection, order.id)
            if check is not None:
                check(order, earlier)
            _refuse_too_much(order, earlier, amount_cents)
            return _add_refund(connection, order.id, amount_cents, reason, approval_id, at)

        if not approval_id:
            raise PermanentError("a refund needs the id of its approval")
        try:
            return await self._database.run(work)
        except IntegrityError as error:  # the approval was used for another order in the same instant
            raise PermanentError(f"approval {approval_id} belongs to another refund") from error


def _own_orders(customer_id: str) -> Select[Any]:
    return select(orders).where(orders.c.customer_id == customer_id)


def _own_order_id(connection: Connection, customer_id: str, written: str) -> str | None:
    """Return the id of the customer's order that `written` means; None where none or more than one fits."""
    own = list(connection.scalars(select(orders.c.id).where(orders.c.customer_id == customer_id)))
    if written in own:
        return written
    matching = [order_id for order_id in own if same_number(order_id, written)]
    return matching[0] if len(matching) == 1 else None


def _order(connection: Connection, customer_id: str, order_id: str) -> Order | None:
    row = connection.execute(_own_orders(customer_id).where(orders.c.id == order_id)).mappings().one_or_none()
    return None if row is None else _order_of(row, _items(connection, order_id))


def _items(connection: Connection, order_id: str) -> tuple[Item, ...]:
    columns = (order_items.c.sku, order_items.c.name, order_items.c.quantity, order_items.c.price_cents)
    query = select(*columns).where(order_items.c.order_id == order_id).order_by(order_items.c.sku)
    return tuple(Item(**row) for row in connection.execute(query).mappings())


def _order_of(row: RowMapping, items: tuple[Item, ...]) -> Order:
    fields = dict(row) | {"status": OrderStatus(row["status"])}
    return Order(**fields, items=items)


def _refund_row(row: RowMapping) -> Refund:
    fields = dict(row) | {"status": RefundStatus(row["status"]), "approval_id": row["approval_id"] or ""}
    return Refund(**fields)


def _refunds(connection: Connection, order_id: str) -> tuple[Refund, ...]:
    query = select(refunds).where(refunds.c.order_id == order_id).order_by(refunds.c.id)
    return tuple(_refund_row(row) for row in connection.execute(query).mappings())


def _refund_of(connection: Connection, approval_id: str) -> Refund | None:
    row = connection.execute(select(refunds).where(refunds.c.approval_id == approval_id)).mappings().one_or_none()
    return None if row is None else _refund_row(row)


def _lock_order(connection: Connection, customer_id: str, order_id: str) -> Order:
    """Return the customer's order with its row locked (PostgreSQL; on SQLite the transaction itself is exclusive)."""
    found = _own_order_id(connection, customer_id, order_id)
    query = _own_orders(customer_id).where(orders.c.id == found).with_for_update()
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        raise PermanentError(f"customer {customer_id} has no order {order_id}")
    return _order_of(row, _items(connection, row["id"]))


def _same_refund(known: Refund, order: Order, amount_cents: int) -> Refund:
    if known.order_id != order.id or known.amount_cents != amount_cents:
        raise PermanentError(f"approval {known.approval_id} belongs to another refund")
    return known


def _refuse_too_much(order: Order, earlier: Sequence[Refund], amount_cents: int) -> None:
    gone = sum(refund.amount_cents for refund in earlier if refund.counts)
    if amount_cents <= 0 or gone + amount_cents > order.total_cents:
        raise PermanentError(
            f"order {order.id}: {amount_cents} cents cannot be refunded, {gone} of {order.total_cents} are gone already"
        )


def _add_refund(
    connection: Connection, order_id: str, amount_cents: int, reason: str, approval_id: str, at: datetime
) -> Refund:
    row = {
        "order_id": order_id,
        "amount_cents": amount_cents,
        "reason": reason,
        "status": RefundStatus.ISSUED,
        "approval_id": approval_id,
        "created_at": at,
    }
    added = connection.execute(insert(refunds).values(row).returning(refunds)).mappings().one()
    return _refund_row(added)
