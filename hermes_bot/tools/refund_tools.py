"""Tools about refunds: whether one is possible, and the privileged one that pays money back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from hermes_bot.tools.arguments import Cents, OrderNumber
from hermes_bot.tools.money import format_money
from hermes_bot.tools.order import Customer, Order, OrderStatus, Refund
from hermes_bot.tools.outcome import Caller, Preview
from hermes_bot.tools.refund_policy import Eligibility
from hermes_bot.tools.registry import Level, ToolRefusal, tool
from hermes_bot.tools.shop import Shop, customer_of

Amount = Annotated[int | None, Cents(currency_field="currency"), Field(gt=0)]
Currency = Annotated[str, StringConstraints(strip_whitespace=True, to_upper=True, pattern=r"^([A-Za-z]{3})?$")]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]


@tool(level=Level.L0)
async def refund_eligibility(order_id: OrderNumber, *, caller: Caller, shop: Shop) -> dict[str, Any]:
    """Say whether one of the customer's own orders can be refunded under the shop's policy, how much, and why."""
    customer = customer_of(caller)
    order = await shop.book.order(customer.id, order_id)
    if order is None:
        return {"allowed": False, "code": "not_found"}
    refunds = await shop.book.refunds(customer.id, order.id)
    eligibility = shop.refund_policy.decide(order, refunds, shop.asked_at(caller))
    return _fields_of(eligibility, order, caller.language)


async def describe_refund(
    order_id: str, amount_cents: int | None, currency: str, reason: str, *, caller: Caller, shop: Shop
) -> Preview:
    """Return what the approval card says; refuse what the policy does not allow, so that nobody is asked in vain."""
    customer = customer_of(caller)
    order = await shop.book.order(customer.id, order_id)
    if order is None:
        raise ToolRefusal("not_found")
    if currency and currency != order.currency:
        raise ToolRefusal("wrong_currency")
    eligibility = shop.refund_policy.decide(
        order, await shop.book.refunds(customer.id, order.id), shop.asked_at(caller), amount_cents
    )
    if not eligibility.allowed:
        raise ToolRefusal(eligibility.code.value)
    amount = eligibility.amount_cents
    return Preview(
        title=f"Refund {format_money(amount, order.currency)} to {customer.name}",
        shown=_shown(customer, order, eligibility, reason),
        arguments={"order_id": order.id, "amount_cents": amount, "currency": order.currency, "reason": reason},
    )


@tool(level=Level.L2, describe=describe_refund)
async def issue_refund(
    order_id: OrderNumber,
    amount_cents: Amount = None,
    currency: Currency = "",
    reason: Reason = "",
    *,
    caller: Caller,
    shop: Shop,
    approval_id: str,
) -> dict[str, Any]:
    """Pay money of one of the customer's own orders back; without an amount all that is left of it.

    The policy is asked again in the transaction that writes the refund, with the order as it is by then.
    """
    customer = customer_of(caller)
    order = await shop.book.order(customer.id, order_id)
    if order is None:
        raise ToolRefusal("not_found")
    if amount_cents is None or currency != order.currency:
        raise ToolRefusal("invalid_arguments")  # what was approved names both

    def check(current: Order, earlier: Sequence[Refund]) -> None:
        eligibility = shop.refund_policy.decide(current, earlier, shop.asked_at(caller), amount_cents)
        if not eligibility.allowed:
            raise ToolRefusal(eligibility.code.value)

    refund = await shop.book.issue_refund(
        customer.id, order.id, amount_cents, reason, approval_id, shop.clock(), check=check
    )
    return {
        "refund_id": refund.id,
        "order_id": refund.order_id,
        "status": refund.status.value,
        "amount_cents": refund.amount_cents,
        "currency": order.currency,
        "amount": format_money(refund.amount_cents, order.currency, caller.language),
    }


def _shown(customer: Customer, order: Order, eligibility: Eligibility, reason: str) -> tuple[tuple[str, str], ...]:
    amount = format_money(eligibility.amount_cents, order.currency)
    total = format_money(order.total_cents, order.currency)
    arrived = [f"delivered {order.delivered_at:%Y-%m-%d}"] if order.delivered_at else []
    state = [] if arrived and order.status is OrderStatus.DELIVERED else [order.status.value]
    history = [order.id, f"placed {order.placed_at:%Y-%m-%d}", *arrived, *state]
    items = ", ".join(f"{item.quantity} × {item.name}" for item in order.items)
    return (
        ("Customer", customer.name),
        ("Order", ", ".join(history)),
        ("Items", items or "none listed"),
        ("Amount", amount if amount == total else f"{amount} of {total}"),
        ("Reason", reason or "none given"),
    )


def _fields_of(eligibility: Eligibility, order: Order, language: str) -> dict[str, Any]:
    return {
        "allowed": eligibility.allowed,
        "code": eligibility.code.value,
        "order_id": order.id,
        "status": order.status.value,
        "amount_cents": eligibility.amount_cents,
        "amount": format_money(eligibility.amount_cents, order.currency, language),
        "currency": order.currency,
        "open_cents": eligibility.open_cents,
        "refunded_cents": eligibility.refunded_cents,
        "limit_cents": eligibility.limit_cents,
        "limit": format_money(eligibility.limit_cents, order.currency, language),
        "window_days": eligibility.window_days,
        "window_until": eligibility.window_until.isoformat(),
        "delivered_at": eligibility.delivered_at.isoformat() if eligibility.delivered_at else None,
    }
