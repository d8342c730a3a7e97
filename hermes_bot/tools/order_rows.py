"""Reads rows of the order book as values, inside somebody's transaction. Whose order it is, is decided here."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, RowMapping, Select, select

from hermes_bot.errors import PermanentError
from hermes_bot.tools.order import Item, Order, OrderStatus, Refund, RefundStatus
from hermes_bot.tools.order_number import same_number
from hermes_bot.tools.order_tables import order_items, orders, refunds


def own_orders(customer_id: str) -> Select[Any]:
    """Return the query for a customer's orders."""
    return select(orders).where(orders.c.customer_id == customer_id)


def own_order_id(connection: Connection, customer_id: str, written: str) -> str | None:
    """Return the id of the customer's order that `written` means; None where none or more than one fits."""
    own = list(connection.scalars(select(orders.c.id).where(orders.c.customer_id == customer_id)))
    if written in own:
        return written
    matching = [order_id for order_id in own if same_number(order_id, written)]
    return matching[0] if len(matching) == 1 else None


def own_order(connection: Connection, customer_id: str, order_id: str) -> Order | None:
    """Return the customer's order with this very id."""
    row = connection.execute(own_orders(customer_id).where(orders.c.id == order_id)).mappings().one_or_none()
    return None if row is None else order_of(row, items_of(connection, order_id))


def locked_order(connection: Connection, customer_id: str, order_id: str) -> Order:
    """Return the customer's order with its row locked (PostgreSQL; on SQLite the transaction itself is exclusive).

    Raise PermanentError where the customer has no such order.
    """
    found = own_order_id(connection, customer_id, order_id)
    query = own_orders(customer_id).where(orders.c.id == found).with_for_update()
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        raise PermanentError(f"customer {customer_id} has no order {order_id}")
    return order_of(row, items_of(connection, row["id"]))


def items_of(connection: Connection, order_id: str) -> tuple[Item, ...]:
    """Return the order's lines, by SKU."""
    columns = (order_items.c.sku, order_items.c.name, order_items.c.quantity, order_items.c.price_cents)
    query = select(*columns).where(order_items.c.order_id == order_id).order_by(order_items.c.sku)
    return tuple(Item(**row) for row in connection.execute(query).mappings())


def order_of(row: RowMapping, items: tuple[Item, ...]) -> Order:
    """Return the order in a row."""
    fields = dict(row) | {"status": OrderStatus(row["status"])}
    return Order(**fields, items=items)


def refund_of(row: RowMapping) -> Refund:
    """Return the refund in a row."""
    fields = dict(row) | {"status": RefundStatus(row["status"]), "approval_id": row["approval_id"] or ""}
    return Refund(**fields)


def refunds_of(connection: Connection, order_id: str) -> tuple[Refund, ...]:
    """Return the order's refunds, oldest first."""
    query = select(refunds).where(refunds.c.order_id == order_id).order_by(refunds.c.id)
    return tuple(refund_of(row) for row in connection.execute(query).mappings())


def refund_by_approval(connection: Connection, approval_id: str) -> Refund | None:
    """Return the refund that this approval has led to."""
    row = connection.execute(select(refunds).where(refunds.c.approval_id == approval_id)).mappings().one_or_none()
    return None if row is None else refund_of(row)
