"""The tool that tells the shop's rules, for questions that are about no order."""

from __future__ import annotations

from typing import Any

from hermes_bot.tools.order import OrderStatus
from hermes_bot.tools.registry import Level, tool
from hermes_bot.tools.shop import Shop


@tool(level=Level.L0)
async def shop_policy(*, shop: Shop) -> dict[str, Any]:
    """Tell the shop's rules: days and states for refunds and returns, states for cancelling, address and invoice.

    It needs no customer and no order. It does not say whether a certain order qualifies.
    """
    policies = shop.policies
    return {
        "version": policies.version,
        "refund": {
            "window_days": policies.refund.window_days,
            "states": _words(policies.refund.states),
            "max_cents": dict(policies.refund.max_cents),
            "payout_days": policies.refund.payout_days,
        },
        "returns": {
            "window_days": policies.returns.window_days,
            "send_back_days": policies.returns.send_back_days,
            "states": _words(policies.returns.states),
        },
        "cancel": {"states": _words(policies.cancel.states)},
        "address": {"states": _words(policies.address.states)},
        "invoice": {"states": _words(policies.invoice.states)},
        "to_people": sorted(policies.to_people),
    }


def _words(states: frozenset[OrderStatus]) -> list[str]:
    """Return the states in the order in which an order goes through them."""
    return [state.value for state in OrderStatus if state in states]
