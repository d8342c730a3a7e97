"""Tools about refunds: whether one is possible, what became of earlier ones, and the one that pays money back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from hermes_bot.tools.arguments import Cents, OrderNumber
from hermes_bot.tools.goods import Wanted, wanted_of
from hermes_bot.tools.money import format_money
from hermes_bot.tools.order import Change, ChangeKind, Customer, Order, OrderStatus, Refund
from hermes_bot.tools.order_effects import Check
from hermes_bot.tools.outcome import Caller, Preview
from hermes_bot.tools.refund_policy import Eligibility
from hermes_bot.tools.registry import Level, ToolRefusal, tool
from hermes_bot.tools.shop import Shop, customer_of, own_order

Amount = Annotated[int | None, Cents(currency_field="currency"), Field(gt=0)]
Currency = Annotated[str, StringConstraints(strip_whitespace=True, to_upper=True, pattern=r"^([A-Za-z]{3})?$")]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]
Goods = Annotated[list[str], Field(max_length=20)]


@tool(level=Level.L0)
async def refund_eligibility(order_id: OrderNumber, *, caller: Caller, shop: Shop) -> dict[str, Any]:
    """Say whether one of the customer's own orders can be refunded under the shop's policy, how much, and why.

    `open_cents` is what is left of the total after earlier refunds, `window_until` the last day. It changes nothing.
    """
    customer = customer_of(caller)
    order = await shop.book.order(customer.id, order_id)
    if order is None:
        return {"allowed": False, "code": "not_found"}
    refunds = await shop.book.refunds(customer.id, order.id)
    eligibility = shop.policies.refund.decide(order, refunds, shop.asked_at(caller))
    return _fields_of(eligibility, order, caller.language)


@tool(level=Level.L0)
async def refund_status(order_id: OrderNumber, *, caller: Caller, shop: Shop) -> dict[str, Any]:
    """List the refunds of one of the customer's own orders, oldest first: amount, state and day of each.

    A state is pending, issued or failed. It does not say when the bank shows the money. `found` is false for an order
    that does not exist and for one of somebody else.
    """
    customer = customer_of(caller)
    order = await shop.book.order(customer.id, order_id)
    if order is None:
        return {"found": False}
    refunds = await shop.book.refunds(customer.id, order.id)
    return {
        "found": True,
        "order_id": order.id,
        "currency": order.currency,
        "total_cents": order.total_cents,
        "payout_days": shop.policies.refund.payout_days,
        "refunds": [_refund_fields(order, refund) for refund in refunds],
    }


@tool(level=Level.L0)
async def list_refunds(*, caller: Caller, shop: Shop) -> dict[str, Any]:
    """List the customer's latest refunds over all their orders, newest first: order, amount, state and day of each."""
    found = await shop.book.recent_refunds(customer_of(caller).id)
    return {
        "payout_days": shop.policies.refund.payout_days,
        "refunds": [_refund_fields(order, refund) for order, refund in found],
    }


async def describe_refund(
    order_id: str,
    amount_cents: int | None,
    currency: str,
    reason: str,
    items: list[str],
    *,
    caller: Caller,
    shop: Shop,
) -> Preview:
    """Return what the approval card says; refuse what the policy does not allow, so that nobody is asked in vain."""
    customer = customer_of(caller)
    order = await own_order(shop, caller, order_id)
    if currency and currency != order.currency:
        raise ToolRefusal("wrong_currency")
    goods = _goods_of(order, items)
    wanted = _priced(goods, amount_cents)
    refunds = await shop.book.refunds(customer.id, order.id)
    _refuse_paid_before(goods, order, refunds, await shop.book.changes(customer.id, order.id))
    eligibility = shop.policies.refund.decide(order, refunds, shop.asked_at(caller), wanted)
    if not eligibility.allowed:
        raise ToolRefusal(eligibility.code.value)
    amount = eligibility.amount_cents
    return Preview(
        title=f"Refund {format_money(amount, order.currency)} to {customer.name}",
        shown=(
            *_shown(customer, order, goods, eligibility),
            ("Reason", reason or "none given"),
        ),
        internal=_checks(shop, order, eligibility, refunds),
        arguments={
            "order_id": order.id,
            "amount_cents": amount,
            "currency": order.currency,
            "reason": reason,
            "items": [each.written for each in goods],
        },
    )


@tool(level=Level.L2, describe=describe_refund)
async def issue_refund(
    order_id: OrderNumber,
    amount_cents: Amount = None,
    currency: Currency = "",
    reason: Reason = "",
    items: Goods = [],  # noqa: B006 - pydantic copies it
    *,
    caller: Caller,
    shop: Shop,
    approval_id: str,
) -> dict[str, Any]:
    """Pay money of one of the customer's own orders back: an amount, the price of `items`, or all that is left of it.

    `items` are SKUs or names of the order's goods, with a number for some of several: "HD-210", "desk lamp x2".

    The policy is asked again in the transaction that writes the refund, with the order as it is by then.
    """
    customer = customer_of(caller)
    order = await own_order(shop, caller, order_id)
    if amount_cents is None or currency != order.currency:
        raise ToolRefusal("invalid_arguments")  # what was approved names both
    goods = _goods_of(order, items)
    _priced(goods, amount_cents)

    refund = await shop.book.issue_refund(
        *(customer.id, order.id, amount_cents, reason, approval_id, shop.clock()),
        check=_asks_again(shop, caller, goods, amount_cents),
        goods=", ".join(each.written for each in goods),
    )
    return {
        "refund_id": refund.id,
        "order_id": refund.order_id,
        "status": refund.status.value,
        "amount_cents": refund.amount_cents,
        "currency": order.currency,
        "amount": format_money(refund.amount_cents, order.currency, caller.language),
        "policy": shop.policies.version,
    }


def _asks_again(shop: Shop, caller: Caller, goods: Sequence[Wanted], amount_cents: int) -> Check:
    """Return what refuses a refund that is not allowed any more, with the order as it is by then."""

    def check(order: Order, earlier: Sequence[Refund], changes: Sequence[Change]) -> None:
        _refuse_paid_before(goods, order, earlier, changes)
        eligibility = shop.policies.refund.decide(order, earlier, shop.asked_at(caller), amount_cents)
        if not eligibility.allowed:
            raise ToolRefusal(eligibility.code.value)

    return check


def _refund_fields(order: Order, refund: Refund) -> dict[str, Any]:
    return {
        "order_id": order.id,
        "amount_cents": refund.amount_cents,
        "currency": order.currency,
        "status": refund.status.value,
        "created_at": refund.created_at.isoformat(),
    }


def _goods_of(order: Order, items: Sequence[str]) -> tuple[Wanted, ...]:
    """Return the goods that are meant; refuse with item_not_found what is none of the order's, or more than it has."""
    found = [wanted_of(each, order.items) for each in items]
    goods = {wanted.item.sku: wanted for wanted in found if wanted is not None}
    if len(goods) != len(items):
        raise ToolRefusal("item_not_found")
    return tuple(goods.values())


def _refuse_paid_before(
    goods: Sequence[Wanted], order: Order, refunds: Sequence[Refund], changes: Sequence[Change]
) -> None:
    """Refuse with item_already_refunded more pieces of a line than are left after earlier refunds, failed ones not."""
    counted = {refund.approval_id for refund in refunds if refund.counts}
    told = (each.after for each in changes if each.kind is ChangeKind.REFUNDED and each.change_key in counted)
    earlier = [wanted_of(each, order.items) for after in told for each in after.split(", ")]
    gone: Counter[str] = Counter()
    for each in earlier:
        if each is not None:
            gone[each.item.sku] += each.quantity
    if any(each.quantity + gone[each.item.sku] > each.item.quantity for each in goods):
        raise ToolRefusal("item_already_refunded")


def _priced(goods: Sequence[Wanted], amount_cents: int | None) -> int | None:
    """Return the amount that is wanted, by default the price of the goods; refuse more than that for them."""
    price = sum(each.cents for each in goods)
    if goods and amount_cents is not None and amount_cents > price:
        raise ToolRefusal("above_price")
    return price if goods and amount_cents is None else amount_cents


def _shown(
    customer: Customer, order: Order, goods: Sequence[Wanted], eligibility: Eligibility
) -> tuple[tuple[str, str], ...]:
    amount = format_money(eligibility.amount_cents, order.currency)
    total = format_money(order.total_cents, order.currency)
    items = ", ".join(f"{item.quantity} × {item.name}" for item in order.items)
    chosen = ", ".join(f"{each.quantity} × {each.item.name}" for each in goods)
    return (
        ("Customer", customer.name),
        ("Order", history_of(order)),
        ("Items", items or "none listed"),
        *((("For", chosen),) if chosen else ()),
        ("Amount", amount if amount == total else f"{amount} of {total}"),
    )


def history_of(order: Order) -> str:
    """Return an order's number, days and state in one line for an approval card."""
    arrived = [f"delivered {order.delivered_at:%Y-%m-%d}"] if order.delivered_at else []
    state = [] if arrived and order.status is OrderStatus.DELIVERED else [order.status.value]
    return ", ".join([order.id, f"placed {order.placed_at:%Y-%m-%d}", *arrived, *state])


def _checks(
    shop: Shop, order: Order, eligibility: Eligibility, refunds: Sequence[Refund]
) -> tuple[tuple[str, str], ...]:
    """Return what staff read beside the card: how the policy came to its yes, and what went before."""
    limit = format_money(eligibility.limit_cents, order.currency)
    check = f"allowed until {eligibility.window_until:%Y-%m-%d}, up to {limit} (policy {shop.policies.version})"
    paid = format_money(eligibility.refunded_cents, order.currency)
    history = f"{len(refunds)} refunds of this order, {paid} paid back" if refunds else "no refund of this order"
    return (("Policy check", check), ("History", history))


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
