"""Tools that change an order: cancel it, send it to another address, open a return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from hermes_bot.tools.arguments import OrderNumber
from hermes_bot.tools.goods import wanted_of
from hermes_bot.tools.money import format_money
from hermes_bot.tools.order import Change, ChangeKind, Order, Refund
from hermes_bot.tools.order_effects import NotKept
from hermes_bot.tools.order_policy import ChangeCode
from hermes_bot.tools.outcome import Caller, Preview
from hermes_bot.tools.refund_tools import Reason, history_of
from hermes_bot.tools.registry import Level, ToolRefusal, tool
from hermes_bot.tools.shop import Shop, customer_of, own_order

Address = Annotated[str, StringConstraints(strip_whitespace=True, min_length=6, max_length=300)]
Returned = Annotated[list[str], Field(max_length=20)]


@tool(level=Level.L0)
async def order_options(order_id: OrderNumber, *, caller: Caller, shop: Shop) -> dict[str, Any]:
    """Say what the shop's policy allows with one of the customer's own orders: cancel, new address, return, invoice.

    Each is `allowed` or a code that says why not; `cancel_cents` is what would go back, `changes` what was changed so
    far. It changes nothing. `found` is false for an order that does not exist and for one of somebody else.
    """
    customer = customer_of(caller)
    order = await shop.book.order(customer.id, order_id)
    if order is None:
        return {"found": False}
    policies = shop.policies
    cancel, cents = policies.cancel.decide(order, await shop.book.refunds(customer.id, order.id))
    changes = await shop.book.changes(customer.id, order.id)
    return {
        "found": True,
        "order_id": order.id,
        "status": order.status.value,
        "currency": order.currency,
        "cancel": cancel.value,
        "cancel_cents": cents,
        "address": policies.address.decide(order).value,
        "return": policies.returns.decide(order, shop.asked_at(caller)).value,
        "return_until": policies.returns.until(order).isoformat(),
        "return_days": policies.returns.window_days,
        "invoice": policies.invoice.decide(order).value,
        "open_returns": [_return_fields(shop, change, order) for change in changes if change.kind is ChangeKind.RETURN],
    }


async def describe_cancellation(order_id: str, reason: str, *, caller: Caller, shop: Shop) -> Preview:
    """Return what the approval card says; refuse what the policy does not allow."""
    customer = customer_of(caller)
    order = await own_order(shop, caller, order_id)
    code, cents = shop.policies.cancel.decide(order, await shop.book.refunds(customer.id, order.id))
    if code is not ChangeCode.ALLOWED:
        raise ToolRefusal(code.value)
    items = ", ".join(f"{item.quantity} × {item.name}" for item in order.items)
    return Preview(
        title=f"Cancel order {order.id} of {customer.name}",
        shown=(
            ("Customer", customer.name),
            ("Order", history_of(order)),
            ("Items", items or "none listed"),
            ("Goes back", format_money(cents, order.currency) if cents else "nothing: it was not paid"),
            ("Reason", reason or "none given"),
        ),
        internal=(
            ("Policy check", f"an order that is {order.status} may be cancelled (policy {shop.policies.version})"),
        ),
        arguments={"order_id": order.id, "reason": reason},
    )


@tool(level=Level.L2, describe=describe_cancellation)
async def cancel_order(
    order_id: OrderNumber, reason: Reason = "", *, caller: Caller, shop: Shop, approval_id: str
) -> dict[str, Any]:
    """Cancel one of the customer's own orders that has not been shipped, and pay back what was paid.

    It cannot be undone. The policy is asked again in the transaction that writes both, with the order as it is by then.
    """
    customer = customer_of(caller)
    order = await own_order(shop, caller, order_id)

    def amount_of(current: Order, earlier: Sequence[Refund]) -> int:
        code, cents = shop.policies.cancel.decide(current, earlier)
        if code is not ChangeCode.ALLOWED:
            raise ToolRefusal(code.value)
        return cents

    done = await shop.book.cancel(customer.id, order.id, reason, approval_id, shop.clock(), amount_of=amount_of)
    cents = done.refund.amount_cents if done.refund else 0
    return {
        "order_id": done.order_id,
        "status": "cancelled",
        "amount_cents": cents,
        "currency": done.currency,
        "amount": format_money(cents, done.currency, caller.language),
        "policy": shop.policies.version,
    }


@tool(level=Level.L1)
async def change_address(
    order_id: OrderNumber, address: Address, *, caller: Caller, shop: Shop, key: str
) -> dict[str, Any]:
    """Send one of the customer's own orders to another address, as long as it has not been shipped.

    `address` is the whole new address as the customer wrote it. The old one is kept, so that it can be undone.
    """
    order = await own_order(shop, caller, order_id)

    def may(current: Order) -> None:
        _refuse_unless_allowed(shop.policies.address.decide(current))

    try:
        change = await shop.book.change_address(
            customer_of(caller).id, order.id, " ".join(address.split()), key, shop.clock(), may=may
        )
    except NotKept as error:
        raise ToolRefusal("not_supported") from error
    return {"order_id": change.order_id, "address": change.after, "before": change.before}


@tool(level=Level.L1)
async def open_return(
    order_id: OrderNumber,
    items: Returned = [],  # noqa: B006 - pydantic copies it
    *,
    caller: Caller,
    shop: Shop,
    key: str,
) -> dict[str, Any]:
    """Open a return for goods of one of the customer's own orders: `items` by SKU or name, all of them without any.

    It moves no money: that goes back once the goods are here. It returns until when they must be sent.
    """
    order = await own_order(shop, caller, order_id)
    chosen = [wanted_of(each, order.items) for each in items]
    goods = [each.written for each in chosen if each is not None]
    if len(set(goods)) != len(items):
        raise ToolRefusal("item_not_found")
    asked_at = shop.asked_at(caller)

    def may(current: Order) -> None:
        _refuse_unless_allowed(shop.policies.returns.decide(current, asked_at))

    every = [f"{item.sku} x{item.quantity}" for item in order.items]
    try:
        change = await shop.book.open_return(
            customer_of(caller).id, order.id, ", ".join(goods or every), key, shop.clock(), may=may
        )
    except NotKept as error:
        raise ToolRefusal("not_supported") from error
    return _return_fields(shop, change, order)


def _return_fields(shop: Shop, change: Change, order: Order) -> dict[str, Any]:
    """Return an open return as a JSON object, its goods as the order has them."""
    wanted = [wanted_of(each, order.items) for each in change.after.split(", ") if each]
    return {
        "order_id": change.order_id,
        "opened_at": change.created_at.isoformat(),
        "send_back_by": shop.policies.returns.send_back_by(change.created_at).isoformat(),
        "items": [{"sku": each.item.sku, "name": each.item.name, "quantity": each.quantity} for each in wanted if each],
    }


def _refuse_unless_allowed(code: ChangeCode) -> None:
    if code is not ChangeCode.ALLOWED:
        raise ToolRefusal(code.value)
