"""What the shop's tools work with, and the checks that they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from hermes_bot.tools.order import Customer, Order
from hermes_bot.tools.order_book import OrderBook
from hermes_bot.tools.outcome import Caller
from hermes_bot.tools.policies import Policies
from hermes_bot.tools.registry import ToolRefusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """The service named `shop`: the order book, what the shop allows, and the time (aware, UTC)."""

    book: OrderBook
    policies: Policies
    clock: Callable[[], datetime]

    def asked_at(self, caller: Caller) -> datetime:
        """Return when the caller asked; now, where nobody says."""
        return caller.asked_at or self.clock()


def customer_of(caller: Caller) -> Customer:
    """Return the caller's customer; refuse with unknown_customer where there is none."""
    if caller.customer is None:
        raise ToolRefusal("unknown_customer")
    return caller.customer


async def own_order(shop: Shop, caller: Caller, order_id: str) -> Order:
    """Return the caller's own order; refuse with not_found for any other."""
    order = await shop.book.order(customer_of(caller).id, order_id)
    if order is None:
        raise ToolRefusal("not_found")
    return order
