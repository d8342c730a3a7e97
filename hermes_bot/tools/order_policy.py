"""What the shop allows to be done with an order besides refunds: cancel, another address, a return, an invoice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from hermes_bot.tools.order import Order, OrderStatus, Refund, RefundStatus

UNPAID = frozenset({OrderStatus.PLACED})


class ChangeCode(StrEnum):
    """Why an order can be changed in some way or not."""

    ALLOWED = "allowed"
    ALREADY_CANCELLED = "already_cancelled"
    STATE_NOT_COVERED = "state_not_covered"
    REFUND_PENDING = "refund_pending"
    ABOVE_LIMIT = "above_limit"
    WINDOW_CLOSED = "window_closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelPolicy:
    """Until when an order can be cancelled. `max_cents` limits what goes back, by currency; none listed: no limit."""

    states: frozenset[OrderStatus]
    max_cents: Mapping[str, int] = field(default_factory=dict)

    def decide(self, order: Order, refunds: Sequence[Refund]) -> tuple[ChangeCode, int]:
        """Return whether the order can be cancelled, and how many cents then go back."""
        if order.status is OrderStatus.CANCELLED:
            return ChangeCode.ALREADY_CANCELLED, 0
        if order.status not in self.states:
            return ChangeCode.STATE_NOT_COVERED, 0
        if any(refund.status is RefundStatus.PENDING for refund in refunds):
            return ChangeCode.REFUND_PENDING, 0
        gone = sum(refund.amount_cents for refund in refunds if refund.counts)
        back = 0 if order.status in UNPAID else max(0, order.total_cents - gone)
        if back > self.max_cents.get(order.currency, back):
            return ChangeCode.ABOVE_LIMIT, 0
        return ChangeCode.ALLOWED, back


@dataclass(frozen=True, slots=True, kw_only=True)
class StatesPolicy:
    """In which states of an order something is possible."""

    states: frozenset[OrderStatus]

    def decide(self, order: Order) -> ChangeCode:
        """Return whether it is possible for this order."""
        if order.status is OrderStatus.CANCELLED and OrderStatus.CANCELLED not in self.states:
            return ChangeCode.ALREADY_CANCELLED
        return ChangeCode.ALLOWED if order.status in self.states else ChangeCode.STATE_NOT_COVERED


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnPolicy:
    """When goods may be sent back, and within how many days from then on they must be on their way."""

    states: frozenset[OrderStatus]
    window_days: int
    send_back_days: int

    def decide(self, order: Order, now: datetime) -> ChangeCode:
        """Return whether goods of this order may be sent back now."""
        if order.status is OrderStatus.CANCELLED:
            return ChangeCode.ALREADY_CANCELLED
        if order.status not in self.states:
            return ChangeCode.STATE_NOT_COVERED
        return ChangeCode.WINDOW_CLOSED if now > self.until(order) else ChangeCode.ALLOWED

    def until(self, order: Order) -> datetime:
        """Return the last moment at which a return of this order can be opened."""
        return (order.delivered_at or order.placed_at) + timedelta(days=self.window_days)

    def send_back_by(self, opened_at: datetime) -> datetime:
        """Return until when the parcel must be on its way."""
        return opened_at + timedelta(days=self.send_back_days)
