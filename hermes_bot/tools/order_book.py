"""The shop's order book: customers, their orders, refunds and changes, each of which happens once.

Whose order it is, is decided here: an order of somebody else looks exactly like one that does not exist.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import IntegrityError

from hermes_bot.errors import PermanentError
from hermes_bot.store.database import Database
from hermes_bot.tools.order import Cancelled, Change, ChangeKind, Customer, Order, Refund
from hermes_bot.tools.order_effects import Amount, Check, May, cancel, change, changes_of, issue
from hermes_bot.tools.order_rows import items_of, order_of, own_order, own_order_id, own_orders, refund_of, refunds_of
from hermes_bot.tools.order_tables import customers, orders, refunds


class OrderBook:
    """Reads customers and orders, and writes refunds, cancellations and changes."""

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
            found = own_order_id(connection, customer_id, order_id)
            return None if found is None else own_order(connection, customer_id, found)

        return await self._database.run(work)

    async def recent_orders(self, customer_id: str, limit: int = 5) -> tuple[Order, ...]:
        """Return the customer's newest orders, newest first, at most `limit`."""
        query = own_orders(customer_id).order_by(orders.c.placed_at.desc(), orders.c.id.desc()).limit(limit)

        def work(connection: Connection) -> tuple[Order, ...]:
            rows = connection.execute(query).mappings().all()
            return tuple(order_of(row, items_of(connection, row["id"])) for row in rows)

        return await self._database.run(work)

    async def refunds(self, customer_id: str, order_id: str) -> tuple[Refund, ...]:
        """Return the refunds of the customer's own order, oldest first, failed ones included; empty for any other."""

        def work(connection: Connection) -> tuple[Refund, ...]:
            found = own_order_id(connection, customer_id, order_id)
            return () if found is None else refunds_of(connection, found)

        return await self._database.run(work)

    async def recent_refunds(self, customer_id: str, limit: int = 5) -> tuple[tuple[Order, Refund], ...]:
        """Return the customer's newest refunds over all orders, newest first, each with its order."""
        own = select(orders.c.id).where(orders.c.customer_id == customer_id)
        query = select(refunds).where(refunds.c.order_id.in_(own)).order_by(refunds.c.created_at.desc()).limit(limit)

        def work(connection: Connection) -> tuple[tuple[Order, Refund], ...]:
            found = [refund_of(row) for row in connection.execute(query).mappings()]
            read = [(own_order(connection, customer_id, refund.order_id), refund) for refund in found]
            return tuple((order, refund) for order, refund in read if order is not None)

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
        goods: str = "",
    ) -> Refund:
        """Return the one refund of this approval: a repeat returns the stored row and writes nothing.

        Two refunds of one order wait for each other. In that same transaction the order must be the customer's own,
        all its refunds together must stay within its total, and `check`, when given, may raise to stop it. `goods` is
        what of the order is paid for with it ("HD-210 x1").
        Raise PermanentError where one of these does not hold.
        """

        if not approval_id:
            raise PermanentError("a refund needs the id of its approval")
        try:
            return await self._database.run(
                lambda connection: issue(
                    connection, customer_id, order_id, amount_cents, reason, approval_id, at, check, goods
                )
            )
        except IntegrityError as error:  # the approval was used for another order in the same instant
            raise PermanentError(f"approval {approval_id} belongs to another refund") from error

    async def cancel(
        self, customer_id: str, order_id: str, reason: str, approval_id: str, at: datetime, *, amount_of: Amount
    ) -> Cancelled:
        """Return the cancelled order with the refund of what was paid: both in one transaction, once per approval.

        `amount_of` says what goes back, with the order as it is by then, and may raise to stop it. An order of which
        nothing was paid gets no refund. Raise PermanentError where the customer has no such order.
        """
        if not approval_id:
            raise PermanentError("a cancellation needs the id of its approval")
        try:
            return await self._database.run(
                lambda connection: cancel(connection, customer_id, order_id, reason, approval_id, at, amount_of)
            )
        except IntegrityError as error:
            raise PermanentError(f"approval {approval_id} belongs to another refund") from error

    async def change_address(
        self, customer_id: str, order_id: str, address: str, key: str, at: datetime, *, may: May
    ) -> Change:
        """Return the one change of the delivery address for this key; the old address is kept beside it."""
        return await self._change(customer_id, order_id, ChangeKind.ADDRESS, address, key, at, may)

    async def open_return(
        self, customer_id: str, order_id: str, goods: str, key: str, at: datetime, *, may: May
    ) -> Change:
        """Return the one return for this key: which goods of the order come back."""
        return await self._change(customer_id, order_id, ChangeKind.RETURN, goods, key, at, may)

    async def changes(self, customer_id: str, order_id: str) -> tuple[Change, ...]:
        """Return the changes of the customer's own order, oldest first; empty for any other."""

        def work(connection: Connection) -> tuple[Change, ...]:
            found = own_order_id(connection, customer_id, order_id)
            return () if found is None else changes_of(connection, found)

        return await self._database.run(work)

    async def _change(
        self, customer_id: str, order_id: str, kind: ChangeKind, after: str, key: str, at: datetime, may: May
    ) -> Change:
        if not key:
            raise PermanentError("a change needs a key")
        try:
            return await self._database.run(
                lambda connection: change(connection, customer_id, order_id, kind, after, key, at, may)
            )
        except IntegrityError as error:
            raise PermanentError(f"the key {key} belongs to another change") from error
