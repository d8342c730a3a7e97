"""What changes the order book, inside somebody's transaction. Each change happens once for its key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import Connection, insert, inspect, select, update

from hermes_bot.errors import PermanentError
from hermes_bot.tools.order import Cancelled, Change, ChangeKind, Order, OrderStatus, Refund, RefundStatus
from hermes_bot.tools.order_rows import locked_order, refund_by_approval, refund_of, refunds_of
from hermes_bot.tools.order_tables import order_changes, orders, refunds

Check = Callable[[Order, Sequence[Refund], Sequence[Change]], None]
Amount = Callable[[Order, Sequence[Refund]], int]
May = Callable[[Order], None]


class NotKept(PermanentError):
    """The order book has no table for changes."""

    def __init__(self) -> None:
        super().__init__("this order book has no table order_changes")


def issue(
    connection: Connection,
    customer_id: str,
    order_id: str,
    amount_cents: int,
    reason: str,
    approval_id: str,
    at: datetime,
    check: Check | None,
    goods: str,
) -> Refund:
    """Return the one refund of this approval, written if it is new. The goods stand with it where there is a place."""
    order = locked_order(connection, customer_id, order_id)
    known = refund_by_approval(connection, approval_id)
    if known is not None:
        return _same_refund(known, order, amount_cents)
    earlier = refunds_of(connection, order.id)
    if check is not None:
        check(order, earlier, changes_of(connection, order.id))
    _refuse_too_much(order, earlier, amount_cents)
    if goods and keeps_changes(connection):
        _add_change(connection, order, ChangeKind.REFUNDED, goods, approval_id, at)
    return _add_refund(connection, order.id, amount_cents, reason, approval_id, at)


def cancel(
    connection: Connection,
    customer_id: str,
    order_id: str,
    reason: str,
    approval_id: str,
    at: datetime,
    amount_of: Amount,
) -> Cancelled:
    """Return the cancelled order with its refund: both are written together, or neither is.

    `amount_of` says what goes back, with the order as it is now, and may raise to stop it. Where nothing does, the
    approval is kept among the order's changes, if it has a place for them.
    """
    order = locked_order(connection, customer_id, order_id)
    known = refund_by_approval(connection, approval_id)
    if known is not None:
        return Cancelled(order_id=order.id, currency=order.currency, refund=_same_refund(known, order, None))
    kept = keeps_changes(connection)
    if kept and _change_of(connection, approval_id) is not None:
        return Cancelled(order_id=order.id, currency=order.currency)
    earlier = refunds_of(connection, order.id)
    amount_cents = amount_of(order, earlier)
    statement = update(orders).where(orders.c.id == order.id).values(status=OrderStatus.CANCELLED.value)
    connection.execute(statement)
    if not amount_cents:
        if kept:
            _add_change(connection, order, ChangeKind.CANCELLED, "", approval_id, at)
        return Cancelled(order_id=order.id, currency=order.currency)
    _refuse_too_much(order, earlier, amount_cents)
    refund = _add_refund(connection, order.id, amount_cents, reason, approval_id, at)
    return Cancelled(order_id=order.id, currency=order.currency, refund=refund)


def change(
    connection: Connection,
    customer_id: str,
    order_id: str,
    kind: ChangeKind,
    after: str,
    key: str,
    at: datetime,
    may: May,
) -> Change:
    """Return the one change of this key, written if it is new. What was there before is kept beside it.

    `may` is asked with the order as it is now, and may raise to stop it.
    """
    if not keeps_changes(connection):
        raise NotKept
    order = locked_order(connection, customer_id, order_id)
    found = _change_of(connection, key)
    if found is not None:
        if (found.order_id, found.kind, found.after) != (order.id, kind, after):
            raise PermanentError(f"the key {key} belongs to another change")
        return found
    may(order)
    added = _add_change(connection, order, kind, after, key, at)
    if kind is ChangeKind.ADDRESS:
        connection.execute(update(orders).where(orders.c.id == order.id).values(address=after))
    return added


def _change_of(connection: Connection, key: str) -> Change | None:
    query = select(order_changes).where(order_changes.c.change_key == key)
    row = connection.execute(query).mappings().one_or_none()
    return None if row is None else Change.of(row)


def _add_change(connection: Connection, order: Order, kind: ChangeKind, after: str, key: str, at: datetime) -> Change:
    row = {
        "order_id": order.id,
        "kind": kind.value,
        "before": {ChangeKind.ADDRESS: order.address, ChangeKind.CANCELLED: order.status.value}.get(kind, ""),
        "after": after,
        "change_key": key,
        "created_at": at,
    }
    return Change.of(connection.execute(insert(order_changes).values(row).returning(order_changes)).mappings().one())


def changes_of(connection: Connection, order_id: str) -> tuple[Change, ...]:
    """Return the order's changes, oldest first; none where the order book keeps none."""
    if not keeps_changes(connection):
        return ()
    query = select(order_changes).where(order_changes.c.order_id == order_id).order_by(order_changes.c.id)
    return tuple(Change.of(row) for row in connection.execute(query).mappings())


def keeps_changes(connection: Connection) -> bool:
    """Return whether the order book has a place for changes."""
    return inspect(connection).has_table(order_changes.name)


def _same_refund(known: Refund, order: Order, amount_cents: int | None) -> Refund:
    if known.order_id != order.id or amount_cents not in (None, known.amount_cents):
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
    return refund_of(added)
