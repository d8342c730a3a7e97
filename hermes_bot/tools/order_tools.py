"""Tools that read the caller's own orders."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from hermes_bot.tools.arguments import OrderNumber
from hermes_bot.tools.order import Order
from hermes_bot.tools.order_policy import ChangeCode
from hermes_bot.tools.outcome import Caller
from hermes_bot.tools.registry import Level, ToolRefusal, tool
from hermes_bot.tools.shop import Shop, customer_of, own_order


@tool(level=Level.L0)
async def find_order(order_id: OrderNumber, *, caller: Caller, shop: Shop) -> dict[str, Any]:
    """Look up one of the customer's own orders by its number: state, dates, items, total, tracking, address.

    `found` is false for an order that does not exist and for one of somebody else.
    """
    order = await shop.book.order(customer_of(caller).id, order_id)
    return {"found": False} if order is None else {"found": True, "order": fields_of_order(order)}


@tool(level=Level.L0)
async def list_orders(limit: Annotated[int, Field(ge=1, le=20)] = 5, *, caller: Caller, shop: Shop) -> dict[str, Any]:
    """List the customer's own latest orders, newest first."""
    orders = await shop.book.recent_orders(customer_of(caller).id, limit)
    return {"orders": [fields_of_order(order) for order in orders]}


@tool(level=Level.L0)
async def order_invoice(order_id: OrderNumber, *, caller: Caller, shop: Shop) -> dict[str, Any]:
    """Return the invoice of one of the customer's own orders: who bought what, at which price, and what went back.

    It is for the customer's eyes alone.
    """
    customer = customer_of(caller)
    order = await own_order(shop, caller, order_id)
    code = shop.policies.invoice.decide(order)
    if code is not ChangeCode.ALLOWED:
        raise ToolRefusal(code.value)
    refunds = await shop.book.refunds(customer.id, order.id)
    return {
        "customer": customer.name,
        "order": fields_of_order(order),
        "refunded_cents": sum(refund.amount_cents for refund in refunds if refund.counts),
    }


def fields_of_order(order: Order) -> dict[str, Any]:
    """Return the order as a JSON object; times in ISO 8601."""
    return {
        "id": order.id,
        "status": order.status.value,
        "placed_at": order.placed_at.isoformat(),
        "delivered_at": order.delivered_at.isoformat() if order.delivered_at else None,
        "total_cents": order.total_cents,
        "currency": order.currency,
        "tracking": order.tracking,
        "address": order.address,
        "items": [
            {"sku": item.sku, "name": item.name, "quantity": item.quantity, "price_cents": item.price_cents}
            for item in order.items
        ],
    }
