"""The shop's refund policy, decided without looking anything up. `policies.py` reads it from its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from hermes_bot.tools.order import Order, OrderStatus, Refund, RefundStatus

NOT_YET_DELIVERED = frozenset({OrderStatus.PLACED, OrderStatus.PAID, OrderStatus.PACKED, OrderStatus.SHIPPED})


class RefundCode(StrEnum):
    """Why a refund is possible or not."""

    ELIGIBLE = "eligible"
    ALREADY_REFUNDED = "already_refunded"
    REFUND_PENDING = "refund_pending"
    CANCELLED = "cancelled"
    NOT_DELIVERED = "not_delivered"
    STATE_NOT_COVERED = "state_not_covered"
    WINDOW_CLOSED = "window_closed"
    CURRENCY_NOT_COVERED = "currency_not_covered"
    ABOVE_TOTAL = "above_total"
    ABOVE_LIMIT = "above_limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligibility:
    """The decision with its facts. `amount_cents` is what would go back: 0 unless `allowed`.

    `open_cents` is what is left of the total, `limit_cents` the most that one refund may be in this currency.
    The window runs from `window_from` to `window_until`, both included.
    """

    allowed: bool
    code: RefundCode
    amount_cents: int
    open_cents: int
    refunded_cents: int
    currency: str
    limit_cents: int
    window_days: int
    window_from: datetime
    window_until: datetime
    delivered_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundPolicy:
    """When money may go back. `max_cents` is the most that one refund may be, by currency.

    `payout_days`: within how many days it usually shows on the customer's account; None where nothing is said of it.
    """

    window_days: int
    states: frozenset[OrderStatus]
    max_cents: Mapping[str, int]
    payout_days: int | None = None

    def decide(
        self, order: Order, refunds: Sequence[Refund], now: datetime, amount_cents: int | None = None
    ) -> Eligibility:
        """Return whether `amount_cents` (by default all that is left) of the order may go back now, and why.

        `refunds` are all of this order so far. The window counts from delivery, or where there is none from the day
        on which the order was placed.
        """
        refunded = sum(refund.amount_cents for refund in refunds if refund.counts)
        left = max(0, order.total_cents - refunded)
        wanted = left if amount_cents is None else amount_cents
        window_from = order.delivered_at or order.placed_at
        code = self._code(order, refunds, now, left=left, wanted=wanted)
        allowed = code is RefundCode.ELIGIBLE
        return Eligibility(
            allowed=allowed,
            code=code,
            amount_cents=wanted if allowed else 0,
            open_cents=left,
            refunded_cents=refunded,
            currency=order.currency,
            limit_cents=self.max_cents.get(order.currency, 0),
            window_days=self.window_days,
            window_from=window_from,
            window_until=window_from + timedelta(days=self.window_days),
            delivered_at=order.delivered_at,
        )

    def _code(self, order: Order, refunds: Sequence[Refund], now: datetime, *, left: int, wanted: int) -> RefundCode:
        """Return the first reason against it, the most telling first."""
        window_from = order.delivered_at or order.placed_at
        in_future = order.status is OrderStatus.DELIVERED and window_from > now
        reasons = (
            (any(refund.status is RefundStatus.PENDING for refund in refunds), RefundCode.REFUND_PENDING),
            (left == 0, RefundCode.ALREADY_REFUNDED),
            (self._uncovered(order, OrderStatus.CANCELLED), RefundCode.CANCELLED),
            (self._uncovered(order, *NOT_YET_DELIVERED) or in_future, RefundCode.NOT_DELIVERED),
            (order.status not in self.states, RefundCode.STATE_NOT_COVERED),
            (now - window_from > timedelta(days=self.window_days), RefundCode.WINDOW_CLOSED),
            (order.currency not in self.max_cents, RefundCode.CURRENCY_NOT_COVERED),
            (not 0 < wanted <= left, RefundCode.ABOVE_TOTAL),
            (wanted > self.max_cents.get(order.currency, 0), RefundCode.ABOVE_LIMIT),
        )
        return next((code for against, code in reasons if against), RefundCode.ELIGIBLE)

    def _uncovered(self, order: Order, *states: OrderStatus) -> bool:
        return order.status in states and order.status not in self.states
